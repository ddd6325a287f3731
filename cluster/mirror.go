package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// markKey is the key that a mirror writes to find out that it was notified of all earlier changes. It is not shipped.
const markKey = "mmirror"

// badgerPrefix is the prefix of the store's own keys.
const badgerPrefix = "!badger!"

// mirror collects the keys that change in a store. Make one with newMirror, and call run before anything changes that
// it must not miss.
//
// A mirror is notified of each change by the store itself, whichever package made it. It keeps only the keys. The
// values are read when they are shipped, in one view of the store. So a shipment is a whole state of the store: the
// copy has all of a transaction or nothing of it.
//
// A change costs the visit nothing but its place in a channel. Without a mirror the store notifies nobody.
type mirror struct {
	db   *badger.DB
	home home
	max  int // keys that are kept

	marks uint64 // the last mark that was written; only awaitAll uses it

	mu      sync.Mutex        // guards the fields below
	changed map[string]uint64 // keys that were not shipped yet, with the version of their last change
	gone    map[string]bool   // of these, the deleted ones
	lost    uint64            // the last version among the keys that did not fit into changed; 0 = none
	missing int               // number of the keys that did not fit
	base    uint64            // the copy has all changes up to this version
	seen    uint64            // the last mark of which the mirror was notified
	arrived chan struct{}     // is closed when seen grows
}

// newMirror returns a mirror of a store. It keeps at most maxKeys changed keys, and all deleted ones. If more have
// changed, the next shipment looks for the others in the store.
func newMirror(f *frontier.Frontier, of home, maxKeys int) *mirror {
	return &mirror{
		db: f.Follow(), home: of, changed: map[string]uint64{}, gone: map[string]bool{}, max: maxKeys,
		arrived: make(chan struct{}),
	}
}

// home says where the rows of a store belong. ours is false if they are not shipped.
type home struct {
	part func(uri.Host) (part int16, ours bool) // that a host belongs to
	own  int16                                  // stands for the parts of this store, for rows that are about no host
}

// run collects the keys of changes until ctx ends or the store is closed.
func (m *mirror) run(ctx context.Context) error {
	var all []pb.Match
	for b := range 256 {
		if prefix := []byte{byte(b)}; !frontier.IsDerived(prefix) && prefix[0] != badgerPrefix[0] {
			all = append(all, pb.Match{Prefix: prefix})
		}
	}
	err := m.db.Subscribe(ctx, func(list *badger.KVList) error { m.collect(list); return nil }, all)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// collect notes the keys of some changes.
func (m *mirror) collect(list *badger.KVList) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, kv := range list.GetKv() {
		if meta := kv.GetMeta(); len(meta) == 1 && frontier.IsAdopted(meta[0]) {
			continue
		}
		if string(kv.GetKey()) == markKey {
			m.seen = max(m.seen, binary.BigEndian.Uint64(kv.GetValue()))
			close(m.arrived)
			m.arrived = make(chan struct{})
			continue
		}
		m.note(kv.GetKey(), kv.GetVersion(), len(kv.GetValue()) == 0)
	}
}

// note notes the key of a change. The caller holds the lock. gone says that the key may have been deleted. Payloads
// that the store does not keep stay in the database, and so do letters.
func (m *mirror) note(key []byte, version uint64, gone bool) {
	if !isShipped(key) || gone && tableOf(key) != shared.OfPart {
		return
	}
	k := string(key)
	m.changed[k] = max(version, m.changed[k])
	if gone {
		m.gone[k] = true
	} else {
		delete(m.gone, k)
	}
	if len(m.changed)-len(m.gone) > m.max {
		m.forget()
	}
}

// forget removes the keys that can be found in the store again. Deleted ones cannot: the store may have removed every
// trace of them when it merged its tables.
func (m *mirror) forget() {
	maps.DeleteFunc(m.changed, func(k string, version uint64) bool {
		if m.gone[k] {
			return false
		}
		m.lost = max(m.lost, version)
		m.missing++
		return true
	})
}

// markEvery is the time between two marks that a mirror writes until it is notified of one.
const markEvery = 50 * time.Millisecond

// awaitAll waits until the mirror was notified of all changes that were committed before the call. It writes marks
// until it is notified of one: the store may not notify it yet.
func (m *mirror) awaitAll(ctx context.Context) error {
	again := time.NewTicker(markEvery)
	defer again.Stop()
	first := m.marks + 1
	for isDue := true; ; {
		if isDue {
			if err := m.mark(); err != nil {
				return err
			}
		}
		m.mu.Lock()
		done, arrived := m.seen >= first, m.arrived
		m.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-arrived:
			isDue = false
		case <-again.C:
			isDue = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mark writes a mark.
func (m *mirror) mark() error {
	m.marks++
	return m.db.Update(func(txn *badger.Txn) error {
		return txn.Set([]byte(markKey), binary.BigEndian.AppendUint64(nil, m.marks))
	})
}

// since adds the changes after a version, which the copy has.
func (m *mirror) since(version uint64) error {
	m.mu.Lock()
	m.base = version
	m.mu.Unlock()
	txn := m.db.NewTransaction(false)
	defer txn.Discard()
	return eachSince(txn, version, func(item *badger.Item) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		k := item.Key()
		m.note(k, item.Version(), item.IsDeletedOrExpired() || m.gone[string(k)]) // newest first
		return nil
	})
}

// eachSince calls f with all versions of the shipped keys after a version, deletions too, the newest first. What was
// adopted is in the copy, and has replaced what was before.
func eachSince(txn *badger.Txn, version uint64, f func(*badger.Item) error) error {
	o := badger.DefaultIteratorOptions
	o.AllVersions, o.PrefetchValues, o.SinceTs = true, false, version
	it := txn.NewIterator(o)
	defer it.Close()
	var adopted []byte
	for it.Rewind(); it.Valid(); it.Next() {
		k := it.Item().Key()
		if frontier.IsAdopted(it.Item().UserMeta()) {
			adopted = append(adopted[:0], k...)
		}
		if !isShipped(k) || bytes.Equal(k, adopted) {
			continue
		}
		if err := f(it.Item()); err != nil {
			return err
		}
	}
	return nil
}

// isShipped reports whether a copy of the store has a key.
func isShipped(k []byte) bool {
	return !frontier.IsDerived(k) && string(k) != markKey && !bytes.HasPrefix(k, []byte(badgerPrefix)) &&
		dedup.KindOf(k) != dedup.Cached
}

// isOfStore reports whether a row is about no host, and needed by this node if it loses its store.
func isOfStore(k []byte) bool { return dedup.IsRow(k) || frontier.IsWhole(k) }

// tableOf returns the table that has a row.
func tableOf(k []byte) shared.Table {
	if bytes.HasPrefix(k, []byte(letterPrefix)) {
		return shared.Letters
	}
	switch dedup.KindOf(k) {
	case dedup.Entry:
		return shared.Payload
	case dedup.Count:
		return shared.Greatest
	}
	return shared.OfPart
}

// shipment holds what has changed and was not shipped yet, as it is at one moment. The rows are read when they are
// needed. Close it.
type shipment struct {
	version uint64   // of the last change that is in it
	rows    int      // about how many
	letters []letter // that are in it, since each has returned

	txn   *badger.Txn
	home  home
	keys  []string
	scan  bool   // there are changes after since whose keys are not in keys
	since uint64 // the copy has all changes up to this version
}

// close ends the view of the store.
func (s *shipment) close() { s.txn.Discard() }

// shipment returns what has changed and was not shipped yet. Call shipped when it is stored elsewhere. It is
// not safe for concurrent use with itself and shipped.
func (m *mirror) shipment(ctx context.Context) (*shipment, error) {
	s := &shipment{txn: m.db.NewTransaction(false), home: m.home}
	s.version = s.txn.ReadTs()
	// All changes up to this version precede the mark, so the mirror knows their keys then. It may know later ones too;
	// these have their older values in this view, and stay in the list.
	if err := m.awaitAll(ctx); err != nil {
		s.close()
		return nil, fmt.Errorf("collect the changes of the store: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.scan, s.since = m.lost > m.base, m.base
	s.rows, s.keys = m.count(), slices.Sorted(maps.Keys(m.changed))
	return s, nil
}

// The maximum size of a portion of rows.
const (
	portionRows  = 2_000 // a statement, which the database may not execute for long
	portionBytes = 4 << 20
)

// portions collects rows, and passes them on in portions. No key of a table is in a portion twice.
type portions struct {
	txn   *badger.Txn
	home  home
	names map[uint32]uri.Host // of hosts, by their numbers
	ship  func([]shared.Row) error
	rows  []shared.Row
	bytes int

	letters []letter // that were added
}

// add adds a row to the tables that have it, under keys that are the same in all stores.
func (p *portions) add(r shared.Row) error {
	if h, ok := frontier.NamedHost(r.Key); ok && r.Gone {
		return p.addEvicted(h)
	}
	if r.Of = tableOf(r.Key); r.Of != shared.OfPart && r.Gone {
		return nil
	}
	switch r.Of {
	case shared.Letters:
		l := letter{r.Key, r.Value}
		var ok bool
		if r, ok = letterRow(l.key, l.value); !ok {
			return nil
		}
		p.letters = append(p.letters, l)
	case shared.OfPart:
		var ours bool
		var err error
		if r.Part, r.Key, ours, err = p.place(r.Key, r.Value); err != nil {
			return unread(err)
		}
		if !ours {
			return nil
		}
	default:
		v, err := dedup.Portable(p.txn, r.Key, r.Value)
		if errors.Is(err, dedup.ErrCorrupt) {
			return nil // the payload is archived again
		}
		if r.Value = v; err != nil {
			return unread(err)
		}
	}
	if dedup.KindOf(r.Key) == dedup.SharedLoss {
		other := r
		other.Of = shared.Payload
		p.rows = append(p.rows, other)
	}
	return p.append(r)
}

// place returns the part of a row and its key there. ours is false if the row stays in this store.
func (p *portions) place(key, value []byte) (part int16, portable []byte, ours bool, err error) {
	if isOfStore(key) {
		return p.home.own, key, true, nil
	}
	h, portable, ok := frontier.Portable(key, value, func(n uint32) (name uri.Host) {
		if name, err = p.names[n], nil; name == "" {
			name, err = frontier.HostAt(p.txn, n)
			p.names[n] = name
		}
		return name
	})
	if !ok && err == nil && !frontier.IsKnown(key) {
		err = fmt.Errorf("key %q is of a kind that is not known to belong to a host", key)
	}
	if !ok || err != nil {
		return 0, nil, false, err
	}
	part, ours = p.home.part(h)
	return part, portable, ours, nil
}

// addEvicted adds that a host has no number any more: its rows are gone, also those that had its number.
func (p *portions) addEvicted(h uri.Host) error {
	part, ours := p.home.part(h)
	if !ours {
		return nil
	}
	for _, prefix := range frontier.PortableRows(h) {
		if err := p.append(shared.Row{Part: part, Key: prefix, Gone: true, Begins: true}); err != nil {
			return err
		}
	}
	return nil
}

func (p *portions) append(r shared.Row) error {
	p.rows, p.bytes = append(p.rows, r), p.bytes+len(r.Key)+len(r.Value)
	if len(p.rows) < portionRows && p.bytes < portionBytes {
		return nil
	}
	return p.flush()
}

func (p *portions) flush() error {
	if len(p.rows) == 0 {
		return nil
	}
	rows := p.rows
	p.rows, p.bytes = nil, 0
	return p.ship(rows)
}

// each calls ship with the rows, in portions. It may be called again.
func (s *shipment) each(ship func(rows []shared.Row) error) error {
	p := portions{txn: s.txn, home: s.home, names: map[uint32]uri.Host{}, ship: ship}
	defer func() { s.letters = p.letters }()
	if s.scan {
		var last []byte
		err := eachSince(s.txn, s.since, func(item *badger.Item) error {
			if bytes.Equal(item.Key(), last) {
				return nil // an older version
			}
			last = item.KeyCopy(last)
			return p.addItem(item)
		})
		if err = errors.Join(err, p.flush()); err != nil {
			return err
		}
	}
	for _, k := range s.keys {
		item, err := s.txn.Get([]byte(k))
		if errors.Is(err, badger.ErrKeyNotFound) {
			err = p.add(shared.Row{Key: []byte(k), Gone: true})
		} else if err == nil {
			err = p.addItem(item)
		} else {
			err = unread(err)
		}
		if err != nil {
			return err
		}
	}
	return p.flush()
}

// addItem adds a row of the store.
func (p *portions) addItem(item *badger.Item) error {
	if item.IsDeletedOrExpired() {
		return p.add(shared.Row{Key: item.KeyCopy(nil), Gone: true})
	}
	v, err := item.ValueCopy(nil)
	if err != nil {
		return unread(err)
	}
	return p.add(shared.Row{Key: item.KeyCopy(nil), Value: v})
}

// unread returns the error of a row that could not be read.
func unread(err error) error { return ownFault{fmt.Errorf("read a changed row of the store: %w", err)} }

// waiting returns about how many keys have changed and were not shipped yet.
func (m *mirror) waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count()
}

func (m *mirror) count() int {
	if m.lost > m.base {
		return len(m.changed) + m.missing
	}
	return len(m.changed)
}

// shipped forgets the changes of a shipment.
func (m *mirror) shipped(s *shipment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.base = max(m.base, s.version)
	if m.lost <= m.base {
		m.missing = 0
	}
	for _, k := range s.keys {
		if m.changed[k] <= s.version {
			delete(m.changed, k)
			delete(m.gone, k)
		}
	}
}

// whole calls ship with all rows of the store as they are at one moment, in portions, and returns the version of the
// last change that is in them. Changes after that follow with the next shipment.
func (m *mirror) whole(ship func(rows []shared.Row) error) (version uint64, err error) {
	txn := m.db.NewTransaction(false)
	defer txn.Discard()
	it := txn.NewIterator(badger.DefaultIteratorOptions)
	defer it.Close()
	p := portions{txn: txn, home: m.home, names: map[uint32]uri.Host{}, ship: ship}
	for it.Rewind(); it.Valid(); it.Next() {
		if !isShipped(it.Item().Key()) {
			continue
		}
		if err := p.addItem(it.Item()); err != nil {
			return 0, err
		}
	}
	return txn.ReadTs(), p.flush()
}
