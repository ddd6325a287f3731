// This file holds the steps of [[render.do]] and their presets.

package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Step is something that a browser does on a page before the page is taken as it is. One of Scroll, Wait and Store is
// set, or else Click or Texts.
type Step struct {
	Name   string            // as in "click button.more"
	Click  []string          // CSS selectors of what to click, the preferred one first
	Texts  []string          // in small letters: a button that begins with one of them is clicked too
	Scroll bool              // to the end of the page
	Wait   string            // CSS selector of what must be there
	Store  map[string]string // values for the local storage of the page
	Times  int               // maximum number of clicks or screens
	Limit  time.Duration
}

// The bounds of steps.
const (
	maxSteps     = 20
	maxTimes     = 1000
	maxSelector  = 1000     // bytes
	maxStored    = 32       // values of a step
	maxStoredKey = 256      // bytes
	maxStoredLen = 64 << 10 // bytes of a value
	maxScreens   = 40
	stepLimit    = time.Minute
)

// stepActions are the columns of which a step has one.
var stepActions = []string{"click", "scroll", "wait", "store", "preset"}

var stepColumns = []schema.Column{
	{Name: "click", Type: schema.Type{Kind: schema.Text}, Optional: true},
	{Name: "scroll", Type: schema.Type{Kind: schema.Boolean}, Optional: true},
	{Name: "wait", Type: schema.Type{Kind: schema.Text}, Optional: true},
	{Name: "store", Type: schema.Type{Kind: schema.Map}, Optional: true},
	{Name: "preset", Type: schema.Type{Kind: schema.Text, Choices: presetNames()}, Optional: true},
	{Name: "times", Type: schema.Type{Kind: schema.Whole, Min: 1, Max: maxTimes}, Optional: true},
	{Name: "limit", Type: schema.DurationType(time.Second, time.Hour), Optional: true},
}

// readSteps reads the list of steps.
func readSteps(f schema.Field) (all []Step) {
	const example = `write for example [{ click = "button.more", times = 20 }]`
	tables, ok := f.Tables(example)
	if !ok {
		return nil
	}
	if len(tables) > maxSteps {
		f.HiddenFault("has "+human.Count(len(tables), "step"), "maximum: "+strconv.Itoa(maxSteps))
		return nil
	}
	for _, table := range tables {
		fields, ok := schema.ReadColumns(table, stepColumns, example)
		if !ok {
			continue
		}
		if s, ok := readStep(table, fields); ok {
			all = append(all, s)
		}
	}
	return all
}

// ReadSteps reads steps that are written as in a file without brackets: `click = "button.more", times = 20`. A single
// word is the name of a preset.
func ReadSteps(texts []string) (steps []Step, err error) {
	for _, text := range texts {
		inner := text
		if !strings.Contains(text, "=") {
			inner = "preset = " + Quote(strings.TrimSpace(text))
		}
		doc := schema.Parse([]byte("do = [{ "+inner+" }]"), "--do "+Quote(text))
		f := schema.Field{Doc: doc, Name: "render.do", Path: schema.Path("").Child("do"), Value: doc.Root["do"]}
		if list, _ := doc.Root["do"].([]any); len(doc.Root) > 1 || len(list) > 1 {
			f.HiddenFault("is more than one step", `write for example 'click = "button.more", times = 20'`)
		} else if len(doc.Faults) == 0 {
			steps = append(steps, readSteps(f)...)
		}
		for _, fault := range doc.Faults {
			fault.Line = 0 // of a file that does not exist
			err = errors.Join(err, errors.New(fault.String()))
		}
	}
	if len(texts) > maxSteps {
		err = errors.Join(err, fmt.Errorf("--do: there are %d steps; maximum: %d", len(texts), maxSteps))
	}
	return steps, err
}

// readStep reads a step.
func readStep(table schema.Field, fields map[string]schema.Field) (s Step, ok bool) {
	var actions []string
	for _, name := range stepActions {
		if _, set := fields[name]; set {
			actions = append(actions, name)
		}
	}
	switch len(actions) {
	case 0:
		table.Fault("does nothing", "write one of "+strings.Join(stepActions, ", "))
		return s, false
	case 1:
	default:
		table.Fault("has more than one action: "+strings.Join(actions, " and "),
			"make each a step of its own, in their order")
		return s, false
	}
	s.Limit = stepLimit
	if s, ok = readAction(actions[0], fields[actions[0]], s); !ok {
		return s, false
	}
	if f, set := fields["times"]; set {
		if actions[0] == "wait" || actions[0] == "store" {
			f.Fault("has no meaning for "+actions[0], "remove it; it is for click, scroll and preset")
			return s, false
		}
		n, ok := stepColumns[5].Type.ReadWhole(f)
		if !ok {
			return s, false
		}
		s.Times = int(n)
	}
	if f, set := fields["limit"]; set {
		s.Limit, ok = stepColumns[6].Type.ReadDuration(f)
	}
	return s, ok
}

// readAction reads what a step does.
func readAction(name string, f schema.Field, s Step) (Step, bool) {
	switch name {
	case "scroll":
		v, ok := schema.ReadBoolean(f)
		if ok && !v {
			f.Fault("does nothing", "write true, or remove the step")
		}
		s.Name, s.Scroll, s.Times = name, true, maxScreens
		return s, ok && v
	case "store":
		values, ok := readStored(f)
		s.Name, s.Store = name+" "+strings.Join(slices.Sorted(maps.Keys(values)), ", "), values
		return s, ok
	case "preset":
		i, _, ok := stepColumns[4].Type.ReadChoice(f)
		if !ok {
			return s, false
		}
		p := presets[i]
		s.Name, s.Click, s.Texts, s.Times = name+" "+p.name, p.click, p.texts, max(p.times, 1)
		return s, true
	}
	text, ok := readSelector(f)
	if s.Name = name + " " + text; name == "wait" {
		s.Wait = text
	} else {
		s.Click, s.Times = []string{text}, 1
	}
	return s, ok
}

// readSelector reads a CSS selector. Only a browser knows all that it accepts; here it must be whole.
func readSelector(f schema.Field) (string, bool) {
	const example = `"button.more"`
	s, ok := f.Text("a CSS selector, as in " + example)
	if !ok {
		return "", false
	}
	problem, remedy := "", "write a CSS selector, as in "+example
	switch {
	case strings.TrimSpace(s) == "":
		problem = "is empty"
	case len(s) > maxSelector:
		f.HiddenFault("is longer than "+strconv.Itoa(maxSelector)+" bytes", "write a shorter selector")
		return "", false
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		problem = "contains a control character"
	case strings.HasPrefix(s, "//") || strings.Contains(s, "<"):
		problem = "is not a CSS selector"
	default:
		problem = openIn(s)
	}
	if problem != "" {
		f.Fault(problem, remedy)
	}
	return s, problem == ""
}

// openIn returns what is wrong with the brackets and quotes of a selector; "" if nothing is.
func openIn(s string) string {
	closing := map[rune]rune{'(': ')', '[': ']'}
	var open []rune
	var quote rune
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case closing[r] != 0:
			open = append(open, closing[r])
		case r == ')' || r == ']':
			if len(open) == 0 || open[len(open)-1] != r {
				return "has a " + string(r) + " that closes nothing"
			}
			open = open[:len(open)-1]
		}
	}
	switch {
	case quote != 0:
		return "lacks a closing quote"
	case len(open) > 0:
		return "lacks a closing " + string(open[len(open)-1])
	}
	return ""
}

// readStored reads the values that a step stores.
func readStored(f schema.Field) (map[string]string, bool) {
	const example = `write for example { consent = "yes" }`
	table, ok := f.Value.(map[string]any)
	switch {
	case !ok:
		f.WrongType("a table", example)
		return nil, false
	case len(table) == 0:
		f.Fault("is empty", example)
		return nil, false
	case len(table) > maxStored:
		f.HiddenFault("has "+human.Count(len(table), "value"), "maximum: "+strconv.Itoa(maxStored))
		return nil, false
	}
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		v := f.Child(name, table[name])
		text, isText := v.Text(`"yes"`)
		if isText && (len(name) > maxStoredKey || len(text) > maxStoredLen) {
			v.HiddenFault("is too long", fmt.Sprintf("maximum: %d bytes for the name and %s for the value", maxStoredKey,
				human.Size(maxStoredLen)))
			isText = false
		}
		ok = ok && isText
		values[name] = text
	}
	return values, ok
}
