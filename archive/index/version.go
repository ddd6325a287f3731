package index

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Version names the captures of a URI in a period: not before From, and before To.
type Version struct {
	URI      string
	From, To time.Time // zero = the latest capture
}

// ParseVersion parses URI@date. The date is 20261121090000 or 2026-11-21T09:00:00Z, or a beginning of one of them from
// the year on. The T may be a space, and the Z may be left out: all times are UTC. If no date follows the last @, the
// whole text is a URI, and the version is its latest capture.
func ParseVersion(s string) Version {
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return Version{URI: s}
	}
	from, to, err := human.ParsePeriod(s[i+1:])
	if err != nil {
		return Version{URI: s}
	}
	return Version{URI: s[:i], From: from, To: to}
}

// Choose returns the last capture in the period of a version. If there is none, exact is false and the result is the
// last capture before the period, which an archive would have replayed at that time. Captures are oldest first.
func (v Version) Choose(captures []Capture) (c Capture, exact bool, err error) {
	all := captures
	if !v.To.IsZero() {
		captures = captures[:sort.Search(len(captures), func(i int) bool { return !captures[i].Date.Before(v.To) })]
	}
	if len(captures) == 0 {
		if v.To.IsZero() {
			return Capture{}, false, fmt.Errorf("%w: %s", warc.ErrNotFound, v.URI)
		}
		first := ""
		if len(all) > 0 {
			first = "; the first is of " + all[0].Date.Format(time.RFC3339)
		}
		return Capture{}, false, fmt.Errorf("%w: %s before %s%s", warc.ErrNotFound, v.URI, v.To.Format(time.RFC3339), first)
	}
	c = captures[len(captures)-1]
	return c, !c.Date.Before(v.From), nil
}
