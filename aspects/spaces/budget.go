package spaces

import (
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Wanted is a URI that may have to wait for the budget of its pattern.
type Wanted struct {
	URI, Via uri.URI
	Hops     uri.HopPath
	First    bool // it was never visited
	Found    bool // a page names it now; otherwise it is due
	Now      time.Time
}

// Hold reports whether a URI has to wait for the budget of its pattern, and for how long. count says that it is really
// visited or put off now, and this is no preview.
func (b *Store) Hold(w Wanted, count bool) (p Pattern, wait time.Duration, held bool, err error) {
	if w.Hops == "" || !isInside(w.URI, w.Via) {
		return Pattern{}, 0, false, nil
	}
	u := w.URI
	key, ok := keyOf(u.RequestTarget())
	if !ok {
		return Pattern{}, 0, false, nil
	}
	err = b.change(u.Host(), func(s *state) bool {
		var pattern *space
		if pattern, held = s.holds(key, w); !held {
			return count && pattern != nil && !w.First && pattern.admit(w.Now)
		}
		p, wait = pattern.pattern(s), pattern.wait()
		return count && pattern.putOff(w)
	})
	return p, wait, held, err
}

func (p *space) pattern(s *state) Pattern {
	return Pattern{p.Key, p.Visits, p.Rich, s.allowance(p), p.Held, p.Examples}
}

// Patterns returns the patterns of a host that have put off a URI for lack of budget, and are no query space.
func (b *Store) Patterns(h uri.Host) (list []Pattern, err error) {
	err = b.read(h, func(s *state) { list = s.patterns() })
	return list, err
}

func (s *state) patterns() (list []Pattern) {
	for _, p := range s.Spaces {
		if p.Held > 0 && !p.Proven && !p.Listed {
			list = append(list, p.pattern(s))
		}
	}
	return list
}

// EachPattern calls see with every host that has such patterns, in the order of their names. It ends with the first
// error of see.
func (b *Store) EachPattern(see func(uri.Host, []Pattern) error) error {
	return b.Rows.Each(nil, func(h uri.Host, s *state) error {
		if list := s.patterns(); len(list) > 0 {
			return see(h, list)
		}
		return nil
	})
}

// lift ends the budget of a pattern, because a curator says that its pages are real. It reports false if there is no
// such pattern.
func (s *state) lift(key string) (lifted bool) {
	for _, p := range s.Spaces {
		if p.Key == key && key != others {
			p.Listed, p.Held, lifted = true, 0, true
		}
	}
	return lifted
}
