// This file describes what the visit of a feed or sitemap brought.

package feeds

import (
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/uri"
)

// Result describes what a visit to a feed or sitemap brought. It is zero for any other URI.
type Result struct {
	Kind    Kind
	First   bool // the first reading: all entries are new to the crawl, and none is news
	Listed  int
	New     int
	Updated int
	Gap     bool // no entry was listed before: entries were missed
	Slow    bool // the source is dead, silent or unreadable, and is seldom visited
	Fault   error
}

// Log logs what a curator should know.
func (r Result) Log(to zerolog.Logger, u uri.URI) {
	if r.Gap {
		to.Warn().Str("uri", u.String()).Int("listed", r.Listed).
			Msg("feed lists no entry that it listed before: entries were probably missed; it will be visited more often")
	}
	if r.Slow {
		to.Warn().Str("uri", u.String()).Str("kind", r.Kind.String()).
			Msg("feed or sitemap is dead, silent or unreadable: it is seldom visited")
	}
}

// Notes returns the annotations of the visit in crawl.log; none if there is nothing to say.
func (r Result) Notes() []string {
	if r.Kind == None {
		return nil
	}
	var notes []string
	name := "sitemap"
	if r.Kind.ListsNewest() {
		name = "feed"
	}
	if r.First {
		notes = append(notes, fmt.Sprintf("%sListed:%d", name, r.Listed))
	} else {
		if r.New > 0 {
			notes = append(notes, fmt.Sprintf("%sNew:%d", name, r.New))
		}
		if r.Updated > 0 {
			notes = append(notes, fmt.Sprintf("%sUpdated:%d", name, r.Updated))
		}
	}
	if r.Gap {
		notes = append(notes, name+"Gap")
	}
	if r.Slow {
		notes = append(notes, name+"Slow")
	}
	if r.Fault != nil {
		notes = append(notes, name+"Broken")
	}
	return notes
}

// MayBeSource reports whether content of this type may be a feed or sitemap.
func MayBeSource(contentType string) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch kind, sub, _ := strings.Cut(strings.TrimSpace(media), "/"); kind {
	case "", "text":
		return sub != "css" && sub != "javascript"
	case "application":
		return sub == "octet-stream" ||
			strings.HasSuffix(sub, "xml") || strings.HasSuffix(sub, "json") || strings.HasSuffix(sub, "gzip")
	}
	return false
}
