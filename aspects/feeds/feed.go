package feeds

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/rss"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/uri"
)

// feed reads RSS, Atom or JSON Feed. A feed that breaks off is read up to its last whole item.
func (g *gatherer) feed(content io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(content, maxFeed+1))
	if err != nil {
		return err
	}
	if len(body) > maxFeed {
		body, g.doc.Cut = body[:maxFeed], true
	}
	body = dropDeclaration(body)
	if isXML(body) {
		if err := checkDepth(body); err != nil {
			return err
		}
	} else if err := checkJSONDepth(body); err != nil {
		return err
	}
	parsed, fault := g.parse(body)
	if fault != nil {
		whole := endAfterLastItem(body)
		if whole == nil {
			return fault
		}
		if parsed, err = g.parse(whole); err != nil {
			return fault
		}
	}
	g.doc.Hints = hintsOf(parsed)
	g.doc.Hub, g.doc.Self = g.hubOf(parsed, body)
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

// parse reads a feed with the library. The library fetches nothing.
func (g *gatherer) parse(body []byte) (feed *gofeed.Feed, err error) {
	p := gofeed.NewParser()
	p.KeepOriginalFeed = true
	feed, err = p.Parse(&limitedReader{ctx: g.ctx, r: bytes.NewReader(body), left: int64(len(body))})
	if err == nil && feed == nil {
		err = errors.New("it is empty")
	}
	return feed, err
}

func isXML(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '<'
}

// dropDeclaration removes the XML declaration. The text is in UTF-8 by now, whatever encoding it declares.
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

// checkDepth returns an error if elements are nested too deeply. The library takes a step of recursion for each level.
func checkDepth(body []byte) error {
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
				return errors.New("its elements are nested too deeply")
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

// checkJSONDepth is checkDepth for JSON Feed. Brackets in texts count too: in no honest feed do the opening ones
// outnumber the closing ones by that many.
func checkJSONDepth(body []byte) error {
	depth := 0
	for _, c := range body {
		switch c {
		case '[', '{':
			if depth++; depth > 4*maxDepth {
				return errors.New("its objects are nested too deeply")
			}
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return nil
}

// itemEnd and entryEnd match the end tags of items of RSS and entries of Atom, with any namespace prefix.
var itemEnd, entryEnd = regexp.MustCompile(`</([\w.-]+:)?item>`), regexp.MustCompile(`</([\w.-]+:)?entry>`)

// endAfterLastItem returns a feed that was cut as if it ended properly after its last whole item. It returns nil if
// there is no whole item.
func endAfterLastItem(body []byte) []byte {
	itemForm, end := itemEnd, "</"+rootName(body)+">"
	switch strings.ToLower(rootElement(body)) {
	case "rss":
		end = "</channel>" + end
	case "feed":
		itemForm = entryEnd
	}
	items := itemForm.FindAllIndex(body, -1)
	if len(items) == 0 {
		return nil
	}
	return append(bytes.Clone(body[:items[len(items)-1][1]]), end...)
}

// rootName returns the name of the root element with its prefix, as an end tag needs it.
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
	if updated := i.Extensions["atom"]["updated"]; item.Updated.IsZero() && len(updated) > 0 {
		item.Updated, _ = discover.ParseDate(strings.TrimSpace(updated[0].Value))
	}
	if content := i.Title + "\x00" + i.Description + "\x00" + i.Content; len(content) > 2 {
		item.Text = textHash(content)
	}
	return item
}

// linkOf returns the address of an item's page: its link, its Atom link, or its guid if that is a web address.
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

// utc returns the time in UTC, or the zero time if its year is out of range.
func utc(t *time.Time) time.Time {
	if t == nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.UTC()
}

// hubOf returns the WebSub hub and the topic that a feed names (W3C WebSub, section 4).
func (g *gatherer) hubOf(f *gofeed.Feed, body []byte) (hub, topic uri.URI) {
	take := func(rel, href string) {
		for word := range strings.FieldsSeq(strings.ToLower(rel)) {
			switch {
			case word == "hub" && hub.IsZero():
				hub = g.resolve(href)
			case word == "self" && topic.IsZero():
				topic = g.resolve(href)
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
		hub, topic = g.hubOfJSON(body)
	}
	return hub, topic
}
