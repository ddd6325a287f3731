package sim

import (
	"cmp"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// Sightings holds the visits of a crawl by URI, as a log or an index records them. The zero value is empty.
type Sightings struct {
	byURI map[string]*Sighted
}

// Sighted is one URI and its visits.
type Sighted struct {
	URI, MIME string
	Bytes     int64
	Visits    []Sighting // in the order of time, after [Sightings.All]
}

// Sighting is one visit.
type Sighting struct {
	At     time.Time
	State  evaluators.State // as judged; Unknown if Digest decides
	Digest string           // of the payload; empty if not known
}

// Add adds a visit. Visits may be added in any order.
func (s *Sightings) Add(uri, mime string, bytes int64, v Sighting) {
	if s.byURI == nil {
		s.byURI = map[string]*Sighted{}
	}
	of, ok := s.byURI[uri]
	if !ok {
		of = &Sighted{URI: uri}
		s.byURI[uri] = of
	}
	if mime != "" {
		of.MIME = mime
	}
	if bytes > 0 {
		of.Bytes = bytes
	}
	of.Visits = append(of.Visits, v)
}

// All returns the URIs by name, each with its visits in the order of time. A visit that was not judged is Changed if
// its digest differs from the one of the visit before. Visits without state and digest are skipped.
func (s *Sightings) All() []*Sighted {
	var all []*Sighted
	for _, sighted := range s.byURI {
		slices.SortStableFunc(sighted.Visits, func(a, b Sighting) int { return a.At.Compare(b.At) })
		judged := sighted.Visits[:0]
		digest := ""
		for _, v := range sighted.Visits {
			if v.State == evaluators.Unknown && v.Digest != "" {
				v.State = evaluators.Unchanged
				if v.Digest != digest {
					v.State = evaluators.Changed
				}
			}
			if v.Digest != "" {
				digest = v.Digest
			}
			if n := len(judged); v.State != evaluators.Unknown && (n == 0 || v.At.After(judged[n-1].At)) {
				judged = append(judged, v)
			}
		}
		if sighted.Visits = judged; len(judged) > 0 {
			all = append(all, sighted)
		}
	}
	slices.SortFunc(all, func(a, b *Sighted) int { return cmp.Compare(a.URI, b.URI) })
	return all
}

// Histories returns histories of change made from the visits. A change is placed at a random moment, seeded by the URI,
// between the visit that found it and the one before. Changes that no visit saw are missing. URIs that were watched for
// less than a day, or visited once, are skipped.
func (s *Sightings) Histories() []History {
	var all []History
	for _, sighted := range s.All() {
		first, last := sighted.Visits[0].At, sighted.Visits[len(sighted.Visits)-1].At
		h := History{
			ID: sighted.URI, Source: "crawl", Kind: kindOf(sighted.MIME), Host: hostOf(sighted.URI),
			Start: first, Watched: last.Sub(first), Bytes: int(sighted.Bytes), Sighted: true,
		}
		if h.Watched < minWatched {
			continue
		}
		seed := fnv.New64a()
		_, _ = io.WriteString(seed, sighted.URI) // never fails
		random := rand.New(rand.NewPCG(seed.Sum64(), 0))
		for i, v := range sighted.Visits[1:] {
			if before := sighted.Visits[i].At; v.State == evaluators.Changed {
				earlier := time.Duration(random.Float64() * float64(v.At.Sub(before)))
				h.Changes = append(h.Changes, v.At.Sub(first)-earlier)
			}
		}
		all = append(all, h)
	}
	return all
}

func hostOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri
	}
	return u.Host
}

// kindOf returns the kind of a media type. It is the inverse of [MIME].
func kindOf(mime string) string {
	switch {
	case strings.Contains(mime, "rss"), strings.Contains(mime, "atom"):
		return "feed"
	case strings.Contains(mime, "json"):
		return "json"
	}
	return "page"
}

// Explain plays the history with the index one, and returns the decisions of its stack. It also plays the other
// histories of the host. relatives describes the URIs of its kind at the end.
func Explain(stackOf Stacks, all []History, one int) (steps []Step, relatives rate.Relatives) {
	var host []History
	for i, h := range all {
		if h.Host == all[one].Host && i != one {
			host = append(host, h)
		}
	}
	family := families{}
	kind := rate.Kind(0)
	record := func(v Visit, w evaluators.Wait) { steps, kind = append(steps, Step{v.At, v.State, w}), w.Kind }
	Play(Policy{Host: func(float64) func(History) Player {
		return func(h History) Player {
			p := stack(stackOf(h.Host, MIME(h.Kind)), h, family, record)
			record = nil // the first player plays the history to explain
			return p
		}
	}}, 0, append([]History{all[one]}, host...))
	return steps, family[kind]
}
