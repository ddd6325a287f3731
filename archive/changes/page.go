package changes

import (
	"bytes"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/unicode/norm"

	"github.com/arcrawl/arcrawl/digest"
)

// The bounds of a page. What is behind them is not read.
const (
	maxBytes = 4 << 20
	maxTags  = 60_000   // start tags
	maxText  = 16 << 10 // bytes of a block; the rest is another block
)

// Page holds what a reader sees of a version of an HTML page.
type Page struct {
	Title    string // of the window
	Headline string // of the article; "" on a page of teasers
	Links    []Link
	Pictures []Picture
	Cut      bool // the page is longer than what was read
	Flat     bool // the elements are nested too deeply, so that only their text was read

	address  *url.URL
	root     *html.Node
	elements []element
	blocks   []block
	index    bool     // most of the page are teasers
	titles   []string // what the page says that its headline is
	found    bool     // the main text was looked for
	article  Article  // what the library found
}

// Link is an entry of a page: where it leads, and the text that a reader sees.
type Link struct {
	URI      string `json:"uri"`
	Text     string `json:"text"`
	ad       bool
	enlarges bool // it only shows a picture of the page in a larger size
}

// Picture is a picture that a reader sees.
type Picture struct {
	URI string `json:"uri"`
	Alt string `json:"alt,omitempty"`
	key string // the same for all sizes of a picture
	ad  bool
}

// element is an element of the tree, in the order of the page.
type element struct {
	node   *html.Node
	parent int
	place  place
	link   int  // the only link inside to another page, or manyLinks
	words  int  // of the text inside, about
	teaser bool // a block inside is nothing but a link of at least two words
}

// What the link of an element can be.
const (
	noLink    = -1
	manyLinks = -2
)

// block is a paragraph, a heading, a cell or an item as a reader sees it.
type block struct {
	text    string // with one space between words
	words   int
	linked  int // bytes of text in links
	heading int // 1 to 6; 0 = none
	element int // the innermost one that has text of this block
	place   place
	main    bool // the library says that it belongs to the article
	beside  bool // it is next to parts of the article
	between bool // it is between the headline and the end of the article
}

// Read reads a version. uri is where it was found: links are resolved against it.
func Read(content []byte, contentType, uri string) *Page {
	p := &Page{}
	p.address, _ = url.Parse(uri)
	if p.address == nil {
		p.address = &url.URL{}
	}
	text := digest.Decode(content[:min(len(content), maxBytes)], contentType)
	text, p.Cut = bounded(text)
	p.Cut = p.Cut || len(content) > maxBytes
	var err error
	if p.root, err = html.Parse(bytes.NewReader(text)); err != nil {
		p.Flat = true
		if p.root, err = html.Parse(bytes.NewReader(flat(text))); err != nil {
			p.root = &html.Node{Type: html.DocumentNode}
		}
	}
	w := walker{page: p, within: -1, current: block{element: -1}}
	w.children(p.root)
	w.flush()
	p.dropPictures()
	p.summarize()
	p.findHeadline()
	return p
}

// dropPictures makes of links without a text that lead to a picture what they are: the large form of a picture.
func (p *Page) dropPictures() {
	for i, l := range p.Links {
		if l.Text == "" && isPictureName(l.URI) {
			p.Links[i].enlarges = true
		}
	}
	for i, e := range p.elements {
		if e.link >= 0 && p.Links[e.link].enlarges {
			p.elements[i].link = noLink
		}
	}
}

// bounded returns a page up to the first tag that is too many.
func bounded(page []byte) (begin []byte, cut bool) {
	z := html.NewTokenizer(bytes.NewReader(page))
	at := 0
	for tags := 0; ; {
		switch z.Next() {
		case html.ErrorToken:
			return page, false
		case html.StartTagToken, html.SelfClosingTagToken:
			if tags++; tags > maxTags {
				return page[:at], true
			}
		}
		at += len(z.Raw())
	}
}

// flat returns a page without nested elements, except links: its text, links and pictures in paragraphs. Browsers show
// pages that are nested more deeply than the parser allows.
func flat(page []byte) []byte {
	z := html.NewTokenizer(bytes.NewReader(page))
	var out bytes.Buffer
	var skipping atom.Atom
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out.Bytes()
		}
		raw := bytes.Clone(z.Raw())
		if kind == html.TextToken && skipping == 0 {
			out.Write(raw)
		}
		if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		name, _ := z.TagName()
		a := atom.Lookup(name)
		switch {
		case skipping != 0:
			if kind == html.EndTagToken && a == skipping {
				skipping = 0
			}
		case digest.Invisible(a):
			if kind == html.StartTagToken {
				skipping = a
			}
		case a == atom.A, a == atom.Img, a == atom.Title, a == atom.Meta, a == atom.Base:
			out.Write(raw)
		case !inLine(a):
			out.WriteString("<p>")
		}
	}
}

// shown returns a text as a reader sees it: without characters that have no width, and with one space between words.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == 0xAD, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r == 0xFEFF:
			return -1
		}
		return r
	}, text)
	return norm.NFC.String(strings.Join(strings.Fields(text), " "))
}

// summarize finds out what belongs to teasers.
func (p *Page) summarize() {
	for _, b := range p.blocks {
		if b.element < 0 {
			continue
		}
		e := &p.elements[b.element]
		e.words += b.words
		e.teaser = e.teaser || b.words > 1 && 10*b.linked >= 9*len(b.text) && strings.ContainsFunc(b.text, unicode.IsLetter)
	}
	for i := len(p.elements) - 1; i > 0; i-- {
		e := p.elements[i]
		if e.parent < 0 {
			continue
		}
		up := &p.elements[e.parent]
		up.words, up.teaser = up.words+e.words, up.teaser || e.teaser
		switch {
		case up.link == noLink:
			up.link = e.link
		case e.link == noLink:
		case up.link == manyLinks, e.link == manyLinks, p.Links[up.link].URI != p.Links[e.link].URI:
			up.link = manyLinks
		}
	}
}

// maxTeaser is the maximum number of words of a teaser: a longer text with one link is an article.
const maxTeaser = 120

// isEntry reports whether a block belongs to a link: it is part of one, or is next to one in a teaser.
func (p *Page) isEntry(b block) bool {
	if 10*b.linked >= 7*len(b.text) && len(b.text) > 0 {
		return true
	}
	for i := b.element; i >= 0; i = p.elements[i].parent {
		e := p.elements[i]
		if e.link == manyLinks || e.words > maxTeaser || e.node.DataAtom == atom.Body || e.node.DataAtom == atom.Main {
			return false
		}
		if e.link >= 0 && e.teaser {
			return !isHome(p.Links[e.link].URI) // a clock next to the name of the paper is no teaser
		}
	}
	return false
}
