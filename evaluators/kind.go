package evaluators

import (
	"strings"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// Traits holds the properties that the kind of a URI follows from. They are read on its first capture and apply from
// then on.
type Traits struct {
	MIME    string // the Content-Type
	Depth   int    // links from the seed; 0 is a seed
	Article bool   // its birth is known
	Size    int64  // bytes of the body
	Dated   bool   // the answer had a Last-Modified
}

const smallBody = 16 << 10

// Kind returns the class of URIs with these traits: by media type (HTML, feed, other data, other), depth (0, 1, more),
// article or not, small or large, and dated or not. There are 97 numbers; zero is no class.
func (t Traits) Kind() rate.Kind {
	mime := strings.ToLower(t.MIME)
	kind := 3
	switch {
	case strings.Contains(mime, "rss"), strings.Contains(mime, "atom"), strings.Contains(mime, "feed+json"):
		kind = 1
	case strings.Contains(mime, "html"):
		kind = 0
	case ClassOf(mime) == ClassText:
		kind = 2
	}
	kind = kind*3 + min(max(t.Depth, 0), 2)
	for _, bit := range []bool{t.Article, t.Size > smallBody, t.Dated} {
		kind *= 2
		if bit {
			kind++
		}
	}
	return rate.Kind(kind + 1)
}
