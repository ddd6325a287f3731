package spaces

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

func openForLocks(t *testing.T) *TrapStore {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store, err := OpenTraps(db)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// A visit of one host is in the middle of a change. Visits of other hosts do not wait for it.
func TestOneHostDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	store := openForLocks(t)
	began, finish, answered := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		answered <- store.change("slow.example", func(*trapState) bool { close(began); <-finish; return false })
	}()
	<-began
	go func() {
		_, err := store.NoneSuspected("fast.example")
		answered <- err
	}()
	select {
	case err := <-answered:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the visit of another host waits")
	}
	close(finish)
	<-answered
}

// More hosts are used at once than fit into memory, each by several goroutines. No change is lost.
func TestNoChangeIsLostWhenMemoryIsFull(t *testing.T) {
	t.Parallel()
	store := openForLocks(t)
	const hosts, each = 50, 20
	var working sync.WaitGroup
	for worker := range 4 {
		working.Go(func() {
			for n := range hosts * each {
				if n%7 == worker {
					store.mu.Lock()
					store.bytes += maxBytes // everything that is not in use is dropped
					store.mu.Unlock()
				}
				h := uri.Host(fmt.Sprintf("h%d.example", (n+worker)%hosts))
				if err := store.change(h, func(s *trapState) bool { s.visits++; return true }); err != nil {
					t.Error(err)
				}
				if n%7 == worker {
					store.mu.Lock()
					store.bytes -= maxBytes
					store.mu.Unlock()
				}
			}
		})
	}
	working.Wait()
	for n := range hosts {
		h, err := store.of(uri.Host(fmt.Sprintf("h%d.example", n)))
		if err != nil {
			t.Fatal(err)
		}
		if h.state.visits != 4*each {
			t.Errorf("host %d has %d visits, want %d", n, h.state.visits, 4*each)
		}
		store.done(h)
	}
	if got := store.Bytes(); got <= 0 || got > hosts*10_000 {
		t.Errorf("the hosts take %d bytes", got)
	}
}
