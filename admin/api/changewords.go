package api

import (
	"cmp"
	"fmt"
	"html"
	"strings"

	"github.com/arcrawl/arcrawl/internal/human"
)

// InWords says what changed: "headline, text (−3 +12 words), links (−2 +3)".
func (c *Change) InWords() string {
	var parts []string
	for _, kind := range c.Kinds {
		part := kind
		switch kind {
		case "withdrawn":
			if c.Earlier > 0 {
				part += " after " + human.Count(c.Earlier, "version")
			}
		case "moved":
			part += " to " + c.To
		case "wall":
			part += " (" + c.Wall + ")"
		case "text":
			part += fmt.Sprintf(" (−%d +%d words)", c.Words.Removed, c.Words.Added)
		case "links":
			part += fmt.Sprintf(" (−%d +%d)", c.Links.Removed, c.Links.Added)
		case "pictures":
			part += fmt.Sprintf(" (−%d +%d)", c.Pictures.Removed, c.Pictures.Added)
		}
		parts = append(parts, part)
	}
	return cmp.Or(strings.Join(parts, ", "), c.Problem)
}

// Lines returns what changed as lines of text: the headlines, the first sentence with its words marked, and links.
func (c *Change) Lines() (lines []string) {
	line := func(begin string, texts ...string) {
		for i, text := range texts {
			texts[i] = strings.Join(strings.Fields(text), " ")
		}
		lines = append(lines, begin+strings.Join(texts, "  "))
	}
	if len(c.Headlines) == 2 {
		line("− ", c.Headlines[0])
		line("+ ", c.Headlines[1])
	}
	var sentence strings.Builder
	for _, p := range c.First {
		switch {
		case p.Removed:
			sentence.WriteString("[−" + p.Text + "−]")
		case p.Added:
			sentence.WriteString("{+" + p.Text + "+}")
		default:
			sentence.WriteString(p.Text)
		}
	}
	if sentence.Len() > 0 {
		line("", sentence.String())
	}
	for _, l := range c.Came {
		line("+ ", l.Text, l.URI)
	}
	for _, l := range c.Went {
		line("− ", l.Text, l.URI)
	}
	return lines
}

// HTML returns what changed as a part of an HTML page. Each paragraph has the direction of its own text.
func (c *Change) HTML() string {
	var b strings.Builder
	mark := func(element, text string) {
		if text != "" {
			fmt.Fprintf(&b, "<%s>%s</%[1]s>", element, html.EscapeString(text))
		}
	}
	mark("p", c.InWords())
	for i, headline := range c.Headlines {
		b.WriteString(`<p dir="auto">`)
		mark([]string{"del", "ins"}[min(i, 1)], headline)
		b.WriteString("</p>")
	}
	if len(c.First) > 0 {
		b.WriteString(`<p dir="auto">`)
		for _, p := range c.First {
			switch {
			case p.Removed:
				mark("del", p.Text)
			case p.Added:
				mark("ins", p.Text)
			default:
				b.WriteString(html.EscapeString(p.Text))
			}
		}
		b.WriteString("</p>")
	}
	if len(c.Came)+len(c.Went) == 0 {
		return b.String()
	}
	b.WriteString("<ul>")
	list := func(element string, links []ChangeLink) {
		for _, l := range links {
			b.WriteString(`<li dir="auto">`)
			mark(element, cmp.Or(l.Text, l.URI))
			b.WriteString("</li>")
		}
	}
	list("ins", c.Came)
	list("del", c.Went)
	b.WriteString("</ul>")
	return b.String()
}
