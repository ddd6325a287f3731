package frontier

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// A change that the store has no space for is not half made: the call says so, and the store and the counters are as
// before. When there is space, the same call succeeds.
func TestAChangeWithoutSpaceChangesNothing(t *testing.T) {
	t.Parallel()
	later := start.Add(time.Hour)
	page := uri.FromCanonical("http://a.example/1")
	for _, c := range []struct {
		name   string
		change func(f *Frontier) error
		once   bool // the call has an effect that is not repeated
	}{
		{"add URIs", func(f *Frontier) error {
			_, err := f.Add(start, Candidate{URI: uri.FromCanonical("http://a.example/new"), Hops: "L"})
			return err
		}, false},
		{"receive URIs", func(f *Frontier) error {
			_, err := f.Receive(start, Candidate{URI: uri.FromCanonical("http://a.example/new"), Hops: "L"})
			return err
		}, false},
		{"settle a visit", func(f *Frontier) error {
			c, _, err := f.Claim(later)
			if err != nil {
				return err
			}
			r := c.Record
			r.Visits, r.LastVisit, r.Due = r.Visits+1, later, later.Add(time.Hour)
			_, err = f.Settle(c, Settlement{Record: r, Finished: later})
			return err
		}, true},
		{"import a URI", func(f *Frontier) error {
			_, err := f.Import(start, false, Entry{Record: Record{URI: uri.FromCanonical("http://new.example/")}})
			return err
		}, false},
		{"pause a host", func(f *Frontier) error {
			_, _, err := f.SteerHosts(start, "a.example", HostAction{Verb: Pause})
			return err
		}, false},
		{"hold URIs", func(f *Frontier) error {
			_, _, err := f.Steer(start, Selection{}, Action{Verb: Hold}, "")
			return err
		}, false},
		{"revise a record", func(f *Frontier) error {
			_, err := f.Revise(start, page, func(r *Record) bool { r.Why = "revised"; return true })
			return err
		}, false},
		{"correct due times", func(f *Frontier) error {
			_, _, err := f.Heal(start.Add(-1000*time.Hour), "")
			return err
		}, false},
		{"move rests after a jump of the clock", func(f *Frontier) error {
			return f.ShiftRests(start.Add(-time.Hour), -time.Hour)
		}, true},
		{"make URIs due whose payloads are lost", func(f *Frontier) error {
			isLost := func(o digest.Origin) bool { return o.File == "lost.warc.gz" }
			_, _, err := f.Recapture(start, "", isLost, func(uri.Host) time.Time { return start })
			return err
		}, false},
		{"return URIs to the scope", func(f *Frontier) error {
			_, err := f.ReturnToScope(start, uri.FromCanonical("http://a.example/outside"))
			return err
		}, false},
		{"evict hosts", func(f *Frontier) error {
			_, err := f.MakeRoom(nil)
			return err
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := populated(t)
			before, counts := rows(t, f), f.Counts(start)
			full(f, true)
			if err := c.change(f); !errors.Is(err, ErrFull) {
				t.Errorf("without space: %v, want ErrFull", err)
			}
			if after := rows(t, f); !maps.EqualFunc(after, before, bytes.Equal) {
				t.Errorf("%d rows instead of %d, or others: the change was half made", len(after), len(before))
			}
			if after := f.Counts(start); after != counts {
				t.Errorf("counters %+v, want %+v", after, counts)
			}
			noErr(t, f.Check())
			full(f, false)
			if c.once {
				return
			}
			noErr(t, c.change(f))
			if maps.EqualFunc(rows(t, f), before, bytes.Equal) {
				t.Error("with space the call changes nothing either, so that this test proves nothing")
			}
		})
	}
}

// populated returns a frontier in which each of these changes has something to do.
func populated(t *testing.T) *Frontier {
	t.Helper()
	f := openTest(t, Options{AwaitSpace: func() {}, NewHosts: NewHosts{Total: 3}})
	entry := func(text string, change func(*Record)) Entry {
		r := Record{URI: uri.FromCanonical(text), Hops: "L"}
		r.Visits, r.LastVisit, r.Due = 1, start, start.Add(time.Hour)
		change(&r)
		return Entry{Record: r}
	}
	_, err := f.Import(start, false,
		entry("http://a.example/1", func(*Record) {}),
		entry("http://a.example/ahead", func(r *Record) { r.LastVisit, r.Due = start.Add(100*time.Hour), start.Add(200*time.Hour) }),
		entry("http://a.example/lost", func(r *Record) { r.Origin = digest.Origin{File: "lost.warc.gz", Length: 1} }),
		entry("http://a.example/outside", func(r *Record) { r.LastStatus, r.DueInScope = -5000, start.Add(time.Minute) }))
	noErr(t, err)
	for i := range 2 {
		_, err := f.Add(start, Candidate{URI: uri.FromCanonical(fmt.Sprintf("http://h%d.example/", i)), Hops: "L"})
		noErr(t, err)
		c, _, err := f.Claim(start)
		noErr(t, err)
		_, err = f.Settle(c, Settlement{Record: c.Record, Finished: start, HostDown: true})
		noErr(t, err)
	}
	return f
}

// full lets a store have no space, as after a table that could not be written, or have it again.
func full(f *Frontier, is bool) {
	r := f.o.reserve
	_ = f.Space() // finds out which log is written
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushes, r.unmade = nil, nil
	if is {
		r.flushes, r.unmade = []int{r.current}, errors.New("no space left on device")
	}
	r.full.Store(false)
}

// rows returns all rows of the store.
func rows(t *testing.T, f *Frontier) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	noErr(t, f.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			found[string(it.Item().KeyCopy(nil))] = value
		}
		return nil
	}))
	return found
}
