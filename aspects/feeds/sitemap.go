package feeds

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// maxDepth is how deep elements may be nested. Real sitemaps have four levels; feeds seldom have twenty.
	maxDepth = 64
	// maxLine is the maximum length of a line of a plain sitemap.
	maxLine = uri.MaxLength + 2
)

// lines reads a sitemap in plain text: one web address in each line.
func (g *gatherer) lines(content io.Reader) error {
	s := bufio.NewScanner(content)
	s.Buffer(make([]byte, 0, maxLine), maxLine)
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" {
			g.add(Item{}, line)
		}
	}
	return s.Err()
}

// listing is one entry of a sitemap, from <url> to </url>.
type listing struct {
	item   Item
	link   string
	title  string
	embeds []string
}

// sitemap reads an XML sitemap or an index. It recognises elements by their local name and the name of their parent,
// because the prefixes of the extensions can be anything.
func (g *gatherer) sitemap(content io.Reader) error {
	d := xml.NewDecoder(content)
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	var path []string
	var words strings.Builder
	var l listing
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
				return errors.New("its elements are nested too deeply")
			}
			path = append(path, strings.ToLower(t.Name.Local))
			words.Reset()
			g.alternate(path, t)
		case xml.CharData:
			if words.Len()+len(t) <= uri.MaxLength {
				words.Write(t)
			}
		case xml.EndElement:
			path = g.endElement(path, strings.ToLower(t.Name.Local), words.String(), &l)
			words.Reset()
		}
	}
}

// endElement takes the text of the element that ends, and returns the path without that element. An end tag without a
// start tag is ignored.
func (g *gatherer) endElement(path []string, name, words string, l *listing) []string {
	n := len(path) - 1
	for n >= 0 && path[n] != name {
		n--
	}
	if n < 0 {
		return path
	}
	parent := ""
	if n > 0 {
		parent = path[n-1]
	}
	words = strings.TrimSpace(words)
	switch parent + " " + name {
	case "url loc", "sitemap loc":
		l.link = words
	case "url lastmod", "sitemap lastmod":
		l.item.Updated, l.item.Day = discover.ParseDate(words)
	case "news publication_date":
		l.item.Published, _ = discover.ParseDate(words)
		g.doc.Kind = News
	case "news title":
		l.title = words
		g.doc.Kind = News
	case "image loc", "video thumbnail_loc":
		if len(l.embeds) < maxEmbeds {
			l.embeds = append(l.embeds, words)
		}
	}
	if (name == "url" || name == "sitemap") && n == 1 {
		if l.title != "" {
			l.item.Text = textHash(l.title)
		}
		g.add(l.item, l.link)
		for _, ref := range l.embeds {
			g.embed(ref)
		}
		*l = listing{}
	}
	return path[:n]
}

// alternate adds the page in another language that an <xhtml:link rel="alternate" href="…"> names.
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
