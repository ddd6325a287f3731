// This file writes the latest captures as an Atom feed (RFC 4287), for people who read feeds and no dashboard.

package curator

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
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
			e.Summary = fmt.Sprintf("%s: %s, version %d of %s", c.Host, c.Change.InWords(), c.Versions, c.URI)
			e.Content = &content{Type: "html", Text: c.Change.HTML()}
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
