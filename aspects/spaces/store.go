package spaces

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// These bound the hosts that are kept in memory.
const (
	maxHosts = 5_000
	maxBytes = 128 << 20
)

// SuspectWait is how long a URI waits that is part of a suspected trap.
const SuspectWait = time.Hour

// Store keeps the traps, families, parameters and patterns of all hosts. It is safe for concurrent use. A trap is
// stored when it becomes certain, the rest by Flush. It must not be used after the Badger store is closed.
type Store struct {
	*hosts.Rows[uri.Host, *state]
	empty state // of hosts without a row; never changed
}

// Open returns a store in db.
func Open(db *badger.DB) *Store {
	return &Store{Rows: hosts.NewHostRows(db, hosts.RowKind[uri.Host, *state]{
		Name: "record of traps", Prefix: "pt", MaxInMemory: maxHosts, MaxBytes: maxBytes,
		Portion: 1, // a row may have half a megabyte
		Encode:  encode, Decode: decode,
	})}
}

// change calls do with the state of a host, and stores it if do reports a change. do is called under the lock of
// the host.
func (b *Store) change(h uri.Host, do func(*state) bool) error {
	return b.Change(h, func(s *state) (*state, bool) {
		if s == nil {
			s = new(state)
		}
		return s, do(s)
	})
}

// read calls do with the state of a host, under the lock of the host. do must not change it.
func (b *Store) read(h uri.Host, do func(*state)) error {
	return b.Change(h, func(s *state) (*state, bool) {
		known := s
		if known == nil {
			known = &b.empty
		}
		do(known)
		return s, false
	})
}

// flushed writes what was learned if traps have become certain or were released.
func (b *Store) flushed(err error, traps ...[]Trap) error {
	if err == nil && slices.ContainsFunc(traps, func(list []Trap) bool { return len(list) > 0 }) {
		err = b.Flush()
	}
	return err
}

// Judge returns the trap that a URI is part of. The URI was found on the page via, by the path hops. Judge reports
// false if the URI is not part of a trap. If the trap is only suspected, see [Trap.Suspect], judge the URI again
// after [SuspectWait].
func (b *Store) Judge(u, via uri.URI, hops uri.HopPath, now time.Time) (t Trap, ok bool, err error) {
	return b.judge(newLink(u, via, hops), now)
}

func (b *Store) judge(l *link, now time.Time) (t Trap, ok bool, err error) {
	err = b.read(l.uri.Host(), func(s *state) { t, ok = s.trapOf(l, now) })
	return t, ok, err
}

// IsTrapped reports whether a URI is part of a trap that is more than suspected. It is kept out if that is not known.
func (b *Store) IsTrapped(u, via uri.URI, hops uri.HopPath, now time.Time) bool {
	t, ok, err := b.Judge(u, via, hops, now)
	return err != nil || ok && !t.Suspect
}

func (s *state) trapOf(l *link, now time.Time) (Trap, bool) {
	for i := range s.Traps {
		if s.Traps[i].matches(l, now) {
			return s.Traps[i], true
		}
	}
	t, ok := repeats(l.uri)
	released := func(o Trap) bool { return o.Kind == t.Kind && o.Pattern == t.Pattern && o.Released }
	if ok && slices.ContainsFunc(s.Traps, released) {
		return Trap{}, false
	}
	if !ok {
		t, ok = s.suspect(l, now)
	}
	if !ok {
		t, ok = s.growing(l, now)
	}
	return t, ok
}

// NoneSuspected reports whether no trap is known or suspected on a host. Then [Store.Judge] can find a URI in a
// trap only if [MayRepeat] does, so that thousands of links need not be judged one by one.
func (b *Store) NoneSuspected(h uri.Host) (none bool, err error) {
	err = b.read(h, func(s *state) {
		none = len(s.Traps) == 0 && !slices.ContainsFunc(s.Farms, func(f *farm) bool { return f.Since != 0 }) &&
			!slices.ContainsFunc(s.Families, func(f *family) bool { return f.Since != 0 })
	})
	return none, err
}

// MayRepeat reports whether a URI is a trap of the kind [Repeats] by itself, unless that trap was released on its host.
func MayRepeat(u uri.URI) bool {
	_, ok := repeats(u)
	return ok
}

// IsNotFound reports whether an answer is the page with which the host says "not found".
func (b *Store) IsNotFound(h uri.Host, answer digest.Digest) (shared bool, err error) {
	err = b.read(h, func(s *state) {
		if len(s.Traps) == 0 {
			return
		}
		key := answer.String()
		shared = slices.ContainsFunc(s.Traps, func(t Trap) bool {
			return t.Kind == SoftNotFound && t.Pattern == key && !t.Released
		})
	})
	return shared, err
}

// Learn adds a page or file. It returns the traps that are certain now, and the traps that it refutes, which are
// released.
func (b *Store) Learn(g Page) (found, refuted []Trap, err error) {
	f, twins := factsOf(g), twinFactsOf(g) // without the lock
	err = b.change(g.URI.Host(), func(s *state) (changed bool) {
		if g.HTML {
			found, refuted, changed = s.learn(g)
		}
		certain, wrong, judged := s.judge(g, f)
		twin, compared := s.learnTwins(g, twins)
		found, refuted = slices.Concat(found, certain, twin), append(refuted, wrong...)
		return changed || judged || compared
	})
	return found, refuted, b.flushed(err, found, refuted)
}

// AddListed records that a feed or sitemap lists URIs of a host, so that pages like them are real. It returns the traps
// that this refutes, which are released.
func (b *Store) AddListed(h uri.Host, now time.Time, us ...uri.URI) (refuted []Trap, err error) {
	own := slices.DeleteFunc(slices.Clone(us), func(u uri.URI) bool { return u.Host() != h })
	asking := slices.DeleteFunc(slices.Clone(own), func(u uri.URI) bool { return !hasArgs(u.RequestTarget()) })
	names := realParams(h, asking, 2, now)
	err = b.change(h, func(s *state) (changed bool) {
		for _, u := range own {
			if key, ok := shapeOf(u); ok {
				more, vouched := s.vouch(u, key)
				refuted, changed = append(refuted, more...), changed || vouched
			}
		}
		params, named := s.learnReal(names)
		patterns, listed := s.list(asking)
		twins, single := s.listTwins(asking, now)
		refuted = slices.Concat(refuted, params, patterns, twins)
		return changed || named || listed || single
	})
	return refuted, b.flushed(err, refuted)
}

// LearnShared records that two URIs of one host have the same answer with status 200. seed says that one of them is a
// seed. It returns the trap if that is certain now.
func (b *Store) LearnShared(
	answer digest.Digest, seed bool, now time.Time, u, other uri.URI,
) (found []Trap, err error) {
	err = b.change(u.Host(), func(s *state) bool {
		t, changed := s.share(answer, seed, u, other)
		if t != nil {
			t.Found = now
			found = s.addTrap(nil, *t)
		}
		return changed
	})
	return found, b.flushed(err, found)
}

// CountKeptOut counts URIs that were kept out because of a trap. It stores the trap if it is of the kind [Repeats],
// which the URIs alone show.
func (b *Store) CountKeptOut(t Trap, now time.Time, us ...uri.URI) error {
	var found []Trap
	err := b.change(us[0].Host(), func(s *state) bool {
		i := slices.IndexFunc(s.Traps, func(o Trap) bool { return o.Kind == t.Kind && o.Pattern == t.Pattern })
		if i < 0 {
			t.Found = now
			if found = s.addTrap(nil, t); len(found) == 0 {
				return false
			}
			i = len(s.Traps) - 1
		}
		held := &s.Traps[i]
		held.Kept += int64(len(us))
		for _, u := range us {
			if len(held.Examples) < maxExamples && !slices.Contains(held.Examples, u.String()) {
				held.Examples = append(slices.Clone(held.Examples), u.String())
			}
		}
		return true
	})
	return b.flushed(err, found)
}

// Naming returns base with the rules of the host's traps of session ids and parameters.
func (b *Store) Naming(h uri.Host, base *uri.Naming) *uri.Naming {
	_ = b.read(h, func(s *state) { base = s.naming(base) }) // after an error, the rules of the configuration apply
	return base
}

func (s *state) naming(base *uri.Naming) *uri.Naming {
	var own []uri.Rewrite
	var drop []string
	for _, t := range s.Traps {
		switch {
		case t.Released:
		case t.Kind == Session:
			own = append(own, uri.Rewrite{Match: t.match, To: "${1}-"})
		case t.Kind == Parameter && t.Rewrite() != "":
			own = append(own, uri.Rewrite{Match: t.match, To: "${1}"})
		case t.Kind == Parameter:
			drop = append(drop, strings.ReplaceAll(t.Parameter, "'", "*"))
		}
	}
	if len(own)+len(drop) == 0 {
		return base
	}
	n := uri.Naming{}
	if base != nil {
		n = *base
	}
	n.Drop = append(slices.Clone(n.Drop), drop...)
	n.Rewrite = append(slices.Clone(n.Rewrite), own...)
	return &n
}

// Get returns the traps of a host.
func (b *Store) Get(h uri.Host) (list []Trap, err error) {
	err = b.read(h, func(s *state) { list = slices.Clone(s.Traps) })
	return list, err
}

// ErrUnknown says that a host has no such trap.
var ErrUnknown = errors.New("no such trap")

// Release ends a trap permanently, or the budget of a pattern. For a budget it returns no trap.
func (b *Store) Release(h uri.Host, pattern string) (t *Trap, err error) {
	known := false
	err = b.change(h, func(s *state) bool {
		for i := range s.Traps {
			if s.Traps[i].Pattern == pattern {
				s.Traps[i].Released, known = true, true
				released := s.Traps[i]
				t = &released
			}
		}
		known = known || s.lift(pattern)
		return known
	})
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, fmt.Errorf("release %q on %s: %w", pattern, h, ErrUnknown)
	}
	return t, b.Flush()
}

// Each calls see with every host that has traps, in the order of their names. It ends with the first error of see.
func (b *Store) Each(see func(uri.Host, []Trap) error) error {
	return b.Rows.Each(nil, func(h uri.Host, s *state) error {
		if len(s.Traps) == 0 {
			return nil
		}
		return see(h, s.Traps)
	})
}

func encode(s *state) ([]byte, error) {
	if s == nil {
		s = new(state)
	}
	return hosts.EncodeRow(s)
}

func decode(v []byte, to **state) error {
	s := new(state)
	if err := hosts.DecodeRow(v, s); err != nil {
		return err
	}
	if what := s.invalid(); what != "" {
		return fmt.Errorf("%w: %s is incomplete", hosts.ErrCorrupt, what)
	}
	for i := range s.Traps {
		if err := s.Traps[i].compile(); err != nil {
			return err
		}
	}
	*to = s
	return nil
}

// invalid returns what is not within its bounds in a stored state; "" if all is.
func (s *state) invalid() string {
	switch {
	case slices.ContainsFunc(s.Farms, func(f *farm) bool {
		return f == nil || !f.Links.IsValid() || len(f.Named) > maxFarmNamed || f.Misses < 0 || f.Misses > maxMisses
	}):
		return "a farm"
	case slices.ContainsFunc(s.Families, func(f *family) bool {
		return f == nil || !f.Links.IsValid() || !f.Members.IsValid() || f.Misses < 0 || f.Misses > maxMisses
	}):
		return "a family"
	case slices.ContainsFunc(s.Params, func(p *param) bool { return p == nil || len(p.Rests) > maxRests }):
		return "a parameter"
	case slices.ContainsFunc(s.Spaces, func(p *space) bool { return p == nil || !p.isValid() }):
		return "a pattern"
	case slices.ContainsFunc(s.Twins, func(t *twin) bool { return t == nil || !t.isValid() }):
		return "a twin"
	}
	return ""
}

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
