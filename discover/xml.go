package discover

import (
	"bytes"

	"golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/uri"
)

// instruction adds the style sheet of an xml-stylesheet instruction ("Associating Style Sheets with XML documents 1.0",
// section 3). text is any markup with its angle brackets; other markup is ignored. In HTML an instruction is a comment.
func (p *page) instruction(text []byte) {
	const begin, end = "<?xml-stylesheet", "?>"
	if !p.xhtml || !bytes.HasPrefix(text, []byte(begin)) || !bytes.HasSuffix(text, []byte(end)) {
		return
	}
	rest := text[len(begin) : len(text)-1] // including the '?', so that every attribute has an end
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

// localName returns the name of an element of an XML document without its namespace prefix, which can be any name. In
// HTML a colon is part of the name.
func (p *page) localName(name []byte) []byte {
	if !p.xhtml {
		return name
	}
	return name[bytes.IndexByte(name, ':')+1:]
}

// key returns the name of an attribute as in the tables. Of names with a prefix, only the href of XLink counts.
func (p *page) key(a attribute) []byte {
	const linked = "xlink:href"
	if p.xhtml && bytes.HasSuffix(a.key, []byte(linked[len("xlink"):])) {
		return []byte(linked)
	}
	return a.key
}
