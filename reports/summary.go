package reports

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/internal/human"
)

// MaxKeys is the maximum number of hosts, seeds, types or days for which a [Summary] has a row each.
const MaxKeys = 100_000

// Others is the key of everything beyond [MaxKeys].
const Others = "(others)"

// Dimension is a property by which a [Summary] groups lines.
type Dimension string

// The dimensions.
const (
	ByHost Dimension = "host" // of the URI, with its port if it has one
	BySeed Dimension = "seed"
	ByMIME Dimension = "mime"
	ByDay  Dimension = "day"  // in UTC
	ByHour Dimension = "hour" // in UTC

	// ByHostDay is a host, a blank, and a day in UTC. It is for reports; [ParseDimension] does not accept it.
	ByHostDay Dimension = "host and day"
)

// ParseDimension reads the name of a dimension.
func ParseDimension(s string) (Dimension, error) {
	if d := Dimension(s); slices.Contains([]Dimension{ByHost, BySeed, ByMIME, ByDay, ByHour}, d) {
		return d, nil
	}
	return "", fmt.Errorf("cannot group visits by %q: choose host, seed, mime, day or hour", s)
}

// Period is the time from From, inclusive, to To, exclusive. A zero time is no bound.
type Period struct {
	From, To time.Time
}

func (p Period) has(ms int64) bool {
	return (p.From.IsZero() || ms >= p.From.UnixMilli()) && (p.To.IsZero() || ms < p.To.UnixMilli())
}

// Summary sums up the lines of a period.
type Summary struct {
	First time.Time                       `json:"first"` // time of the first line; zero = no line
	Last  time.Time                       `json:"last"`
	All   Tally                           `json:"all"`
	By    map[Dimension]map[string]*Tally `json:"by,omitempty"`
}

// NewSummary returns an empty summary that groups lines by the given dimensions.
func NewSummary(by ...Dimension) *Summary {
	s := &Summary{By: make(map[Dimension]map[string]*Tally, len(by))}
	for _, d := range by {
		s.By[d] = make(map[string]*Tally)
	}
	return s
}

// Add counts a line.
func (s *Summary) Add(g *crawllog.RawEntry) {
	at := time.UnixMilli(g.Logged).UTC()
	s.extend(at, at)
	s.All.Add(g)
	var buf [24]byte
	for d, tallies := range s.By {
		key := dimensionKey(d, g, at, buf[:0])
		t := tallies[string(key)]
		if t == nil {
			t = tallyFor(tallies, string(key))
		}
		t.Add(g)
	}
}

// extend extends the time between First and Last.
func (s *Summary) extend(first, last time.Time) {
	if s.First.IsZero() || first.Before(s.First) {
		s.First = first
	}
	if last.After(s.Last) {
		s.Last = last
	}
}

// tallyFor returns the tally for a key, which it adds if needed.
func tallyFor(tallies map[string]*Tally, key string) *Tally {
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

// dimensionKey returns the key of a line. It may use buf.
func dimensionKey(d Dimension, g *crawllog.RawEntry, at time.Time, buf []byte) []byte {
	switch d {
	case ByHost:
		return hostPart(g.URI)
	case BySeed:
		return orDash(g.Seed)
	case ByMIME:
		return orDash(g.MIME)
	case ByDay:
		return at.AppendFormat(buf, time.DateOnly)
	case ByHostDay:
		buf = append(append(buf, hostPart(g.URI)...), ' ')
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

// hostPart returns the host of a URI as logged, also of the dns: URIs of Heritrix.
func hostPart(u []byte) []byte {
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

// OfHosts returns a function that reports whether a line is about a host that choose chooses; nil chooses all lines. It
// asks about each host once, and is not safe for concurrent use.
func OfHosts(choose func(host string) bool) func(*crawllog.RawEntry) bool {
	if choose == nil {
		return func(*crawllog.RawEntry) bool { return true }
	}
	known := map[string]bool{}
	return func(g *crawllog.RawEntry) bool {
		host := hostPart(g.URI)
		yes, ok := known[string(host)]
		if !ok {
			if len(known) >= MaxKeys {
				clear(known)
			}
			yes = choose(string(host))
			known[string(host)] = yes
		}
		return yes
	}
}

// Merge adds everything that o, a summary with the same dimensions, counted.
func (s *Summary) Merge(o *Summary) {
	if o.All.Visits == 0 {
		return
	}
	s.extend(o.First, o.Last)
	s.All.Merge(&o.All)
	for d, tallies := range o.By {
		for key, t := range tallies {
			tallyFor(s.By[d], key).Merge(t)
		}
	}
}

// Row is one key of a dimension with its tally.
type Row struct {
	Key string `json:"key"`
	Tally
}

// Rows returns the rows of a dimension. Days and hours are ordered by time, and all others by visits, most first.
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

// ParseTime parses one end of a [Period]: a date, as the period from its start to its end, or a duration, as the moment
// that long before now. An empty text is the zero time.
func ParseTime(text string, now time.Time) (from, to time.Time, err error) {
	if text == "" {
		return from, to, nil
	}
	if ago, err := human.ParseDuration(text); err == nil {
		at := now.Add(-ago)
		return at, at, nil
	}
	return human.ParsePeriod(text)
}
