package spaces

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/hosts/rows"
	"github.com/arcrawl/arcrawl/uri"
)

// Page is a visit whose content was read because it is new or has changed.
type Page struct {
	URI, Via uri.URI // Via is zero for a seed
	// Hops is the path on which it was found; empty for a seed.
	Hops  uri.HopPath
	First bool // the first visit of the URI
	HTML  bool
	Links []Link // all URIs that the page names, in scope or not
	// Content is the beginning of the content if [Wants] asks for it, otherwise nil.
	Content []byte
	Now     time.Time
}

// Link is a URI that a page names.
type Link struct {
	URI   uri.URI
	Page  bool // it is linked, and not embedded
	Known bool // the crawl knows it already; only needed if [Inside] says so
}

// MaxContent is the number of bytes of a content that are compared.
const MaxContent = 256 << 10

// Wants reports whether [Store.Learn] needs the content of a URI.
func Wants(u uri.URI) bool { return hasArgs(u.RequestTarget()) }

// Inside reports whether a page was found on a page of the same script.
func Inside(u, via uri.URI) bool { return isInside(u, via) }

// Finding is something that has become certain about a host: a parameter that says nothing, or a query space.
type Finding struct {
	Host      uri.Host
	Authority string // host and port
	Parameter string // the name of a parameter; empty if Pattern is set
	Pattern   string // path and names of parameters of a query space
	Why       string
	Examples  []string
	Visited   int
	Refuted   bool // it was certain, and is wrong
}

// state holds the parameters and patterns of a host. It is the stored form too: keys are only ever added.
type state struct {
	Ticks  int64    `cbor:"1,keyasint,omitempty"` // visits that were learned
	Params []*param `cbor:"2,keyasint,omitempty"`
	Spaces []*space `cbor:"3,keyasint,omitempty"`
}

// Bounds of the hosts in memory.
const (
	maxHosts = 1000
	rowBytes = 72 << 10
	portion  = 8 // rows in one transaction
	prefix   = "pQ"
	format   = 1
)

// Store keeps the parameters and patterns of all hosts. It is safe for concurrent use. It needs no closing except a
// last [Store.Flush], and must not be used after the Badger store is closed.
type Store struct {
	rows *rows.Store[uri.Host, *state]
}

// Open returns a store in db.
func Open(db *badger.DB) (*Store, error) {
	s, err := rows.New(db, rows.Kind[uri.Host, *state]{
		Name: "record of parameters", Prefix: prefix, MaxInMemory: maxHosts, RowBytes: rowBytes, Portion: portion,
		Own: uri.Host.Clone,
		Key: func(h uri.Host) []byte { return []byte(prefix + string(h)) },
		ParseKey: func(k []byte) (uri.Host, bool) {
			h, ok := strings.CutPrefix(string(k), prefix)
			return uri.Host(h), ok
		},
		Encode: encode, Decode: decode,
	})
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

// facts holds what a page says, computed before the lock is taken.
type facts struct {
	own       string // its pattern; empty if it has no parameters
	key       string // the same if it is the first visit of a page inside
	self      uint32
	sightings []sighting
	content   uint64
	real      []string
	texts     []uint64
	inside    []uint64 // links to pages of its pattern
	outside   []outside
	named     []named
	values    []uint32 // sums of the parameters that are no plain numbers
}

// outside is a link that leads out of the pattern of a page.
type outside struct {
	sum   uint64
	known bool
}

// named is a link to a page with parameters.
type named struct {
	key    string
	sum    uint32
	inside bool // the page that names it is of the same script
}

// factsOf computes what a page says.
func factsOf(g Page) facts {
	f := facts{self: uint32(sumOf(g.URI.RequestTarget()))}
	f.own, _ = keyOf(g.URI.RequestTarget())
	if g.Content != nil {
		if f.sightings = sightings(g.URI, g.HTML, g.Now); len(f.sightings) > 0 {
			f.content = contentSum(g)
		}
	}
	if !g.HTML {
		return f
	}
	var linked []uri.URI
	for _, l := range g.Links {
		if l.Page && l.URI.Host() == g.URI.Host() && hasArgs(l.URI.RequestTarget()) {
			linked = append(linked, l.URI)
		}
	}
	f.real = realParams(g.URI.Host(), linked, listed, g.Now)
	if g.First && isInside(g.URI, g.Via) {
		f.key = f.own
		_, own, _ := args(g.URI.RequestTarget())
		f.texts, f.values = shingles(g.Content, own), wordsOf(own)
	}
	for _, l := range g.Links {
		f.link(g, l)
	}
	return f
}

// saysNothing reports whether a page adds nothing to a host of which nothing is stored.
func (f facts) saysNothing() bool {
	return len(f.sightings)+len(f.real) == 0 && f.key == "" &&
		!slices.ContainsFunc(f.named, func(l named) bool { return l.inside })
}

// contentSum returns the sum of a content. Links and forms of a page have generated values too, which do not count.
func contentSum(g Page) uint64 {
	if g.HTML {
		return sumWithoutGenerated(g.Content, g.Now)
	}
	return sumOf(string(g.Content)) | 1
}

// link adds one link of a page.
func (f *facts) link(g Page, l Link) {
	u := l.URI
	if u == g.URI || u == g.Via {
		return
	}
	key, ok := "", false
	if l.Page && u.Host() == g.URI.Host() {
		key, ok = keyOf(u.RequestTarget())
	}
	if ok {
		f.named = append(f.named, named{key, uint32(sumOf(u.RequestTarget())), areOneScript(key, f.own)})
	}
	switch {
	case f.key == "":
	case key == f.key:
		f.inside = append(f.inside, sumOf(u.RequestTarget()))
	default:
		f.outside = append(f.outside, outside{linkSum(u, g.Now), l.Known})
	}
}

// Learn adds a visit. It returns what is certain now, and what it refutes.
func (b *Store) Learn(g Page) (found []Finding, err error) {
	f := factsOf(g)
	err = b.rows.Change(g.URI.Host(), func(s *state) (*state, bool) {
		if s == nil && f.saysNothing() {
			return s, false
		}
		if s == nil {
			s = new(state)
		}
		s.Ticks++
		for _, at := range f.sightings {
			if is, ok := s.learnParam(g, at, f.content); ok {
				found = append(found, is)
			}
		}
		refuted, _ := s.learnReal(g.URI.Host(), f.real)
		found = append(found, refuted...)
		s.nameAll(f)
		if f.key != "" {
			if is, ok := s.visit(g, f); ok {
				found = append(found, is)
			}
		}
		return s, len(s.Params)+len(s.Spaces) > 0
	})
	return found, err
}

// AddListed records that a feed or sitemap lists URIs of a host. It returns what that refutes.
func (b *Store) AddListed(h uri.Host, now time.Time, us ...uri.URI) (found []Finding, err error) {
	of := us[:0:0]
	for _, u := range us {
		if u.Host() == h && hasArgs(u.RequestTarget()) {
			of = append(of, u)
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	names := realParams(h, of, 2, now)
	err = b.rows.Change(h, func(s *state) (*state, bool) {
		if s == nil {
			s = new(state)
		}
		params, changed := s.learnReal(h, names)
		patterns, is := s.list(h, of[0].Authority(), of)
		found = append(params, patterns...)
		return s, changed || is
	})
	return found, err
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
	err = b.rows.Change(u.Host(), func(s *state) (*state, bool) {
		if s == nil {
			return s, false
		}
		of, is := s.holds(key, w)
		if held = is; !is {
			return s, count && of != nil && !w.First && of.admit(w.Now)
		}
		p, wait = of.pattern(s), of.wait()
		return s, count && of.putOff(w)
	})
	return p, wait, held, err
}

func (p *space) pattern(s *state) Pattern {
	return Pattern{p.Key, p.Visits, p.Rich, s.allowance(p), p.Held, p.Examples}
}

// Patterns returns the patterns of a host that have put off a URI for lack of budget, and are no query space.
func (b *Store) Patterns(h uri.Host) (list []Pattern, err error) {
	err = b.rows.Change(h, func(s *state) (*state, bool) {
		if s != nil {
			list = s.patterns()
		}
		return s, false
	})
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

// Each calls see with every host that has such patterns, in the order of their names. It ends with the first error of
// see.
func (b *Store) Each(see func(uri.Host, []Pattern) error) error {
	return b.rows.Each(nil, func(h uri.Host, s *state) error {
		if list := s.patterns(); len(list) > 0 {
			return see(h, list)
		}
		return nil
	})
}

// Lift ends the budget of a pattern, because a curator says that its pages are real. It reports false if the host has
// no such pattern.
func (b *Store) Lift(h uri.Host, key string) (lifted bool, err error) {
	err = b.rows.Change(h, func(s *state) (*state, bool) {
		if s == nil {
			return s, false
		}
		for _, p := range s.Spaces {
			if p.Key == key && key != others {
				p.Listed, p.Held, lifted = true, 0, true
			}
		}
		return s, lifted
	})
	return lifted, err
}

// Flush writes what was learned. If it fails, the next Flush writes it.
func (b *Store) Flush() error { return b.rows.Flush() }

// OnDamage makes the store report each damaged row once, and replace it by an empty one. It must be called before the
// store is used.
func (b *Store) OnDamage(report func(error)) { b.rows.OnDamage(report) }

// Bytes returns how much memory the hosts take at most.
func (b *Store) Bytes() int64 { return b.rows.Bytes() }

func encode(s *state) ([]byte, error) {
	v, err := cbor.Marshal(s)
	return append([]byte{format}, v...), err
}

func decode(v []byte, to **state) error {
	if len(v) == 0 || v[0] != format {
		return fmt.Errorf("%w: format %x, want %x", rows.ErrCorrupt, v[:min(1, len(v))], format)
	}
	s := new(state)
	if err := cbor.Unmarshal(v[1:], s); err != nil {
		return fmt.Errorf("%w: %w", rows.ErrCorrupt, err)
	}
	for _, p := range s.Params {
		if p == nil || len(p.Rests) > maxRests {
			return fmt.Errorf("%w: a parameter is incomplete", rows.ErrCorrupt)
		}
	}
	for _, p := range s.Spaces {
		if p == nil || !p.isValid() {
			return fmt.Errorf("%w: a pattern is incomplete", rows.ErrCorrupt)
		}
	}
	*to = s
	return nil
}
