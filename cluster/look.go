package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

const (
	// rowKept is how long a row of another node is used before it is read again.
	rowKept = time.Minute
	// failureKept is how long no row is read after the database did not answer.
	failureKept = 5 * time.Second
	// lookTime is the maximum duration of a look into another node. A visit waits for it.
	foreignLookTime = 2 * time.Second
	// maxLooks is the maximum number of looks at once. Further ones get what was read before.
	maxLooks = 2
	// maxRowsKept and maxBytesKept bound the rows of other nodes in memory.
	maxRowsKept  = 1_000
	maxBytesKept = 8 << 20
)

// foreignRows reads rows of other nodes, and keeps them for a while. Visits ask for them, so it must not wait long.
type foreignRows struct {
	read func(ctx context.Context, part int16, key []byte) ([]byte, error)
	fail func(error) // is called with the first of the failures in a row
	now  func() time.Time

	mu    sync.Mutex // guards the fields below
	rows  map[string]foreignRow
	bytes int
	looks int       // in progress
	until time.Time // no row is read before, because the database did not answer
}

type foreignRow struct {
	value []byte
	read  time.Time
}

// get returns the value of a key in a part of the crawl; nil if there is none. While the database does not answer, it
// returns what it read before.
func (f *foreignRows) get(part int16, key []byte) []byte {
	k, now := fmt.Sprint(part, " ", string(key)), f.now()
	f.mu.Lock()
	kept, found := f.rows[k]
	if found && now.Sub(kept.read) < rowKept || f.looks >= maxLooks || now.Before(f.until) {
		f.mu.Unlock()
		return kept.value
	}
	f.looks++
	f.mu.Unlock()

	ask, cancel := context.WithTimeout(context.Background(), foreignLookTime)
	defer cancel()
	value, err := f.read(ask, part, key)

	f.mu.Lock()
	f.looks--
	first := f.until.IsZero()
	if err != nil {
		f.until = f.now().Add(failureKept)
		f.mu.Unlock()
		if first {
			f.fail(err)
		}
		return kept.value
	}
	defer f.mu.Unlock()
	f.until = time.Time{}
	if f.rows == nil || len(f.rows) >= maxRowsKept || f.bytes+len(value) > maxBytesKept {
		f.rows, f.bytes = map[string]foreignRow{}, 0
	}
	f.bytes += len(value) - len(f.rows[k].value)
	f.rows[k] = foreignRow{value, now}
	return value
}

// readRow returns the value of a key in the copy of a host of another node; nil if there is none, or if the database
// does not answer.
func (n *thisNode) readRow(h uri.Host, portable []byte) []byte {
	return n.foreign.get(n.partOf(h), portable)
}
