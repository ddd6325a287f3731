// Package daily keeps what each day brought from each host: requests, versions seen, and versions that are thought to have
// come into being.
//
// A [Book] is told of each visit by [Book.Add], which only adds to numbers in memory, and writes them by [Book.Keep], which is
// called now and then, and before the store is closed. So a crash costs what was counted since the last Keep, and nothing
// else. Days are those of UTC. Those of a host that are [Kept] days older than its newest are forgotten when a new one begins.
//
// The book keeps its rows in a store that belongs to someone else, all of their keys beginning with the letter 'a': the name
// of the host, a zero byte, and the days since 1970 in 4 bytes big-endian.
package daily

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// letter begins each key; format begins each value. Behind it are requests and versions seen as unsigned varints, and the
// versions that came into being as a big-endian float of 64 bits.
const (
	letter = 'a'
	format = 1
)

// Kept is how many days of a host are kept.
const Kept = 92

// maxPending bounds the rows in memory: with more than that the next visit writes them.
const maxPending = 10_000

// ErrCorrupt tells that a row cannot be what was written.
var ErrCorrupt = errors.New("an account is damaged")

// Book keeps accounts in an open store. Its methods may be called by many goroutines at once. It needs no closing, but a
// last [Book.Keep], and is of no use when the store is closed.
type Book struct {
	db *badger.DB

	keeping sync.Mutex // held by the one who writes, so that nobody reads what is only half added
	mu      sync.Mutex // guards pending
	pending map[Date]evaluators.Day
}

// Date is a day of a host.
type Date struct {
	Host uri.Host
	Day  int32 // since 1970, UTC
}

// DateOf is the day of a host in which a moment lies.
func DateOf(host uri.Host, at time.Time) Date {
	return Date{host, int32(math.Floor(float64(at.Unix()) / (24 * 60 * 60)))}
}

// Time is when the day begins.
func (d Date) Time() time.Time { return time.Unix(int64(d.Day)*24*60*60, 0).UTC() }

// Open takes a store to keep the book in.
func Open(db *badger.DB) (*Book, error) {
	if db == nil {
		return nil, errors.New("open the book of accounts: no store")
	}
	return &Book{db: db, pending: map[Date]evaluators.Day{}}, nil
}

// Add adds a visit to the account of its day. It writes only when very much is pending.
func (b *Book) Add(host uri.Host, at time.Time, visit evaluators.Day) error {
	d := DateOf(host, at)
	b.mu.Lock()
	b.pending[d] = b.pending[d].Plus(visit)
	full := len(b.pending) >= maxPending
	b.mu.Unlock()
	if full {
		return b.Keep()
	}
	return nil
}

// Keep writes what was added. When it cannot, nothing is lost: it is written the next time.
func (b *Book) Keep() error {
	b.keeping.Lock()
	defer b.keeping.Unlock()
	return b.keep()
}

func (b *Book) keep() error {
	b.mu.Lock()
	added := b.pending
	b.pending = map[Date]evaluators.Day{}
	b.mu.Unlock()
	for len(added) > 0 {
		portion := make([]Date, 0, min(len(added), maxPortion))
		for d := range added {
			if portion = append(portion, d); len(portion) == maxPortion {
				break
			}
		}
		if err := b.db.Update(func(txn *badger.Txn) error { return put(txn, portion, added) }); err != nil {
			b.giveBack(added)
			return fmt.Errorf("keep the accounts of %d hosts and days: %w", len(added), err)
		}
		for _, d := range portion {
			delete(added, d)
		}
	}
	return nil
}

// maxPortion is how many rows are written in one transaction; with what is forgotten for each of them it stays far below
// what a transaction may hold.
const maxPortion = 500

func (b *Book) giveBack(added map[Date]evaluators.Day) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for d, more := range added {
		b.pending[d] = b.pending[d].Plus(more)
	}
}

// put adds to rows. With a new one the oldest of its host are forgotten. All is read before anything is written, because to look for
// what is old a transaction would sort all that it has written.
func put(txn *badger.Txn, portion []Date, added map[Date]evaluators.Day) error {
	rows := make([]evaluators.Day, len(portion))
	var old [][]byte
	for i, d := range portion {
		item, err := txn.Get(key(d))
		switch {
		case errors.Is(err, badger.ErrKeyNotFound):
			old = append(old, outdated(txn, d)...)
		case err != nil:
			return err
		default:
			if err := item.Value(func(v []byte) (err error) { rows[i], err = decode(v); return err }); err != nil {
				return err
			}
		}
	}
	for i, d := range portion {
		if err := txn.Set(key(d), encode(rows[i].Plus(added[d]))); err != nil {
			return err
		}
	}
	for _, k := range old {
		if err := txn.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// outdated are the keys of a few days of a host that are too old beside a new one; what it leaves is found with the next ones.
func outdated(txn *badger.Txn, d Date) (keys [][]byte) {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix(d.Host)})
	defer it.Close()
	const few = 8
	for it.Rewind(); it.Valid() && len(keys) < few; it.Next() {
		k := it.Item().KeyCopy(nil)
		if old, ok := dateOf(k); !ok || old.Day > d.Day-Kept {
			break
		}
		keys = append(keys, k)
	}
	return keys
}

// Each tells of the days of a host, or of all hosts if it is empty, that begin no earlier than from and before to: by
// host, and by day within. A zero time is no bound. An error of each ends it.
func (b *Book) Each(host uri.Host, from, to time.Time, each func(Date, evaluators.Day) error) error {
	b.keeping.Lock()
	defer b.keeping.Unlock()
	if err := b.keep(); err != nil {
		return err
	}
	err := b.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		if o.Prefix = []byte{letter}; host != "" {
			o.Prefix = prefix(host)
		}
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			d, ok := dateOf(it.Item().Key())
			if !ok {
				return fmt.Errorf("%w: its key has %d bytes", ErrCorrupt, len(it.Item().Key()))
			}
			if at := d.Time(); !from.IsZero() && at.Before(from) || !to.IsZero() && !at.Before(to) {
				continue
			}
			var day evaluators.Day
			if err := it.Item().Value(func(v []byte) (err error) { day, err = decode(v); return err }); err != nil {
				return fmt.Errorf("%s on %s: %w", d.Host, d.Time().Format(time.DateOnly), err)
			}
			if err := each(d, day); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the accounts: %w", err)
	}
	return nil
}

func prefix(host uri.Host) []byte { return append(append([]byte{letter}, host...), 0) }

func key(d Date) []byte { return binary.BigEndian.AppendUint32(prefix(d.Host), uint32(d.Day)) }

func dateOf(k []byte) (Date, bool) {
	end := len(k) - 4
	if end < 2 || k[end-1] != 0 {
		return Date{}, false
	}
	return Date{uri.Host(k[1 : end-1]), int32(binary.BigEndian.Uint32(k[end:]))}, true
}

func encode(d evaluators.Day) []byte {
	v := binary.AppendUvarint([]byte{format}, uint64(max(d.Requests, 0)))
	v = binary.AppendUvarint(v, uint64(max(d.Seen, 0)))
	return binary.BigEndian.AppendUint64(v, math.Float64bits(d.Versions))
}

func decode(v []byte) (d evaluators.Day, err error) {
	fault := fmt.Errorf("%w: %d bytes", ErrCorrupt, len(v))
	if len(v) == 0 || v[0] != format {
		return d, fault
	}
	v = v[1:]
	for _, n := range []*int{&d.Requests, &d.Seen} {
		u, size := binary.Uvarint(v)
		if size <= 0 || u > math.MaxInt32 {
			return d, fault
		}
		*n, v = int(u), v[size:]
	}
	if len(v) != 8 {
		return d, fault
	}
	d.Versions = math.Float64frombits(binary.BigEndian.Uint64(v))
	if math.IsNaN(d.Versions) || math.IsInf(d.Versions, 0) || d.Versions < 0 {
		return d, fault
	}
	return d, nil
}
