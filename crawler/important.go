package crawler

import (
	"strings"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/uri"
)

// Important reports whether a URI leads to others, so that its wait is kept while the waits of the host are stretched:
// a seed, the front page of the host, a section, a feed or a sitemap.
func Important(u uri.URI, hops uri.HopPath, contentType string, source bool) bool {
	mime := strings.ToLower(contentType)
	switch {
	case hops == "", source, strings.Contains(mime, "rss"), strings.Contains(mime, "atom"):
		return true
	case !strings.Contains(mime, "html"):
		return false
	}
	return u.RequestTarget() == "/" || feeds.IsSection(u, hops)
}
