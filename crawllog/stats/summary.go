package stats

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
)

// MaxKeys is how many hosts, seeds, types or days are told apart.
const MaxKeys = 100_000

// Others is the key of all beyond [MaxKeys].
const Others = "(others)"

// Dimension is what lines are told apart by.
type Dimension string

// The dimensions.
const (
	ByHost Dimension = "host" // of the URI, with its port if it has one
	BySeed Dimension = "seed"
	ByMIME Dimension = "mime"
	ByDay  Dimension = "day"  // in UTC
	ByHour Dimension = "hour" // in UTC

	// ByHostDay is a host on a day of UTC, with a blank between them. It is for reports, and none of [Dimensions].
	ByHostDay Dimension = "host and day"
)

// Dimensions are all there are.
func Dimensions() []Dimension { return []Dimension{ByHost, BySeed, ByMIME, ByDay, ByHour} }

// ParseDimension reads the name of a dimension.
func ParseDimension(s string) (Dimension, error) {
	if d := Dimension(s); slices.Contains(Dimensions(), d) {
		return d, nil
	}
	return "", fmt.Errorf("cannot tell visits apart by %q: accepted are host, seed, mime, day and hour", s)
}

// Period is the time From, until just before To. A zero time is no bound.
type Period struct {
	From, To time.Time
}

func (p Period) has(ms int64) bool {
	return (p.From.IsZero() || ms >= p.From.UnixMilli()) && (p.To.IsZero() || ms < p.To.UnixMilli())
}

// Summary is what the lines of a period come to.
type Summary struct {
	First time.Time                       `json:"first"` // time of the first line, zero if there is none
	Last  time.Time                       `json:"last"`
	All   Tally                           `json:"all"`
	By    map[Dimension]map[string]*Tally `json:"by,omitempty"`
}

// NewSummary is empty, and tells apart what comes by these dimensions.
func NewSummary(by ...Dimension) *Summary {
	s := &Summary{By: make(map[Dimension]map[string]*Tally, len(by))}
	for _, d := range by {
		s.By[d] = make(map[string]*Tally)
	}
	return s
}

// Add counts a line.
func (s *Summary) Add(g *crawllog.Glance) {
	at := time.UnixMilli(g.Logged).UTC()
	s.spans(at, at)
	s.All.Add(g)
	var buf [24]byte
	for d, tallies := range s.By {
		key := keyOf(d, g, at, buf[:0])
		t := tallies[string(key)]
		if t == nil {
			t = place(tallies, string(key))
		}
		t.Add(g)
	}
}

func (s *Summary) spans(first, last time.Time) {
	if s.First.IsZero() || first.Before(s.First) {
		s.First = first
	}
	if last.After(s.Last) {
		s.Last = last
	}
}

// place is the tally for a key that has none yet.
func place(tallies map[string]*Tally, key string) *Tally {
	if t := tallies[key]; t != nil {
		return t
	}
	if len(tallies) >= MaxKeys {
		key = Others
	}
	t := tallies[key]
	if t == nil {
		t = new(Tally)
		tallies[key] = t
	}
	return t
}

// keyOf may use buf.
func keyOf(d Dimension, g *crawllog.Glance, at time.Time, buf []byte) []byte {
	switch d {
	case ByHost:
		return hostOf(g.URI)
	case BySeed:
		return orDash(g.Seed)
	case ByMIME:
		return orDash(g.MIME)
	case ByDay:
		return at.AppendFormat(buf, time.DateOnly)
	case ByHostDay:
		buf = append(append(buf, hostOf(g.URI)...), ' ')
		return at.AppendFormat(buf, time.DateOnly)
	case ByHour:
		return at.AppendFormat(buf, "2006-01-02T15")
	}
	return orDash(nil)
}

func orDash(b []byte) []byte {
	if len(b) == 0 {
		return []byte("-")
	}
	return b
}

// hostOf is the host of a URI as the log writes it, or what stands for it in dns: URIs of Heritrix.
func hostOf(u []byte) []byte {
	scheme, rest, found := bytes.Cut(u, []byte(":"))
	if !found {
		return []byte("-")
	}
	if after, ok := bytes.CutPrefix(rest, []byte("//")); ok {
		rest = after
	} else if string(scheme) != "dns" {
		return []byte("-")
	}
	if i := bytes.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := bytes.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	return orDash(rest)
}

// Merge adds all that o has counted by the same dimensions.
func (s *Summary) Merge(o *Summary) {
	if o.All.Visits == 0 {
		return
	}
	s.spans(o.First, o.Last)
	s.All.Merge(&o.All)
	for d, tallies := range o.By {
		for key, t := range tallies {
			place(s.By[d], key).Merge(t)
		}
	}
}

// Row is one key of a dimension and what its lines come to.
type Row struct {
	Key string `json:"key"`
	Tally
}

// Rows are those of a dimension: days and hours in their order, all others with the most visits first.
func (s *Summary) Rows(d Dimension) []Row {
	rows := make([]Row, 0, len(s.By[d]))
	for key, t := range s.By[d] {
		rows = append(rows, Row{key, *t})
	}
	slices.SortFunc(rows, func(a, b Row) int {
		if d == ByDay || d == ByHour {
			return strings.Compare(a.Key, b.Key)
		}
		return cmp.Or(cmp.Compare(b.Visits, a.Visits), strings.Compare(a.Key, b.Key))
	})
	return rows
}
