package login

import "github.com/arcrawl/arcrawl/crawllog"

// Meanings returns what the annotations of the aspect mean in words.
func Meanings() []crawllog.Meaning {
	return []crawllog.Meaning{
		{Annotation: crawllog.OtherRequest, Words: "the request was another one than before, by the settings"},
		{Annotation: crawllog.AcceptedExpired, Words: "its expired certificate was accepted, by the settings"},
		{Annotation: crawllog.Permission, Say: func(v string) string { return "robots.txt forbids it; permitted by: " + v }},
		{Annotation: crawllog.Way, Say: func(v string) string { return "connected by " + v }},
	}
}
