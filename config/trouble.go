package config

import (
	"regexp"

	"github.com/arcrawl/arcrawl/digest"
)

// expressions reads a list of expressions that single out certain pages.
func expressions(at func(*draft) *[]*regexp.Regexp) reader {
	const example = `for example '<title>Please wait</title>'`
	return reader{
		kind: "list of regular expressions",
		read: func(f field, d *draft) {
			*at(d) = nil
			f.texts(example, func(e field, s string) {
				if e.fit(digest.CheckRegex(s), s, "write "+example+" (RE2 syntax)") {
					*at(d) = append(*at(d), regexp.MustCompile(s))
				}
			})
		},
	}
}
