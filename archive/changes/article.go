package changes

import (
	"slices"
	"strings"
	"time"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Article is the main text of a page, without navigation, teasers, comments and advertisements.
type Article struct {
	Headline   string
	Standfirst string
	Author     string
	Published  time.Time // zero = the page does not say it in a form that is understood
	Paragraphs []string
}

// maxNesting is the maximum of the depths of all elements, added. The library reads the text of an element once for
// each element around it.
const maxNesting = 1_500_000

// minArticle is the number of characters with which the library is content. A shorter text lets it try again with
// weaker rules.
const minArticle = 200

// Article returns the main text. It is empty if the page has none, such as a page of teasers. The library changes the
// tree of the page, so the text is looked for once.
func (p *Page) Article() Article {
	if p.found {
		return p.article
	}
	p.found = true
	a := Article{Headline: p.Headline, Author: p.itemOf(authorItems), Published: p.published()}
	if found, ok := p.extract(); ok {
		if by := shown(found.Byline()); by != "" && a.Author == "" {
			a.Author = by
		}
		if t, err := found.PublishedTime(); err == nil && !t.IsZero() {
			a.Published = t
		}
		p.keep(found.Node)
	}
	p.root = nil // the library took it to pieces
	p.findBetween()
	for i, b := range p.blocks {
		switch {
		case p.kindOf(i) != Text:
		case b.between && !b.main && len(a.Paragraphs) == 0 && a.Standfirst == "":
			a.Standfirst = b.text
		default:
			a.Paragraphs = append(a.Paragraphs, b.text)
		}
	}
	p.article = a
	return a
}

// extract lets the library find the main text. A page of teasers has none, and is not searched for it.
func (p *Page) extract() (a readability.Article, ok bool) {
	nesting, depths := 0, make([]int, len(p.elements))
	for i, e := range p.elements {
		if e.parent >= 0 {
			depths[i] = depths[e.parent] + 1
		}
		nesting += depths[i]
	}
	if p.index || p.Flat || nesting > maxNesting {
		return a, false
	}
	parser := readability.NewParser()
	parser.CharThresholds = minArticle
	a, err := parser.ParseAndMutate(p.root, p.address)
	return a, err == nil && a.Node != nil
}

// keep notes which blocks the library kept. It copies and rebuilds elements, so they are recognized by their texts.
func (p *Page) keep(n *html.Node) {
	found := &Page{address: p.address}
	w := walker{page: found, within: -1, current: block{element: -1}}
	w.children(n)
	w.flush()
	kept := map[string]bool{}
	for _, b := range found.blocks {
		kept[b.text] = true
	}
	for i := range p.blocks {
		p.blocks[i].main = kept[p.blocks[i].text]
	}
}

// findBetween notes which blocks are between the headline and the end of the article.
func (p *Page) findBetween() {
	first, last := -1, -1
	for i, b := range p.blocks {
		if first < 0 && p.Headline != "" && b.text == p.Headline {
			first = i
		}
		if b.main && b.linked*2 < len(b.text) {
			last = i
		}
	}
	parts := map[int]int{} // of an element
	up := func(b block) int { return p.elements[max(b.element, 0)].parent }
	for i := range p.blocks {
		b := &p.blocks[i]
		b.between = first >= 0 && i > first && i <= last
		if b.main && b.words >= 6 && b.element >= 0 {
			parts[up(*b)]++
		}
	}
	for i := range p.blocks {
		b := &p.blocks[i]
		b.beside = b.element >= 0 && parts[up(*b)] >= 2
	}
}

// Microdata and relations that name author and date.
var (
	authorItems = []string{"author", "creator"}
	dateItems   = []string{"datePublished", "dateCreated"}
)

// itemOf returns the text of the first element that is marked as one of the items, and is no longer than a name.
func (p *Page) itemOf(items []string) string {
	for i, e := range p.elements {
		is := slices.Contains(items, attribute(e.node, "itemprop")) || attribute(e.node, "rel") == items[0]
		if !is {
			continue
		}
		if text := p.textIn(i); text != "" && len(text) < 100 {
			return text
		}
	}
	return ""
}

// textIn returns the text of an element. If a name is marked inside it, it is that.
func (p *Page) textIn(i int) string {
	var text, name strings.Builder
	for n := range p.elements[i].node.Descendants() {
		if n.Type != html.TextNode {
			continue
		}
		text.WriteString(n.Data)
		if n.Parent != nil && attribute(n.Parent, "itemprop") == "name" {
			name.WriteString(n.Data)
		}
	}
	if name.Len() > 0 {
		return shown(name.String())
	}
	return shown(text.String())
}

// timeForms are the forms of a time in an attribute.
var timeForms = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", time.DateOnly,
}

// published returns the time that the first element with a time of publication states.
func (p *Page) published() time.Time {
	for _, e := range p.elements {
		isTime := e.node.DataAtom == atom.Time && (e.place == inByline || e.place == inPage)
		if !isTime && !slices.Contains(dateItems, attribute(e.node, "itemprop")) {
			continue
		}
		for _, key := range []string{"datetime", "content", "title"} {
			for _, form := range timeForms {
				if t, err := time.Parse(form, attribute(e.node, key)); err == nil {
					return t
				}
			}
		}
	}
	return time.Time{}
}

// findHeadline finds the heading that the title names. Without one, it is the first heading that leads nowhere.
func (p *Page) findHeadline() {
	best, score := "", 0.0
	title := p.Title
	if len(p.titles) > 0 {
		title = p.titles[0]
	}
	have := wordSet(title)
	for i, b := range p.blocks {
		if b.heading == 0 || b.linked > 0 || b.place == inAd || b.place == inComments || b.place == inFrame {
			continue
		}
		s := 0.5/float64(b.heading) + 1/float64(10+i)
		if n := b.words; n > 0 && len(have) > 0 {
			common := 0
			for w := range wordSet(b.text) {
				if have[w] {
					common++
				}
			}
			s += 4 * float64(common) / float64(max(n, len(have)))
		}
		if b.words < 2 && len(b.text) < 12 {
			s /= 4
		}
		if s > score {
			best, score = b.text, s
		}
	}
	p.Headline = best
	if p.index = p.isIndex(); p.index {
		p.Headline = ""
	}
}

// isIndex reports whether a page is one of teasers: most of its words belong to links, and it has at least five.
func (p *Page) isIndex() bool {
	all, entries, teasers := 0, 0, 0
	for _, b := range p.blocks {
		if b.place == inAd || b.place == inComments || b.place == inFrame {
			continue
		}
		all += b.words
		if p.isEntry(b) {
			entries += b.words
			teasers++
		}
	}
	return teasers >= 5 && 10*entries >= 6*all
}
