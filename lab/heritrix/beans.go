package heritrix

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth bounds the nesting of elements. Beans are nested less deeply.
const maxDepth = 64

// element is an XML element of a job.
type element struct {
	name  string
	attrs map[string]string
	place
	text     string
	children []*element
}

// place is where something is written.
type place struct {
	file string // "" = the job itself
	line int
}

// parse reads a job, or a file that it imports, and returns its outermost element.
func parse(job []byte, file string) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(job))
	d.Entity = xml.HTMLEntity
	top := &element{}
	open := []*element{top}
	for {
		line, _ := d.InputPos() // where the token begins
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		in := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) > maxDepth {
				return nil, fmt.Errorf("line %d: elements are nested more than %d deep", line, maxDepth)
			}
			e := &element{name: t.Name.Local, place: place{file, line}, attrs: make(map[string]string)}
			for _, a := range t.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			in.children = append(in.children, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			in.text += string(t)
		case xml.Comment: // counts for the lines of a text
			in.text += strings.Repeat("\n", bytes.Count(t, []byte("\n")))
		}
	}
	if len(top.children) == 0 || top.children[0].name != "beans" {
		return nil, errors.New("no <beans> element found; want the crawler-beans.cxml of a Heritrix 3 job")
	}
	return top.children[0], nil
}

// all calls each for an element and everything in it.
func (e *element) all(each func(*element)) {
	each(e)
	for _, c := range e.children {
		c.all(each)
	}
}

// class returns the class of a bean without its package.
func (e *element) class() string {
	class := e.attrs["class"]
	return class[strings.LastIndexByte(class, '.')+1:]
}

// property returns a property that the bean sets, nil if it does not.
func (e *element) property(name string) *element {
	for _, c := range e.children {
		if c.name == "property" && c.attrs["name"] == name {
			return c
		}
	}
	return nil
}

// value returns the value of an element: its value attribute, its <value>, or its own text.
func (e *element) value() string {
	if v, ok := e.attrs["value"]; ok {
		return strings.TrimSpace(v)
	}
	for _, c := range e.children {
		if c.name == "value" {
			return strings.TrimSpace(c.text)
		}
	}
	return strings.TrimSpace(e.text)
}

// values returns the texts of the list in an element, with their places.
func (e *element) values() []setting {
	var out []setting
	e.all(func(c *element) {
		if c.name == "value" {
			out = append(out, setting{value: strings.TrimSpace(c.text), place: c.place})
		}
	})
	return out
}

// isPlain reports whether a property has a single value, not a list, a bean or a reference.
func (e *element) isPlain() bool {
	if _, ok := e.attrs["value"]; ok {
		return true
	}
	return len(e.children) == 1 && e.children[0].name == "value"
}

// target returns the name of the bean that a property or list entry refers to, empty if it contains it.
func (e *element) target() string {
	if name := e.attrs["ref"]; name != "" {
		return name
	}
	if e.name == "ref" {
		return cmp.Or(e.attrs["bean"], e.attrs["local"])
	}
	if len(e.children) == 1 && e.children[0].name == "ref" {
		return e.children[0].target()
	}
	return ""
}

// setting is a value and its position.
type setting struct {
	path  string // bean and property, "disposition.delayFactor"
	value string
	place
}

// overrides returns the properties of a PropertyOverrideConfigurer: lines of text, or <prop> elements. A line
// that is no property has no path.
func overrides(bean *element) []setting {
	var set []setting
	bean.all(func(e *element) {
		switch e.name {
		case "prop":
			set = append(set, setting{strings.TrimSpace(e.attrs["key"]), e.text, e.place})
		case "value":
			at := e.place
			for text := range strings.SplitSeq(e.text, "\n") {
				text = strings.TrimSpace(text)
				name, value, ok := strings.Cut(text, "=")
				switch {
				case text == "" || text[0] == '#' || text[0] == '!':
				case ok && strings.TrimSpace(name) != "":
					set = append(set, setting{strings.TrimSpace(name), strings.TrimSpace(value), at})
				default:
					set = append(set, setting{"", text, at})
				}
				at.line++
			}
		}
	})
	return set
}

// sheets returns the settings of the job's sheets, by name.
func sheets(beans *element) map[string][]setting {
	all := make(map[string][]setting)
	for _, bean := range beans.children {
		if bean.class() != "Sheet" {
			continue
		}
		name := bean.attrs["id"]
		all[name] = nil
		bean.all(func(e *element) {
			if e.name == "entry" {
				all[name] = append(all[name], setting{e.attrs["key"], e.value(), e.place})
			}
		})
	}
	return all
}
