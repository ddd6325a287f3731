package digest

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page returns the title of an HTML page, and its visible text, in which each run of white space is one space.
func Page(content []byte, contentType string) (title, text string) {
	content = Decode(content, contentType)
	return titleOf(content), string(Visible(content))
}

// titleOf returns the text of the first title element of a page.
func titleOf(page []byte) string {
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			if name, _ := z.TagName(); atom.Lookup(name) == atom.Title && z.Next() == html.TextToken {
				var text spaced
				text.add(z.Text())
				return string(text.b)
			}
		}
	}
}
