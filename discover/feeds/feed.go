package feeds

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/rss"

	"github.com/arcrawl/arcrawl/uri"
)

// feed reads RSS, Atom or JSON Feed.
func (g *gatherer) feed(text io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(text, maxFeed+1))
	if err != nil {
		return err
	}
	if len(body) > maxFeed {
		body, g.doc.Cut = body[:maxFeed], true
	}
	body = dropDeclaration(body)
	if isXML(body) {
		if err := shallow(body); err != nil {
			return err
		}
	} else if err := shallowJSON(body); err != nil {
		return err
	}
	parsed, fault := parse(body)
	if fault != nil {
		mended := mend(body)
		if mended == nil {
			return fault
		}
		if parsed, err = parse(mended); err != nil {
			return fault
		}
	}
	g.doc.Hints = hintsOf(parsed)
	g.doc.Hub, g.doc.Self = g.push(parsed, body)
	for _, i := range parsed.Items {
		if i != nil {
			g.add(itemOf(i), linkOf(i))
			for _, e := range i.Enclosures {
				if e != nil && strings.HasPrefix(e.Type, "image/") {
					g.embed(e.URL)
				}
			}
		}
	}
	return fault
}

// parse is the library, which is asked for no more than to read.
func parse(body []byte) (feed *gofeed.Feed, err error) {
	p := gofeed.NewParser()
	p.KeepOriginalFeed = true
	feed, err = p.Parse(bytes.NewReader(body))
	if err == nil && feed == nil {
		err = errors.New("there is nothing in it")
	}
	return feed, err
}

func isXML(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '<'
}

// dropDeclaration blanks the XML declaration, whose encoding is no longer that of the text.
func dropDeclaration(body []byte) []byte {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if !bytes.HasPrefix(trimmed, []byte("<?xml")) {
		return trimmed
	}
	if _, rest, ok := bytes.Cut(trimmed, []byte("?>")); ok {
		return rest
	}
	return trimmed
}

// shallow refuses what lies too deep in each other: the library takes a step of recursion for each level.
func shallow(body []byte) error {
	depth := 0
	for {
		i := bytes.IndexByte(body, '<')
		if i < 0 || i+1 == len(body) {
			return nil
		}
		body = body[i+1:]
		end := ">"
		switch {
		case bytes.HasPrefix(body, []byte("![CDATA[")):
			end = "]]>"
		case bytes.HasPrefix(body, []byte("!--")):
			end = "-->"
		case body[0] == '!', body[0] == '?':
		case body[0] == '/':
			depth = max(0, depth-1)
		default:
			if depth++; depth > 4*maxDepth {
				return errors.New("its elements lie too deep in each other")
			}
		}
		n := bytes.Index(body, []byte(end))
		if n < 0 {
			return nil
		}
		if n > 0 && end == ">" && body[n-1] == '/' && body[0] != '/' {
			depth = max(0, depth-1)
		}
		body = body[n+len(end):]
	}
}

// shallowJSON does the same for JSON Feed. Brackets in texts count too; no honest feed has so many more opening ones.
func shallowJSON(body []byte) error {
	depth := 0
	for _, c := range body {
		switch c {
		case '[', '{':
			if depth++; depth > 4*maxDepth {
				return errors.New("its objects lie too deep in each other")
			}
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return nil
}

// wholeItem and wholeEntry end an item of RSS and one of Atom, whatever the prefix of their namespace is.
var wholeItem, wholeEntry = regexp.MustCompile(`</([\w.-]+:)?item>`), regexp.MustCompile(`</([\w.-]+:)?entry>`)

// mend ends a feed that was cut behind its last whole item; nil if there is none.
func mend(body []byte) []byte {
	form, end := wholeItem, "</"+rootName(body)+">"
	switch strings.ToLower(rootElement(body)) {
	case "rss":
		end = "</channel>" + end
	case "feed":
		form = wholeEntry
	}
	items := form.FindAllIndex(body, -1)
	if len(items) == 0 {
		return nil
	}
	return append(bytes.Clone(body[:items[len(items)-1][1]]), end...)
}

// rootName is the name of the root element with its prefix, as an end tag needs it.
func rootName(body []byte) string {
	i := bytes.Index(body, []byte(rootElement(body)))
	if i < 0 {
		return ""
	}
	start := bytes.LastIndexByte(body[:i], '<') + 1
	return string(body[start:i]) + rootElement(body)
}

func itemOf(i *gofeed.Item) Item {
	item := Item{ID: strings.TrimSpace(i.GUID), Published: utc(i.PublishedParsed), Updated: utc(i.UpdatedParsed)}
	if said := i.Extensions["atom"]["updated"]; item.Updated.IsZero() && len(said) > 0 {
		item.Updated, _ = date(strings.TrimSpace(said[0].Value))
	}
	if said := i.Title + "\x00" + i.Description + "\x00" + i.Content; len(said) > 2 {
		item.Text = uint16(xxhash.Sum64String(said)) | 1
	}
	return item
}

// linkOf is the page of an item: its link, one in the manner of Atom, or a guid that is one.
func linkOf(i *gofeed.Item) string {
	switch {
	case strings.TrimSpace(i.Link) != "":
		return i.Link
	case len(i.Links) > 0 && strings.TrimSpace(i.Links[0]) != "":
		return i.Links[0]
	}
	for _, l := range i.Extensions["atom"]["link"] {
		if rel := strings.TrimSpace(l.Attrs["rel"]); rel == "" || strings.EqualFold(rel, "alternate") {
			return l.Attrs["href"]
		}
	}
	if strings.HasPrefix(i.GUID, "http://") || strings.HasPrefix(i.GUID, "https://") {
		return i.GUID
	}
	return ""
}

func utc(t *time.Time) time.Time {
	if t == nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.UTC()
}

// push finds the WebSub hub and the topic that a feed names (W3C WebSub, section 4).
func (g *gatherer) push(f *gofeed.Feed, body []byte) (hub, self uri.URI) {
	take := func(rel, href string) {
		for word := range strings.FieldsSeq(strings.ToLower(rel)) {
			switch {
			case word == "hub" && hub.IsZero():
				hub = g.resolve(href)
			case word == "self" && self.IsZero():
				self = g.resolve(href)
			}
		}
	}
	switch original := f.OriginalFeed().(type) {
	case *atom.Feed:
		for _, l := range original.Links {
			take(l.Rel, l.Href)
		}
	case *rss.Feed:
		for _, l := range f.Extensions["atom"]["link"] {
			take(l.Attrs["rel"], l.Attrs["href"])
		}
	default:
		hub, self = g.pushJSON(body)
	}
	return hub, self
}
