package discover

import (
	"bytes"

	"golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/uri"
)

// instruction adds what a processing instruction of an XML document names, of which xml-stylesheet is the only kind that
// does ("Associating Style Sheets with XML documents 1.0", section 3). Text is all of it, with its angle brackets, or any
// other markup. In HTML it is but a comment.
func (p *page) instruction(text []byte) {
	const begin, end = "<?xml-stylesheet", "?>"
	if !p.xhtml || !bytes.HasPrefix(text, []byte(begin)) || !bytes.HasSuffix(text, []byte(end)) {
		return
	}
	rest := text[len(begin) : len(text)-1] // up to the '?', so that every attribute has an end
	for len(rest) > 0 {
		blank := space(rest)
		if blank == 0 {
			return
		}
		key, val, n := attributeOf(rest[blank:])
		if n == 0 {
			return
		}
		if string(key) == "href" {
			p.reference([]byte(html.UnescapeString(string(val))), uri.Embed)
			return
		}
		rest = rest[blank+n:]
	}
}

// localName is the name of an element without the prefix that stands for its namespace, in a document in XML: what the
// prefix is called is anybody's choice. In HTML a colon is part of the name.
func (p *page) localName(name []byte) []byte {
	if !p.xhtml {
		return name
	}
	return name[bytes.IndexByte(name, ':')+1:]
}

// key is the name of an attribute as the tables have it: of those with a prefix only XLink's href counts.
func (p *page) key(a attribute) []byte {
	const linked = "xlink:href"
	if p.xhtml && bytes.HasSuffix(a.key, []byte(linked[len("xlink"):])) {
		return []byte(linked)
	}
	return a.key
}
