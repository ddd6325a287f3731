package mirror

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/frontier/shared"
)

// markKey is the key that a mirror writes to find out that it was notified of all earlier changes. It is not shipped.
const markKey = "mmirror"

// internal is the prefix of the store's own keys.
const internal = "!badger!"

// Mirror collects the keys that change in a store. Make one with [New], and call [Mirror.Run] before anything changes
// that it must not miss.
type Mirror struct {
	db *badger.DB

	mu      sync.Mutex        // guards the fields below
	changed map[string]uint64 // keys that were not shipped yet, with the version of their last change
	seen    uint64            // the last mark of which the mirror was notified
	marks   uint64            // the last mark that was written
	arrived chan struct{}     // is closed when seen grows
}

// New returns a mirror of a store.
func New(f *frontier.Frontier) *Mirror {
	return &Mirror{db: f.Follow(), changed: map[string]uint64{}, arrived: make(chan struct{})}
}

// Run collects the keys of changes until ctx ends or the store is closed.
func (m *Mirror) Run(ctx context.Context) error {
	var all []pb.Match
	for b := range 256 {
		if prefix := []byte{byte(b)}; !frontier.IsDerived(prefix) && prefix[0] != internal[0] {
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
func (m *Mirror) collect(list *badger.KVList) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, kv := range list.GetKv() {
		if string(kv.GetKey()) == markKey {
			m.seen = max(m.seen, binary.BigEndian.Uint64(kv.GetValue()))
			close(m.arrived)
			m.arrived = make(chan struct{})
			continue
		}
		m.changed[string(kv.GetKey())] = max(kv.GetVersion(), m.changed[string(kv.GetKey())])
	}
}

// AwaitStart waits until the mirror is notified of changes. It tries again at each tick.
func (m *Mirror) AwaitStart(ctx context.Context, tick <-chan time.Time) error {
	for {
		arrived, err := m.mark()
		if err != nil {
			return err
		}
		select {
		case <-arrived:
			return nil
		case <-tick:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mark writes a mark. The channel is closed when the mirror is notified of it.
func (m *Mirror) mark() (arrived <-chan struct{}, err error) {
	m.mu.Lock()
	m.marks++
	n, c := m.marks, m.arrived
	m.mu.Unlock()
	err = m.db.Update(func(txn *badger.Txn) error {
		return txn.Set([]byte(markKey), binary.BigEndian.AppendUint64(nil, n))
	})
	return c, err
}

// awaitAll waits until the mirror was notified of all changes that were committed before the call.
func (m *Mirror) awaitAll(ctx context.Context) error {
	if _, err := m.mark(); err != nil {
		return err
	}
	m.mu.Lock()
	want := m.marks
	m.mu.Unlock()
	for {
		m.mu.Lock()
		done, next := m.seen >= want, m.arrived
		m.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Since adds the keys that have changed after a version.
func (m *Mirror) Since(version uint64) error {
	txn := m.db.NewTransaction(false)
	defer txn.Discard()
	o := badger.DefaultIteratorOptions
	o.AllVersions, o.PrefetchValues, o.SinceTs = true, false, version // AllVersions shows deletions too
	it := txn.NewIterator(o)
	defer it.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	for it.Rewind(); it.Valid(); it.Next() {
		if k := it.Item().Key(); isShipped(k) {
			m.changed[string(k)] = max(it.Item().Version(), m.changed[string(k)])
		}
	}
	return nil
}

// isShipped reports whether a copy of the store has a key.
func isShipped(k []byte) bool {
	return !frontier.IsDerived(k) && string(k) != markKey && !bytes.HasPrefix(k, []byte(internal))
}

// Shipment holds the rows of all keys that have changed, as they were at one moment.
type Shipment struct {
	Rows    []shared.Row
	Version uint64 // of the last change that is in it
}

// Shipment returns what has changed and was not shipped yet. Call [Mirror.Shipped] when it is stored elsewhere. It is
// not safe for concurrent use with itself and Shipped.
func (m *Mirror) Shipment(ctx context.Context) (s Shipment, err error) {
	txn := m.db.NewTransaction(false)
	defer txn.Discard()
	s.Version = txn.ReadTs()
	// All changes up to this version precede the mark, so the mirror knows their keys then. It may know later ones too;
	// these have their older values in this view, and stay in the list.
	if err := m.awaitAll(ctx); err != nil {
		return s, fmt.Errorf("collect the changes of the store: %w", err)
	}
	for _, k := range m.keys() {
		row := shared.Row{Key: []byte(k)}
		item, err := txn.Get(row.Key)
		switch {
		case errors.Is(err, badger.ErrKeyNotFound):
			row.Gone = true
		case err == nil:
			row.Value, err = item.ValueCopy(nil)
			fallthrough
		default:
			if err != nil {
				return s, fmt.Errorf("read a changed row of the store: %w", err)
			}
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

// Waiting returns the number of keys that have changed and were not shipped yet.
func (m *Mirror) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.changed)
}

// keys returns the keys that have changed.
func (m *Mirror) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]string, 0, len(m.changed))
	for k := range m.changed {
		list = append(list, k)
	}
	return list
}

// Shipped forgets the changes of a shipment.
func (m *Mirror) Shipped(s Shipment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range s.Rows {
		if m.changed[string(r.Key)] <= s.Version {
			delete(m.changed, string(r.Key))
		}
	}
}

// Whole calls ship with all rows of the store as they are at one moment, in portions, and returns the version of the
// last change that is in them. Changes after that follow with the next shipment.
func (m *Mirror) Whole(portion int, ship func(rows []shared.Row) error) (version uint64, err error) {
	txn := m.db.NewTransaction(false)
	defer txn.Discard()
	it := txn.NewIterator(badger.DefaultIteratorOptions)
	defer it.Close()
	var rows []shared.Row
	for it.Rewind(); it.Valid(); it.Next() {
		if !isShipped(it.Item().Key()) {
			continue
		}
		v, err := it.Item().ValueCopy(nil)
		if err != nil {
			return 0, fmt.Errorf("read the rows of the store: %w", err)
		}
		if rows = append(rows, shared.Row{Key: it.Item().KeyCopy(nil), Value: v}); len(rows) == portion {
			if err := ship(rows); err != nil {
				return 0, err
			}
			rows = nil
		}
	}
	return txn.ReadTs(), ship(rows)
}
