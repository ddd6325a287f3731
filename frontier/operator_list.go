package frontier

import (
	"fmt"
	"time"
)

// maxListed is the maximum number of URIs that one call of List returns.
const maxListed = 1_000

// List returns up to n selected URIs behind a cursor, n at most 1,000, in the order of the store: host by host, and
// in no particular order within a host. It reads a bounded part of the store, so it may return none although there
// are more. The walk is complete when next is empty.
func (f *Frontier) List(now time.Time, s Selection, from Cursor, n int) (list []Entry, next Cursor, err error) {
	selected, next, err := f.nextSelected(s, from, min(max(n, 1), maxListed), now)
	if err != nil {
		return nil, "", fmt.Errorf("list URIs of the frontier: %w", err)
	}
	for _, x := range selected {
		r, err := x.row.record()
		if err != nil {
			return nil, "", fmt.Errorf("list URIs of the frontier: %w", damaged(uriKey(x.h.id, x.fp), err))
		}
		list = append(list, Entry{Record: r, Held: x.row.Held, Forbidden: x.row.Forbidden, InProgress: f.isClaimed(x)})
	}
	return list, next, nil
}

func (f *Frontier) isClaimed(x selectedURI) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return x.h.slotClaiming(x.fp) != nil
}

// Count counts selected URIs behind a cursor, in a bounded part of the store. The walk is complete when next is
// empty.
func (f *Frontier) Count(now time.Time, s Selection, from Cursor) (n int64, next Cursor, err error) {
	selected, next, err := f.nextSelected(s, from, maxRowsRead, now)
	if err != nil {
		return 0, "", fmt.Errorf("count URIs of the frontier: %w", err)
	}
	return int64(len(selected)), next, nil
}
