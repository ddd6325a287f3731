package main

import (
	"bytes"
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/dgraph-io/badger/v4"
)

// raw does the minimum of work that a crawl needs from a store: it writes the same keys as the frontier, but decodes,
// checks and guarantees nothing. The queue of each host is read from its watermark.
type raw struct {
	s     size
	kv    kv
	open  func() (kv, error)
	hosts []rawHosts // by worker, so that no two workers write the same host
}

// kv is a key-value store.
type kv interface {
	// do runs one transaction.
	do(func(transaction) error) error
	sync() error
	close() error
	live() (int64, error)
}

type transaction interface {
	has(k []byte) (bool, error)
	set(k, v []byte) error
	remove(k []byte) error
	// first returns the first key with this prefix that is not less than k.
	first(prefix, k []byte) ([]byte, error)
}

// rawHost is a host and the watermark of its queue.
type rawHost struct {
	id   int
	due  uint64
	mark []byte
}

// rawHosts is a heap of hosts by due time.
type rawHosts []*rawHost

func (q rawHosts) Len() int           { return len(q) }
func (q rawHosts) Less(i, j int) bool { return q[i].due < q[j].due }
func (q rawHosts) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *rawHosts) Push(x any)        { *q = append(*q, x.(*rawHost)) }
func (q *rawHosts) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

func newRaw(s size, open func() (kv, error)) (engine, error) {
	r := &raw{s: s, open: open, hosts: make([]rawHosts, s.workers)}
	for host := range min(s.hosts, (s.uris+99)/100) {
		w := host % s.workers
		r.hosts[w] = append(r.hosts[w], &rawHost{id: host, due: uint64(host*100 + 1)})
	}
	return r, r.reopen()
}

func (r *raw) reopen() (err error)  { r.kv, err = r.open(); return err }
func (r *raw) close() error         { return r.kv.close() }
func (r *raw) sync() error          { return r.kv.sync() }
func (r *raw) live() (int64, error) { return r.kv.live() }

func rawKey(kind byte, host int, due uint64, fp []byte) []byte {
	k := binary.BigEndian.AppendUint32([]byte{kind}, uint32(host))
	if kind == 'q' {
		k = binary.BigEndian.AppendUint64(k, due)
	}
	return append(k, fp...)
}

func (r *raw) load(i, j int) error {
	return r.kv.do(func(t transaction) error {
		for ; i < j; i++ {
			fp := sha256.Sum256([]byte(address(i, r.s)))
			host := (i / 100) % r.s.hosts
			k := rawKey('u', host, 0, fp[:12])
			if known, err := t.has(k); known || err != nil {
				return errors.Join(err, errors.New("a URI is already known"))
			}
			queued := rawKey('q', host, uint64(i+1), fp[:12])
			if err := errors.Join(t.set(k, bytes.Repeat(fp[:], 6)), t.set(queued, nil)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *raw) visit(worker, _ int) error {
	q := &r.hosts[worker]
	h := (*q)[0]
	err := r.kv.do(func(t transaction) error {
		prefix := rawKey('h', h.id, 0, nil)
		prefix[0] = 'q'
		from := h.mark
		if from == nil {
			from = prefix
		}
		k, err := t.first(prefix, from)
		if err != nil {
			return err
		}
		fp := k[13:]
		due := binary.BigEndian.Uint64(k[5:13]) + 86_400_000
		u := rawKey('u', h.id, 0, fp)
		if ok, err := t.has(u); !ok || err != nil {
			return errors.Join(err, errors.New("a URI is missing"))
		}
		h.mark = k
		h.due = due - 86_400_000 + 100
		return errors.Join(t.remove(k), t.set(rawKey('q', h.id, due, fp), nil),
			t.set(u, bytes.Repeat(fp, 45)), t.set(rawKey('h', h.id, 0, nil), bytes.Repeat(k, 4)))
	})
	heap.Fix(q, 0)
	return err
}

// badgerKV is Badger with the options of the frontier.
type badgerKV struct{ *badger.DB }

func openBadger(dir string, s size) (engine, error) {
	o := badger.DefaultOptions(dir).WithMemTableSize(8 << 20).WithNumMemtables(2).WithBlockCacheSize(32 << 20).
		WithIndexCacheSize(48 << 20).WithNumCompactors(2).WithBaseTableSize(2 << 20).WithValueLogFileSize(64 << 20).
		WithNumGoroutines(1).WithMetricsEnabled(false).WithLogger(nil).WithBaseLevelSize(128 << 20).
		WithNumLevelZeroTables(min(3+s.uris/400_000, 24)).
		WithNumLevelZeroTablesStall(48).WithBlockSize(8 << 10)
	o.TableSizeMultiplier = 1
	return newRaw(s, func() (kv, error) {
		db, err := badger.Open(o)
		return badgerKV{db}, err
	})
}

func (b badgerKV) sync() error          { return b.Sync() }
func (b badgerKV) close() error         { return b.Close() }
func (b badgerKV) live() (int64, error) { return liveBadger(b.DB) }
func (b badgerKV) do(f func(transaction) error) error {
	return b.Update(func(txn *badger.Txn) error { return f(badgerTxn{txn}) })
}

type badgerTxn struct{ *badger.Txn }

func (t badgerTxn) set(k, v []byte) error { return t.Set(k, v) }
func (t badgerTxn) remove(k []byte) error { return t.Delete(k) }
func (t badgerTxn) has(k []byte) (bool, error) {
	item, err := t.Get(k)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err == nil {
		err = item.Value(func([]byte) error { return nil })
	}
	return err == nil, err
}

func (t badgerTxn) first(prefix, k []byte) ([]byte, error) {
	it := t.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	if it.Seek(k); !it.Valid() {
		return nil, errors.New("the queue is empty")
	}
	return it.Item().KeyCopy(nil), nil
}

// pebbleKV is Pebble with a cache and memtables of the same size as in badgerKV.
type pebbleKV struct {
	*pebble.DB
	mu *sync.Mutex // syncs
}

func openPebble(dir string, s size) (engine, error) {
	return newRaw(s, func() (kv, error) {
		cache := pebble.NewCache(80 << 20)
		defer cache.Unref()
		db, err := pebble.Open(dir, &pebble.Options{Cache: cache, MemTableSize: 16 << 20, Logger: silence{}})
		return pebbleKV{db, new(sync.Mutex)}, err
	})
}

// silence is a logger that drops everything except fatal errors.
type silence struct{}

func (silence) Infof(string, ...any)  {}
func (silence) Errorf(string, ...any) {}
func (silence) Fatalf(f string, _ ...any) {
	panic(f)
}

func (p pebbleKV) sync() error  { return p.LogData([]byte("sync"), pebble.Sync) }
func (p pebbleKV) close() error { return p.Close() }
func (p pebbleKV) live() (n int64, err error) {
	it, err := p.NewIter(nil)
	if err != nil {
		return 0, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		n += int64(len(it.Key()) + len(it.Value()))
	}
	return n, it.Close()
}

func (p pebbleKV) do(f func(transaction) error) error {
	b := p.NewBatch()
	if err := f(pebbleTxn{b, p.DB}); err != nil {
		return err
	}
	return b.Commit(pebble.NoSync)
}

type pebbleTxn struct {
	*pebble.Batch
	db *pebble.DB
}

func (t pebbleTxn) set(k, v []byte) error { return t.Set(k, v, nil) }
func (t pebbleTxn) remove(k []byte) error { return t.Delete(k, nil) }
func (t pebbleTxn) has(k []byte) (bool, error) {
	_, shut, err := t.db.Get(k)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, shut.Close()
}

func (t pebbleTxn) first(prefix, k []byte) ([]byte, error) {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			break
		}
	}
	it, err := t.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: end})
	if err != nil {
		return nil, err
	}
	if !it.SeekGE(k) {
		return nil, errors.Join(errors.New("the queue is empty"), it.Close())
	}
	return bytes.Clone(it.Key()), it.Close()
}
