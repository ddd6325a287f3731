package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
)

const (
	// payloadTime is the maximum duration of a question about payloads. Captures wait for it: until then the lease of the
	// node is over if the database is away, and the visit is repeated instead of archiving a payload twice.
	payloadTime = leaseTime
	// payloadBytes is the size of the payloads that a node keeps in memory, in each of two generations. rowBytes is what a
	// row takes besides its key and its value.
	payloadBytes = 16 << 20
	rowBytes     = 100
	// payloadRows is the number of rows of payloads that the store of a node keeps. A row takes some 200 bytes of disk.
	payloadRows = 4_000_000
)

// payloads looks for payloads in the database, for a node. Those who ask while it is being asked are
// answered together by the next question.
type payloads struct {
	read func(ctx context.Context, keys ...[]byte) ([][]byte, error)
	fail func(error) // is called with the first of the failures in a row
	now  func() time.Time

	mu         sync.Mutex // guards the fields below
	asking     bool
	next       *payloadQuestion // nil = nobody waits
	failing    bool
	young, old map[string]foreignRow // what was found, and which losses were not
	bytes      int                   // of young
}

// payloadQuestion is a question of several captures.
type payloadQuestion struct {
	keys [][]byte
	turn chan struct{} // has a token for the capture that asks
	done chan struct{} // is closed when the rest is set
	rows [][]byte
	err  error
}

// find returns the values of keys, nil for each that is not there.
func (p *payloads) find(keys ...[]byte) (values [][]byte, err error) {
	values = make([][]byte, len(keys))
	p.mu.Lock()
	var missing []int
	for n, k := range keys {
		if row, kept := p.kept(k); kept {
			values[n] = row
		} else {
			missing = append(missing, n)
		}
	}
	if len(missing) == 0 {
		p.mu.Unlock()
		return values, nil
	}
	if p.next == nil {
		p.next = &payloadQuestion{turn: make(chan struct{}, 1), done: make(chan struct{})}
		if !p.asking {
			p.asking = true
			p.next.turn <- struct{}{}
		}
	}
	q, first := p.next, len(p.next.keys)
	for _, n := range missing {
		q.keys = append(q.keys, keys[n])
	}
	p.mu.Unlock()
	select {
	case <-q.done:
	case <-q.turn:
		p.ask(q)
	}
	if q.err != nil {
		return nil, q.err
	}
	for at, n := range missing {
		values[n] = q.rows[first+at]
	}
	return values, nil
}

// ask asks the database.
func (p *payloads) ask(q *payloadQuestion) {
	p.mu.Lock()
	p.next = nil
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), payloadTime)
	defer cancel()
	q.rows, q.err = p.read(ctx, q.keys...)
	p.mu.Lock()
	first := q.err != nil && !p.failing
	if p.failing = q.err != nil; !p.failing {
		for n, k := range q.keys {
			p.keep(k, q.rows[n])
		}
	}
	if p.asking = p.next != nil; p.asking {
		p.next.turn <- struct{}{}
	}
	p.mu.Unlock()
	close(q.done)
	if first {
		p.fail(q.err)
	}
}

// kept returns the value of a key if it was found before. The lock is held.
func (p *payloads) kept(k []byte) (value []byte, known bool) {
	row, known := p.young[string(k)]
	if !known {
		if row, known = p.old[string(k)]; known {
			p.store(k, row)
		}
	}
	if dedup.KindOf(k) == dedup.SharedLoss && p.now().Sub(row.read) >= rowKept {
		return nil, false
	}
	return row.value, known
}

// keep keeps what was found. Counts grow, and a payload that is not there may come. That no part of a file is lost is
// believed for a while. The lock is held.
func (p *payloads) keep(k, value []byte) {
	if kind := dedup.KindOf(k); kind == dedup.SharedLoss || kind == dedup.Entry && value != nil {
		p.store(k, foreignRow{slices.Clone(value), p.now()})
	}
}

// store stores a row in the young generation. When that is full, it becomes the old one. The lock is held.
func (p *payloads) store(k []byte, row foreignRow) {
	size := len(k) + len(row.value) + rowBytes
	if p.young == nil || p.bytes+size > payloadBytes {
		p.young, p.old, p.bytes = map[string]foreignRow{}, p.young, 0
	}
	p.young[string(k)] = row
	p.bytes += size
}

// sharedIndex is the index of all nodes, for the store of one.
type sharedIndex struct{ *thisNode }

// Payloads returns the index of all nodes.
func (n *thisNode) Payloads() dedup.Shared { return sharedIndex{n} }

// Find returns rows of the index.
func (s sharedIndex) Find(keys ...[]byte) ([][]byte, error) { return s.payloads.find(keys...) }

// Keep returns how many rows of payloads the store keeps: all, while some are not shipped.
func (s sharedIndex) Keep() int {
	if s.mirror == nil || s.mirror.waiting() > portionRows {
		return 0
	}
	return payloadRows
}
