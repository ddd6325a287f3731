package feeds

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/arcrawl/arcrawl/uri"
)

const (
	// maxDepth is how deep elements may lie in each other. Real sitemaps have four levels, feeds seldom twenty.
	maxDepth = 64
	// maxLine is the longest line of a plain sitemap.
	maxLine = uri.MaxLength + 2
)

// lines reads a sitemap in plain text: one web address in each line.
func (g *gatherer) lines(text io.Reader) error {
	s := bufio.NewScanner(text)
	s.Buffer(make([]byte, 0, maxLine), maxLine)
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" {
			g.add(Item{}, line)
		}
	}
	return s.Err()
}

// entry is what stands between <url> and </url>.
type entry struct {
	item   Item
	link   string
	title  string
	embeds []string
}

// sitemap reads an XML sitemap or an index. It goes by the local names of elements and of what they stand in, since the
// prefixes of the extensions are anybody's choice.
func (g *gatherer) sitemap(text io.Reader) error {
	d := xml.NewDecoder(text)
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	var path []string
	var said strings.Builder
	var e entry
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			if len(path) > 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(path) == maxDepth {
				return errors.New("its elements lie too deep in each other")
			}
			path = append(path, strings.ToLower(t.Name.Local))
			said.Reset()
			g.alternate(path, t)
		case xml.CharData:
			if said.Len()+len(t) <= uri.MaxLength {
				said.Write(t)
			}
		case xml.EndElement:
			path = g.closed(path, strings.ToLower(t.Name.Local), said.String(), &e)
			said.Reset()
		}
	}
}

// closed takes what the element that ends has said, and gives the path without it. An end that nothing began is ignored.
func (g *gatherer) closed(path []string, name, said string, e *entry) []string {
	n := len(path) - 1
	for n >= 0 && path[n] != name {
		n--
	}
	if n < 0 {
		return path
	}
	within := ""
	if n > 0 {
		within = path[n-1]
	}
	said = strings.TrimSpace(said)
	switch within + " " + name {
	case "url loc", "sitemap loc":
		e.link = said
	case "url lastmod", "sitemap lastmod":
		e.item.Updated, e.item.Day = date(said)
	case "news publication_date":
		e.item.Published, _ = date(said)
		g.doc.Kind = News
	case "news title":
		e.title = said
		g.doc.Kind = News
	case "image loc", "video thumbnail_loc":
		if len(e.embeds) < maxEmbeds {
			e.embeds = append(e.embeds, said)
		}
	}
	if (name == "url" || name == "sitemap") && n == 1 {
		if e.title != "" {
			e.item.Text = uint16(xxhash.Sum64String(e.title)) | 1
		}
		g.add(e.item, e.link)
		for _, ref := range e.embeds {
			g.embed(ref)
		}
		*e = entry{}
	}
	return path[:n]
}

// alternate takes the page in another language that an <xhtml:link rel="alternate" href="…"> names.
func (g *gatherer) alternate(path []string, t xml.StartElement) {
	if len(path) != 3 || path[2] != "link" || path[1] != "url" {
		return
	}
	rel, href := "", ""
	for _, a := range t.Attr {
		switch strings.ToLower(a.Name.Local) {
		case "rel":
			rel = a.Value
		case "href":
			href = a.Value
		}
	}
	if strings.EqualFold(rel, "alternate") && href != "" {
		g.add(Item{}, href)
	}
}

// dateLayouts are the forms of W3C's date and time profile, and what is seen in their place.
var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04", time.RFC1123Z, time.RFC1123,
}

// date reads the date of a sitemap; day tells that it has no time of day.
func date(s string) (t time.Time, day bool) {
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), false
		}
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, true
	}
	return time.Time{}, false
}
