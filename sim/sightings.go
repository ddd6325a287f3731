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

// Sightings are visits that a crawl made, by URI, as a log or an index tells of them. The zero value is empty.
type Sightings struct {
	byURI map[string]*Sighted
}

// Sighted is one URI and its visits.
type Sighted struct {
	URI, MIME string
	Bytes     int64
	Visits    []Sighting // in the order of time, once [Sightings.All] gave them
}

// Sighting is one visit.
type Sighting struct {
	At     time.Time
	State  evaluators.State // as judged; Unknown where Digest is to tell
	Digest string           // of the payload; empty if not known
}

// Add takes in a visit. Visits may come in any order.
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

// All gives the URIs by name, each with its visits in the order of time and every state told: what was not judged is
// changed if its digest is not that of the visit before. Visits that tell nothing are left out.
func (s *Sightings) All() []*Sighted {
	var all []*Sighted
	for _, of := range s.byURI {
		slices.SortStableFunc(of.Visits, func(a, b Sighting) int { return a.At.Compare(b.At) })
		judged := of.Visits[:0]
		digest := ""
		for _, v := range of.Visits {
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
		if of.Visits = judged; len(judged) > 0 {
			all = append(all, of)
		}
	}
	slices.SortFunc(all, func(a, b *Sighted) int { return cmp.Compare(a.URI, b.URI) })
	return all
}

// Histories makes histories of change of the visits. A change falls at a random moment, seeded by the URI, between the
// visit that found it and the one before; changes that no visit saw are not in it. What was watched for less than a day, or
// visited once, is left out.
func (s *Sightings) Histories() []History {
	var all []History
	for _, of := range s.All() {
		first, last := of.Visits[0].At, of.Visits[len(of.Visits)-1].At
		h := History{
			ID: of.URI, Source: "crawl", Kind: kindOf(of.MIME), Host: hostOf(of.URI), Start: first, Watched: last.Sub(first), Bytes: int(of.Bytes), Sighted: true,
		}
		if h.Watched < leastWatched {
			continue
		}
		seed := fnv.New64a()
		_, _ = io.WriteString(seed, of.URI) // never fails
		random := rand.New(rand.NewPCG(seed.Sum64(), 0))
		for i, v := range of.Visits[1:] {
			if before := of.Visits[i].At; v.State == evaluators.Changed {
				h.Changes = append(h.Changes, v.At.Sub(first)-time.Duration(random.Float64()*float64(v.At.Sub(before))))
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

// kindOf is the kind of a media type, the inverse of [MIME].
func kindOf(mime string) string {
	switch {
	case strings.Contains(mime, "rss"), strings.Contains(mime, "atom"):
		return "feed"
	case strings.Contains(mime, "json"):
		return "json"
	}
	return "page"
}

// Step is one visit and what a rule made of it.
type Step struct {
	At    time.Time
	State evaluators.State
	Wait  evaluators.Wait
}

// Replay tells a stack of visits that others made, and gives what it made of each.
func Replay(s evaluators.Stack, of *Sighted) []Step {
	in := evaluators.WaitInput{MIME: of.MIME, First: true}
	steps := make([]Step, 0, len(of.Visits))
	for _, v := range of.Visits {
		in.State, in.At = v.State, v.At
		if in.First {
			in.State = evaluators.Changed
		}
		w := s.Next(in)
		steps = append(steps, Step{v.At, in.State, w})
		in.First, in.Previous, in.Memory = false, w.Interval, w.Memory
	}
	return steps
}

// Explain plays one of the histories, visits made when its stack wants them, and gives what that made of each. The others of
// its host are played too, and like is what is known in the end of those of its kind.
func Explain(of func(host, mime string) evaluators.Stack, all []History, one int) (steps []Step, like rate.Relatives) {
	var host []History
	for i, h := range all {
		if h.Host == all[one].Host && i != one {
			host = append(host, h)
		}
	}
	family := families{}
	kind := rate.Kind(0)
	explained := func(v Visit, w evaluators.Wait) { steps, kind = append(steps, Step{v.At, v.State, w}), w.Kind }
	told := []func(Visit, evaluators.Wait){explained} // the first to be played is the one
	Play(Policy{Host: func(float64) func(History) Player {
		return func(h History) Player {
			p := stack(of(h.Host, MIME(h.Kind)), h, family, told...)
			told = nil
			return p
		}
	}}, 0, append([]History{all[one]}, host...))
	return steps, family[kind]
}
