package changes

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/arcrawl/arcrawl/digest"
)

// place says what part of a page something is in. The first one that fits counts.
type place int

const (
	inPage     place = iota
	inAd             // an advertisement
	inComments       // of readers
	inByline         // author and date
	inFrame          // header, footer, navigation, a column at the side, a form
)

// namesOf are the parts of names of classes and identifiers that show a place.
var namesOf = []struct {
	place place
	names []string
}{
	{inAd, []string{"ad", "ads", "advert", "advertisement", "adslot", "gpt", "sponsor", "sponsored", "arcad"}},
	{inComments, []string{"comment", "comments", "discussion", "disqus", "reply", "replies", "respond"}},
	{inByline, []string{"byline", "author", "dateline", "timestamp", "date", "published", "meta", "posted", "clock"}},
	{inFrame, []string{
		"footer", "sidebar", "nav", "navbar", "menu", "breadcrumb", "breadcrumbs", "share", "sharing",
		"social", "related", "cookie", "consent", "newsletter", "subscribe", "subscription", "portlet",
	}},
}

// placeOf returns the place that an element begins.
func placeOf(n *html.Node) place {
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Form, atom.Button, atom.Aside:
		return inFrame
	case atom.Address:
		return inByline
	case atom.Body, atom.Html, atom.Main:
		return inPage // their classes name everything that is on the page
	}
	if strings.HasPrefix(n.Data, "amp-ad") {
		return inAd
	}
	var parts []string
	for _, a := range n.Attr {
		switch a.Key {
		case "class", "id", "data-hook", "itemprop", "rel":
			parts = append(parts, strings.FieldsFunc(strings.ToLower(a.Val), func(r rune) bool {
				return (r < 'a' || r > 'z') && (r < '0' || r > '9')
			})...)
		}
	}
	if len(parts) > 40 {
		parts = parts[:40]
	}
	for _, kind := range namesOf {
		if n.DataAtom == atom.Article && kind.place != inComments {
			continue // its class says what kind of article it is: "newsletter-post"
		}
		for _, part := range parts {
			if slices.Contains(kind.names, part) {
				return kind.place
			}
		}
	}
	return inPage
}

// inLine reports whether an element is part of a line.
func inLine(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em,
		atom.Font, atom.I, atom.Img, atom.Input, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Q, atom.S, atom.Samp,
		atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}

// walker reads a tree in the order of the page.
type walker struct {
	page    *Page
	within  int // element
	place   place
	heading int
	link    int  // of the page, from 1; 0 = none
	leaves  bool // the link leads to another page
	current block
	text    strings.Builder
}

func (w *walker) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			w.add(c.Data, true)
		case html.ElementNode:
			w.enter(c)
		case html.DocumentNode:
			w.children(c)
		}
	}
}

// add adds text of the innermost element.
func (w *walker) add(text string, flow bool) {
	if strings.TrimSpace(text) == "" {
		w.text.WriteString(" ")
		return
	}
	if w.current.element < 0 || w.current.words == 0 {
		w.current.element, w.current.place, w.current.heading, w.current.words = w.within, w.place, w.heading, 1
	}
	for flow && len(text) > maxText {
		w.addPart(text[:maxText])
		w.flush()
		w.current.element, w.current.place, w.current.heading, w.current.words = w.within, w.place, w.heading, 1
		text = text[maxText:]
	}
	w.addPart(text)
}

func (w *walker) addPart(text string) {
	if w.link > 0 {
		visible := shown(text)
		if w.leaves {
			w.current.linked += len(visible)
		}
		if l := &w.page.Links[w.link-1]; len(l.Text) < maxLinkText {
			l.Text = strings.TrimSpace(l.Text + " " + visible)
		}
	}
	w.text.WriteString(text)
}

// maxLinkText is the length in bytes behind which nothing is added to the text of a link.
const maxLinkText = 300

// flush ends a block.
func (w *walker) flush() {
	b := w.current
	b.text = shown(strings.ToValidUTF8(w.text.String(), "\uFFFD"))
	w.text.Reset()
	w.current = block{element: -1}
	if b.text == "" {
		return
	}
	b.words = countWords(b.text)
	w.page.blocks = append(w.page.blocks, b)
}

// enter reads an element.
func (w *walker) enter(n *html.Node) {
	switch n.DataAtom {
	case atom.Title:
		if n.FirstChild != nil && w.page.Title == "" {
			w.page.Title = shown(n.FirstChild.Data)
		}
		return
	case atom.Meta:
		w.meta(n)
		return
	case atom.Base:
		w.base(n)
		return
	case atom.Noscript, atom.Textarea:
		return
	case atom.Br, atom.Hr:
		w.flush()
		return
	}
	if digest.Invisible(n.DataAtom) || isHidden(n) {
		return
	}
	before := *w
	if !inLine(n.DataAtom) {
		w.flush()
	}
	e := element{node: n, parent: w.within, link: noLink}
	if is := placeOf(n); w.place == inPage || is == inAd || is == inComments && w.place != inAd {
		w.place = is
	}
	if w.place == inByline && w.headingOf(n) > 0 {
		w.place = before.place // a headline is not a byline, whatever its class
	}
	e.place = w.place
	w.within = len(w.page.elements)
	w.page.elements = append(w.page.elements, e)
	w.look(n)
	if h := w.headingOf(n); h > 0 {
		w.heading = h
	}
	w.children(n)
	if !inLine(n.DataAtom) {
		w.flush()
	}
	w.within, w.place, w.heading = before.within, before.place, before.heading
	w.link, w.leaves = before.link, before.leaves
}

// headingOf returns the level of a heading, or 0.
func (w *walker) headingOf(n *html.Node) int {
	if len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
		return int(n.Data[1] - '0')
	}
	if attribute(n, "role") == "heading" {
		return 2
	}
	return 0
}

// look notes the link and the pictures of an element.
func (w *walker) look(n *html.Node) {
	p := w.page
	if n.DataAtom == atom.A || n.DataAtom == atom.Area {
		if to, other := p.leadsTo(attribute(n, "href")); to != "" {
			p.Links = append(p.Links, Link{URI: to, ad: w.place == inAd || isAd(n)})
			w.link, w.leaves = len(p.Links), other
			if other {
				p.elements[w.within].link = w.link - 1
			}
		}
	}
	if n.DataAtom == atom.Input {
		switch attribute(n, "type") {
		case "submit", "button":
			w.add(" "+attribute(n, "value")+" ", false)
		}
	}
	if pic, ok := p.pictureOf(n); ok {
		pic.ad = w.place == inAd
		p.Pictures = append(p.Pictures, pic)
	}
}

// isAd reports whether a link says that it is paid for.
func isAd(n *html.Node) bool { return strings.Contains(attribute(n, "rel"), "sponsored") }

func (w *walker) base(n *html.Node) {
	if to, err := url.Parse(attribute(n, "href")); err == nil && attribute(n, "href") != "" {
		w.page.address = w.page.address.ResolveReference(to)
	}
}

// meta notes what a page says that its headline is.
func (w *walker) meta(n *html.Node) {
	switch attribute(n, "property") + attribute(n, "name") + attribute(n, "itemprop") {
	case "og:title", "twitter:title", "headline":
		w.page.titles = append(w.page.titles, shown(attribute(n, "content")))
	}
}

// isHidden reports whether an element says itself that it is not shown.
func isHidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "style":
			style := strings.ReplaceAll(strings.ToLower(a.Val), " ", "")
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
