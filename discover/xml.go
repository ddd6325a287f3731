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
