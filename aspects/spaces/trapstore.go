package spaces

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// prefix is the beginning of each key; the rest is the host. format is the first byte of each value; another format is
// an error.
const (
	trapPrefix = "pt"
	trapFormat = 1
)

// maxHosts and maxBytes bound the hosts that are kept in memory. The size of a host is estimated from its stored form.
const (
	maxTrapHosts = 5_000
	maxBytes     = 64 << 20
	perStored    = 3   // bytes in memory for each stored byte
	perHost      = 500 // bytes in memory for each host in addition
)

// SuspectWait is how long a URI waits that is part of a suspected trap.
const SuspectWait = time.Hour

// ErrCorrupt says that a row was changed since it was written.
var ErrCorrupt = errors.New("traps are damaged")

// TrapStore holds the traps of all hosts in an open database. It is safe for concurrent use.
type TrapStore struct {
	db      *badger.DB
	damaged func(error) // see OnDamage; nil = damaged rows stay

	mu    sync.Mutex // guards the fields below; not held while the database is used
	hosts map[uri.Host]*host
	bytes int64 // estimated size of hosts
}

// host is a host in memory. Its lock is held while the database is read or written for it, so that a slow disk delays
// only the visits of this host.
type host struct {
	users int   // goroutines that use it; guarded by the mu of the Store
	bytes int64 // estimated size; guarded by the mu of the Store

	mu    sync.Mutex // guards state and what it points to
	state *trapState // nil until it is read, and after a failed write
}

// OpenTraps returns the traps in a database.
func OpenTraps(db *badger.DB) (*TrapStore, error) {
	if db == nil {
		return nil, errors.New("open the store of traps: no database")
	}
	return &TrapStore{db: db, hosts: map[uri.Host]*host{}}, nil
}

// OnDamage makes the store report each damaged row once, and delete it. The traps of that host are learned again. It
// must be called before the store is used.
func (b *TrapStore) OnDamage(report func(error)) { b.damaged = report }

// Judge returns the trap that a URI is part of. The URI was found on the page via, by the path hops. Judge reports
// false if the URI is not part of a trap. If the trap is only suspected, see [Trap.Suspect], judge the URI again
// after [SuspectWait].
func (b *TrapStore) Judge(u, via uri.URI, hops uri.HopPath, now time.Time) (t Trap, ok bool, err error) {
	of, err := b.of(u.Host())
	if err != nil {
		return Trap{}, false, err
	}
	defer b.done(of)
	s := of.state
	text, target := u.String(), u.RequestTarget()
	for i := range s.traps {
		if s.traps[i].matches(text, target, via, hops, now) {
			return s.traps[i], true, nil
		}
	}
	t, ok = repeats(u)
	released := func(o Trap) bool { return o.Kind == t.Kind && o.Pattern == t.Pattern && o.Released }
	if ok && slices.ContainsFunc(s.traps, released) {
		return Trap{}, false, nil
	}
	if !ok {
		t, ok = s.suspect(u, via, hops, now)
	}
	if !ok {
		t, ok = s.growing(u, via, hops, now)
	}
	return t, ok, nil
}

// NoneSuspected reports whether no trap is known or suspected on a host. Then [TrapStore.Judge] can find a URI in a
// trap only if [MayRepeat] does, so that thousands of links need not be judged one by one.
func (b *TrapStore) NoneSuspected(h uri.Host) (bool, error) {
	of, err := b.of(h)
	if err != nil {
		return false, err
	}
	defer b.done(of)
	s := of.state
	return len(s.traps) == 0 && !slices.ContainsFunc(s.farms, func(f *farm) bool { return f.Since != 0 }) &&
		!slices.ContainsFunc(s.families, func(f *family) bool { return f.Since != 0 }), nil
}

// MayRepeat reports whether a URI is a trap of the kind [Repeats] by itself, unless that trap was released on its host.
func MayRepeat(u uri.URI) bool {
	_, ok := repeated(u.Path())
	return ok
}

// IsNotFound reports whether an answer is the page with which the host says "not found".
func (b *TrapStore) IsNotFound(h uri.Host, answer digest.Digest) (bool, error) {
	of, err := b.of(h)
	if err != nil {
		return false, err
	}
	defer b.done(of)
	s := of.state
	if len(s.traps) == 0 {
		return false, nil
	}
	key := answer.String()
	return slices.ContainsFunc(s.traps, func(t Trap) bool {
		return t.Kind == SoftNotFound && t.Pattern == key && !t.Released
	}), nil
}

// Learn adds a page. It returns the traps that are certain now, and the traps that the page refutes, which are
// released.
func (b *TrapStore) Learn(g TrapPage) (found, refuted []Trap, err error) {
	err = b.change(g.URI.Host(), func(s *trapState) (changed bool) {
		found, refuted, changed = s.learn(g)
		return changed
	})
	return found, refuted, err
}

// AddListed records that a feed or sitemap lists URIs, so that pages like them are not a link farm. It returns the
// traps that this refutes, which are released.
func (b *TrapStore) AddListed(h uri.Host, us ...uri.URI) (refuted []Trap, err error) {
	err = b.change(h, func(s *trapState) (changed bool) {
		for _, u := range us {
			if key, ok := shapeOf(u); ok && u.Host() == h {
				more, is := s.vouch(u, key)
				refuted, changed = append(refuted, more...), changed || is
			}
		}
		return changed
	})
	return refuted, err
}

// LearnShared records that two URIs of one host have the same answer with status 200. seed says that one of them is a
// seed. It returns the trap if that is certain now.
func (b *TrapStore) LearnShared(answer digest.Digest, seed bool, now time.Time, a, other uri.URI) ([]Trap, error) {
	var found []Trap
	err := b.change(a.Host(), func(s *trapState) bool {
		t, changed := s.share(answer, seed, a, other)
		if t != nil {
			t.Found = now
			if s.addTrap(*t) {
				found = append(found, *t)
			}
		}
		return changed
	})
	return found, err
}

// CountKeptOut counts URIs that were kept out because of a trap. It stores the trap if it is of the kind [Repeats],
// which the URIs alone show. It returns how many URIs were kept out before.
func (b *TrapStore) CountKeptOut(t Trap, now time.Time, us ...uri.URI) (before int64, err error) {
	if len(us) == 0 {
		return 0, nil
	}
	err = b.change(us[0].Host(), func(s *trapState) bool {
		i := slices.IndexFunc(s.traps, func(o Trap) bool { return o.Kind == t.Kind && o.Pattern == t.Pattern })
		if i < 0 {
			t.Found = now
			if !s.addTrap(t) {
				return false
			}
			i = len(s.traps) - 1
		}
		held := &s.traps[i]
		before = held.Kept
		held.Kept += int64(len(us))
		for _, u := range us {
			if len(held.Examples) < maxExamples && !slices.Contains(held.Examples, u.String()) {
				held.Examples = append(slices.Clone(held.Examples), u.String())
			}
		}
		return true
	})
	return before, err
}

// Naming returns base with the rules of the host's traps of session ids and parameters.
func (b *TrapStore) Naming(h uri.Host, base *uri.Naming) *uri.Naming {
	of, err := b.of(h)
	if err != nil {
		return base
	}
	defer b.done(of)
	s := of.state
	var own []uri.Rewrite
	var drop []string
	for _, t := range s.traps {
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
func (b *TrapStore) Get(h uri.Host) ([]Trap, error) {
	of, err := b.of(h)
	if err != nil {
		return nil, err
	}
	defer b.done(of)
	s := of.state
	return slices.Clone(s.traps), nil
}

// ErrUnknown says that a host has no such trap.
var ErrUnknown = errors.New("no such trap")

// Release ends a trap permanently.
func (b *TrapStore) Release(h uri.Host, pattern string) (t Trap, err error) {
	known := false
	err = b.change(h, func(s *trapState) bool {
		for i := range s.traps {
			if s.traps[i].Pattern == pattern {
				s.traps[i].Released, known = true, true
				t = s.traps[i]
			}
		}
		return known
	})
	if err == nil && !known {
		err = fmt.Errorf("release %q on %s: %w", pattern, h, ErrUnknown)
	}
	return t, err
}

// Each calls see with every host that has traps, in the order of their names. It ends with the first error of see. Each
// reads the store as it is at the beginning, and blocks no other call.
func (b *TrapStore) Each(see func(uri.Host, []Trap) error) error {
	return b.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix = []byte(trapPrefix)
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			host := uri.Host(it.Item().Key()[len(trapPrefix):])
			s := new(trapState)
			err := it.Item().Value(s.decode)
			if err != nil && !errors.Is(err, ErrCorrupt) {
				return fmt.Errorf("read the traps of %s: %w", host, err)
			}
			if err != nil || len(s.traps) == 0 { // damaged traps are learned again when the host is next visited
				continue
			}
			if err := see(host, s.traps); err != nil {
				return err
			}
		}
		return nil
	})
}

// of returns a host with its state, under the lock of that host. The caller calls done when it is finished with it.
func (b *TrapStore) of(h uri.Host) (*host, error) {
	e := b.use(h)
	e.mu.Lock()
	if e.state == nil {
		size, err := b.load(h, e)
		if err != nil {
			b.done(e)
			return nil, err
		}
		b.resize(e, size)
	}
	return e, nil
}

// done ends the use of a host that [TrapStore.of] returned.
func (b *TrapStore) done(e *host) {
	e.mu.Unlock()
	b.release(e)
}

// load reads the state of a host from the database. It returns the size of the stored form. The lock of e is held.
func (b *TrapStore) load(h uri.Host, e *host) (size int, err error) {
	s := new(trapState)
	err = b.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(trapPrefix + string(h)))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return item.Value(func(v []byte) error {
			size = len(v)
			return s.decode(v)
		})
	})
	if errors.Is(err, ErrCorrupt) {
		if b.damaged != nil {
			b.damaged(fmt.Errorf("look up the traps of %s: %w", h, err))
			err = b.db.Update(func(txn *badger.Txn) error { return txn.Delete([]byte(trapPrefix + string(h))) })
		} else {
			err = nil
		}
		s, size = new(trapState), 0
	}
	if err != nil {
		return 0, fmt.Errorf("look up the traps of %s: %w", h, err)
	}
	e.state = s
	return size, nil
}

// use returns a host in memory, and keeps it there until [TrapStore.release]. If memory is full, all hosts that nobody
// uses are dropped from it.
func (b *TrapStore) use(h uri.Host) *host {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.hosts[h]
	if e == nil {
		if len(b.hosts) >= maxTrapHosts || b.bytes >= maxBytes {
			maps.DeleteFunc(b.hosts, func(_ uri.Host, o *host) bool {
				if o.users == 0 {
					b.bytes -= o.bytes
				}
				return o.users == 0
			})
		}
		e = &host{bytes: perHost}
		b.bytes += e.bytes
		b.hosts[h.Clone()] = e // h may be a part of a long URI
	}
	e.users++
	return e
}

func (b *TrapStore) release(e *host) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.users--
}

// resize sets the size of a host in memory by the size of its stored form.
func (b *TrapStore) resize(e *host, stored int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	size := int64(perHost + perStored*stored)
	b.bytes += size - e.bytes
	e.bytes = size
}

// Bytes returns how much memory the hosts take, estimated from their stored form.
func (b *TrapStore) Bytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}

// change changes the state of a host and stores it. If that fails, the state is read again when it is next needed.
func (b *TrapStore) change(h uri.Host, do func(*trapState) bool) error {
	e, err := b.of(h)
	if err != nil {
		return err
	}
	defer b.done(e)
	if !do(e.state) {
		return nil
	}
	v, err := e.state.encode()
	if err == nil {
		err = b.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(trapPrefix+string(h)), v) })
	}
	if err != nil {
		e.state = nil
		return fmt.Errorf("store the traps of %s: %w", h, err)
	}
	b.resize(e, len(v))
	return nil
}

// row is the stored form of a host: CBOR maps with integer keys. Keys are only ever added.
type row struct {
	Visits   int64     `cbor:"1,keyasint,omitempty"`
	Families []*family `cbor:"2,keyasint,omitempty"`
	Traps    []trapRow `cbor:"3,keyasint,omitempty"`
	Shared   []shared  `cbor:"4,keyasint,omitempty"`
	Farms    []*farm   `cbor:"5,keyasint,omitempty"`
	Vouched  []uint32  `cbor:"6,keyasint,omitempty"`
}

type trapRow struct {
	Kind     Kind     `cbor:"1,keyasint"`
	Pattern  string   `cbor:"2,keyasint"`
	Why      string   `cbor:"3,keyasint,omitempty"`
	Examples []string `cbor:"4,keyasint,omitempty"`
	Found    int64    `cbor:"5,keyasint,omitempty"` // µs since 1970
	Visited  int      `cbor:"6,keyasint,omitempty"`
	Kept     int64    `cbor:"7,keyasint,omitempty"`
	Released bool     `cbor:"8,keyasint,omitempty"`
	From     int      `cbor:"9,keyasint,omitempty"`
	To       int      `cbor:"10,keyasint,omitempty"`
	Param    string   `cbor:"11,keyasint,omitempty"`
	Space    string   `cbor:"12,keyasint,omitempty"`
}

func (s *trapState) encode() ([]byte, error) {
	w := row{Visits: s.visits, Families: s.families, Shared: s.shared, Farms: s.farms, Vouched: s.vouched}
	for _, t := range s.traps {
		w.Traps = append(w.Traps, trapRow{
			t.Kind, t.Pattern, t.Why, t.Examples, t.Found.UnixMicro(), t.Visited, t.Kept, t.Released, t.From, t.To,
			t.Parameter, t.Space,
		})
	}
	v, err := cbor.Marshal(w)
	return append([]byte{trapFormat}, v...), err
}

func (s *trapState) decode(v []byte) error {
	if len(v) == 0 || v[0] != trapFormat {
		return fmt.Errorf("%w: format %x, want %x", ErrCorrupt, v[:min(1, len(v))], trapFormat)
	}
	var w row
	if err := cbor.Unmarshal(v[1:], &w); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	s.visits, s.families, s.shared, s.farms, s.vouched = w.Visits, w.Families, w.Shared, w.Farms, w.Vouched
	for _, f := range s.farms {
		if f == nil || !f.Links.IsValid() || len(f.Named) > maxFarmNamed || f.Misses < 0 || f.Misses > maxMisses {
			return fmt.Errorf("%w: a farm is incomplete", ErrCorrupt)
		}
	}
	for _, f := range s.families {
		if f == nil || !f.Links.IsValid() || !f.Members.IsValid() || f.Misses < 0 || f.Misses > maxMisses {
			return fmt.Errorf("%w: a family is incomplete", ErrCorrupt)
		}
	}
	for _, r := range w.Traps {
		t := Trap{
			Kind: r.Kind, Pattern: r.Pattern, Why: r.Why, Examples: r.Examples, Found: time.UnixMicro(r.Found).UTC(),
			Visited: r.Visited, Kept: r.Kept, Released: r.Released, From: r.From, To: r.To,
			Parameter: r.Param, Space: r.Space,
		}
		if err := t.compile(); err != nil {
			return err
		}
		s.traps = append(s.traps, t)
	}
	return nil
}
