package crawler

import (
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// maxSectionName is the maximum length of the name of a section, in bytes.
const maxSectionName = 24

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
	return u.RequestTarget() == "/" || isSection(u.RequestTarget(), hops)
}

// isSection reports whether a page has an address as sections have it. It is at most one link away from a seed, and its
// path is one short name without digits and with at most one hyphen: /politics, /local-news/. The titles of articles
// are longer.
func isSection(target string, hops uri.HopPath) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(target, "/"), "/")
	return hops.Count(uri.Link) <= 1 && hops.Count(uri.Embed) == 0 && name != "" && len(name) <= maxSectionName &&
		!strings.ContainsAny(name, "0123456789/?&=%_.") && strings.Count(name, "-") <= 1
}
