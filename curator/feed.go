// This file writes the latest captures as an Atom feed (RFC 4287), for people who read feeds and no dashboard.

package curator

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/changes"
	"github.com/arcrawl/arcrawl/internal/human"
)

// document is a feed.
type document struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string   `xml:"title"`
	ID      string   `xml:"id"`
	Updated string   `xml:"updated"`
	Author  string   `xml:"author>name"`
	Links   []link   `xml:"link"`
	Entries []entry  `xml:"entry"`
}

type link struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type entry struct {
	Title   string `xml:"title"`
	ID      string `xml:"id"`
	Updated string `xml:"updated"`
	Link    link   `xml:"link"`
	Summary string `xml:"summary"`

	Content *content `xml:"content,omitempty"`
}

// content is the text of an entry.
type content struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// feed serves the feed with the latest captures of the whole crawl. It has the parameters of /api/v1/new.
func (c *curation) feed(to http.ResponseWriter, r *http.Request) {
	list, err := c.latest(r)
	if err == nil {
		err = writeFeed(to, r, dashboardAt(c.o.Config().Config.Admin.URL, r), list.Captures, c.o.Now())
	}
	if err != nil {
		c.window.Refuse(to, r, err)
	}
}

// latest returns what is new in the whole crawl, as a request selects it.
func (c *curation) latest(r *http.Request) (list api.New, err error) {
	if ask := admin.WholeOf(r.Context()); ask != nil {
		err = ask(r, "/new", &list)
		return list, err
	}
	found, err := c.window.ServeRoute(c.newRoutes()[0], r)
	list, _ = found.(api.New)
	return list, err
}

// dashboardAt returns the address of the dashboard: the configured one, or else the one of a request. It ends with a
// slash.
func dashboardAt(configured string, r *http.Request) string {
	switch {
	case configured != "":
		return strings.TrimSuffix(configured, "/") + "/"
	case r.TLS != nil:
		return "https://" + r.Host + "/"
	}
	return "http://" + r.Host + "/"
}

// writeFeed answers a request with the captures as a feed. base is the address of the dashboard; it ends with a slash.
func writeFeed(to http.ResponseWriter, r *http.Request, base string, list []api.Capture, now time.Time) error {
	self := base + strings.TrimPrefix(r.URL.RequestURI(), "/")
	d := document{
		Title: "New captures", ID: self, Updated: now.UTC().Format(time.RFC3339), Author: "arcrawl",
		Links: []link{{"self", self}, {"alternate", base}},
	}
	for _, name := range []string{"label", "collection", "owner", "host", "kind", "change", "removed", "q"} {
		if value := r.FormValue(name); value != "" {
			d.Title += fmt.Sprintf(", %s %s", name, value)
		}
	}
	if len(list) > 0 {
		d.Updated = list[0].At.UTC().Format(time.RFC3339)
	}
	for _, c := range list {
		if c.Kind == "checked" && r.FormValue("kind") == "" {
			continue // it is nothing new
		}
		page := base + c.Path()
		e := entry{Title: c.Title, ID: page, Updated: c.At.UTC().Format(time.RFC3339), Link: link{"", page}}
		if e.Title == "" {
			e.Title = c.URI
		}
		e.Summary = fmt.Sprintf("%s: changed, version %d of %s", c.Host, c.Versions, c.URI)
		if c.Kind == "first" {
			e.Summary = fmt.Sprintf("%s: first capture of %s", c.Host, c.URI)
		}
		if c.Change != nil {
			e.Summary = fmt.Sprintf("%s: %s, version %d of %s", c.Host, inWords(c.Change), c.Versions, c.URI)
			e.Content = differenceOf(c.Change)
		}
		d.Entries = append(d.Entries, e)
	}
	text, err := xml.MarshalIndent(d, "", " ")
	if err != nil {
		return fmt.Errorf("write the feed: %w", err)
	}
	to.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	_, _ = to.Write(append([]byte(xml.Header), text...)) // an error means that the reader has gone
	return nil
}

// differenceOf returns what changed as HTML: the headlines, the first sentence with its words marked, and links.
func differenceOf(c *api.Change) *content {
	var b strings.Builder
	mark := func(element, text string) {
		if text != "" {
			fmt.Fprintf(&b, "<%s>%s</%[1]s>", element, html.EscapeString(text))
		}
	}
	mark("p", inWords(c))
	if len(c.Headlines) == 2 {
		b.WriteString("<p>")
		mark("del", c.Headlines[0])
		b.WriteString("<br>")
		mark("ins", c.Headlines[1])
		b.WriteString("</p>")
	}
	b.WriteString("<p>")
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
	b.WriteString("</p><ul>")
	list := func(element string, links []api.ChangeLink) {
		for _, l := range links {
			b.WriteString("<li>")
			mark(element, cmp.Or(l.Text, l.URI))
			b.WriteString("</li>")
		}
	}
	list("ins", c.Came)
	list("del", c.Went)
	b.WriteString("</ul>")
	return &content{Type: "html", Text: b.String()}
}

// inWords says what changed: "headline, text (−3 +12 words), links (−2 +3)".
func inWords(c *api.Change) string {
	var parts []string
	for _, kind := range c.Kinds {
		part := kind
		switch changes.Kind(kind) {
		case changes.Withdrawn:
			if c.Earlier > 0 {
				part += " after " + human.Count(c.Earlier, "version")
			}
		case changes.Moved:
			part += " to " + c.To
		case changes.Wall:
			part += " (" + c.Wall + ")"
		case changes.Text:
			part += fmt.Sprintf(" (−%d +%d words)", c.Words.Removed, c.Words.Added)
		case changes.Entries:
			part += fmt.Sprintf(" (−%d +%d)", c.Links.Removed, c.Links.Added)
		case changes.Images:
			part += fmt.Sprintf(" (−%d +%d)", c.Pictures.Removed, c.Pictures.Added)
		}
		parts = append(parts, part)
	}
	return cmp.Or(strings.Join(parts, ", "), c.Problem)
}
