package noise

import "github.com/arcrawl/arcrawl/crawllog"

// Meanings returns what the annotations of the aspect mean in words.
func Meanings() []crawllog.Meaning {
	return []crawllog.Meaning{
		{Annotation: crawllog.Restless, Words: "a page that differs at each visit"},
		{Annotation: crawllog.Noise, Words: "only parts differ that a reader does not see"},
		{Annotation: crawllog.Look + "same", Words: "fetched twice: the same both times"},
		{Annotation: crawllog.Look + "noisy", Words: "fetched twice: only parts differ that a reader does not see"},
		{Annotation: crawllog.Look + "differs", Words: "fetched twice: the page differs at each visit"},
		{Annotation: crawllog.Look + "failed", Words: "fetched twice: the second fetch failed"},
	}
}
