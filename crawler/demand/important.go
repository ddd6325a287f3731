package demand

import (
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// maxSection is the maximum length of the name of a section, in bytes.
const maxSection = 24

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
	return hops.Count(uri.Link) <= 1 && hops.Count(uri.Embed) == 0 && name != "" && len(name) <= maxSection &&
		!strings.ContainsAny(name, "0123456789/?&=%_.") && strings.Count(name, "-") <= 1
}

// Factors says how the waits of a host are stretched for one URI.
type Factors struct {
	Stretch float64 // the factor of its wait; 1 = not stretched
	First   bool    // the URI goes before the others of its host, whose waits are stretched more
}

// Of returns how the wait of a URI is stretched. r is its record after the visit.
func (e *Estimates) Of(r frontier.Record, p config.Politeness) Factors {
	return e.of(r.URI.Host(), p, Important(r.URI, r.Hops, r.ContentType, r.Source != ""))
}

// of returns how a host stretches a wait.
func (e *Estimates) of(h uri.Host, p config.Politeness, important bool) Factors {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.hosts[keyOf(h, p)]
	if b == nil {
		return Factors{Stretch: 1}
	}
	all, leading := b.Stretch(p.Valence, usualPace(p)), b.StretchImportant(p.Valence, usualPace(p))
	if important {
		return Factors{Stretch: leading, First: all > leading}
	}
	return Factors{Stretch: all}
}
