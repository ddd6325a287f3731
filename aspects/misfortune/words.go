package misfortune

import "github.com/arcrawl/arcrawl/crawllog"

// Meanings returns what the annotations of the aspect mean in words.
func Meanings() []crawllog.Meaning {
	return []crawllog.Meaning{
		{Annotation: "loop:redirect", Words: "a redirect that leads back to itself"},
		{Annotation: "notFound:title", Words: "a page that says that the page does not exist"},
		{Annotation: "notFound:configured", Words: "a page that says that the page does not exist, by the settings"},
		{Annotation: crawllog.Asked, Say: crawllog.Lasting("the server asked for no request during %s")},
		{Annotation: "challenge:", Say: func(v string) string {
			return "a challenge to prove that the visitor is human (" + v + ")"
		}},
		{Annotation: "consent:", Say: func(v string) string { return "a wall that asks for consent (" + v + ")" }},
	}
}
