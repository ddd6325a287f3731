package frontier_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// half divides hosts among two stores by the length of their names.
type half struct {
	odd    bool // whether the hosts with names of odd lengths belong to this store
	row    func(key []byte) []byte
	posted []frontier.Candidate // in transactions that were committed
	fails  error
}

func (h *half) Has(host uri.Host) bool { return (len(host)%2 == 1) != h.odd }

func (h *half) Row(_ uri.Host, key []byte) []byte { return h.row(key) }

func (h *half) Post(txn *badger.Txn, c frontier.Candidate, _ time.Time) (frontier.Added, func(), error) {
	if h.fails != nil {
		return frontier.Added{}, nil, h.fails
	}
	err := txn.Set([]byte("pl"+c.URI.String()), nil)
	return frontier.Added{Posted: 1}, func() { h.posted = append(h.posted, c) }, err
}

// The hosts of the two stores.
const (
	oddHost  = "odd.example"
	evenHost = "even.example"
)

func divided(h *half) func(*frontier.Options) {
	return func(o *frontier.Options) { o.Elsewhere = h }
}

// TestURIsOfOtherStoresArePassedOn lets a visit find links to a host of another store. They are passed on in its
// transaction, and are not known here. If that fails, the visit is not settled.
func TestURIsOfOtherStoresArePassedOn(t *testing.T) {
	t.Parallel()
	h := &half{odd: true}
	w := newWorld(t, divided(h))
	here, there := "http://"+oddHost+"/", "http://"+evenHost+"/"
	w.add(day, here)
	c := w.claim(day, here)
	s := visited(c, day, time.Hour)
	found := frontier.Candidate{URI: parse(t, there+"a"), Hops: "L", Via: here, Seed: here}
	s.Found = []frontier.Candidate{found, {URI: parse(t, here+"b"), Hops: "L", Via: here, Seed: here}}
	h.fails = errors.New("no room")
	if _, err := w.Settle(c, s); !errors.Is(err, h.fails) || len(h.posted) > 0 {
		t.Errorf("settled a visit whose link was not passed on: %v", err)
	}
	h.fails = nil
	added, err := w.Settle(c, s)
	if err != nil || added.New != 1 || added.Posted != 1 || len(h.posted) != 1 || h.posted[0].URI != found.URI {
		t.Fatalf("settled: %+v, %v; passed on %v", added, err, h.posted)
	}
	if _, known, _ := w.Get(found.URI); known || len(w.Hosts(day)) != 1 || !w.IsForeign(evenHost) || w.Has(evenHost) {
		t.Error("a URI of another store is known")
	}
	if own := w.Own([]frontier.Candidate{found, {URI: c.Record.URI}}); len(own) != 1 || own[0].URI != c.Record.URI {
		t.Errorf("of two candidates %v are this store's own", own)
	}
	entry := frontier.Entry{Record: frontier.Record{URI: found.URI}}
	if done, err := w.Import(day, false, entry); err != nil || done.Foreign != 1 {
		t.Errorf("imported a URI of another store: %+v, %v", done, err)
	}
	rows := 0
	for range 2 {
		err := frontier.UpdateOthers(w.Frontier, []string{"pl" + there + "a"}, func(txn *badger.Txn, keys []string) error {
			if _, err := txn.Get([]byte(keys[0])); err == nil {
				rows++
			}
			return txn.Delete([]byte(keys[0]))
		}, func([]string) {})
		w.wantErr(err, nil)
	}
	if rows != 1 {
		t.Errorf("the row of what was passed on was there %d times, want once: until it was removed", rows)
	}
}

// TestReceivedURIsAreKnown sends a candidate to its store, twice.
func TestReceivedURIsAreKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, divided(&half{}))
	found := frontier.Candidate{
		URI: parse(t, "http://"+evenHost+"/a"), Hops: "L", Via: "http://odd.example/", Seed: "http://odd.example/",
		Due: at(time.Minute), Urgent: true, Sooner: true, ReportedChange: at(time.Second),
	}
	value, err := found.Encode(day)
	w.wantErr(err, nil)
	for n := range 2 {
		c, err := frontier.DecodeCandidate(value)
		w.wantErr(err, nil)
		if c != found {
			t.Errorf("a candidate became %+v, want %+v", c, found)
		}
		if added, err := w.Receive(day, c); err != nil || added.New != 1-n {
			t.Errorf("received: %+v, %v", added, err)
		}
	}
	r, known, err := w.Get(found.URI)
	if err != nil || !known || r.Via != found.Via || r.Hops != "L" || !r.Urgent || !r.Due.Equal(found.Due) {
		t.Errorf("the store has %+v, %v", r, err)
	}
	if _, err := frontier.DecodeCandidate([]byte("damaged")); err == nil {
		t.Error("damaged bytes are a candidate")
	}
}

// TestStraysAreNotVisited divides a store: the hosts of other stores are not visited, and then removed. The rest
// stays.
func TestStraysAreNotVisited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mine []string
	for i := range 60 {
		text := fmt.Sprintf("http://h%d.example/%d", i%20, i)
		w.add(day, text)
		if len(fmt.Sprintf("h%d.example", i%20))%2 == 1 {
			mine = append(mine, text)
		}
	}
	w.o.Elsewhere = &half{odd: true}
	w.reopen(day)
	if n := w.Strays(); n == 0 || n == 20 {
		t.Fatalf("%d of 20 hosts are strays", n)
	}
	got := map[string]bool{}
	now := at(time.Minute)
	for range 10 * len(mine) {
		now = now.Add(time.Minute)
		if c, ok, err := w.Claim(now); err == nil && ok {
			got[c.Record.URI.String()] = true
			_, err = w.Settle(c, visited(c, now, 100*time.Hour))
			w.wantErr(err, nil)
		}
	}
	if len(got) != len(mine) {
		t.Errorf("%d URIs were visited, want %d", len(got), len(mine))
	}
	for _, text := range mine {
		if !got[text] {
			t.Errorf("%s was not visited", text)
		}
	}
	stop, strays, calls := make(chan struct{}), w.Strays(), 0
	none := func(uri.Host) bool { return false }
	done, err := w.DropStrays(stop, none, func() {
		if calls++; calls == 3 {
			close(stop)
		}
	})
	if err != nil || done || calls != 3 || w.Strays() != strays-1 { // a portion with its URIs, and one with the rest
		t.Errorf("stopped before the third portion: %t, %v after %d, %d of %d strays are left", done, err, calls, w.Strays(), strays)
	}
	listed, _, err := w.Count(now, frontier.Selection{}, "")
	w.wantErr(err, nil)
	if c := w.Counts(now); c.URIs != int64(len(mine)) || c.Hosts != int64(20-strays) || len(w.Hosts(now)) != 20-strays ||
		c.Ready+c.Snoozed+c.Busy+c.Idle != c.Hosts || listed != int64(len(mine)) {
		t.Errorf("while strays are removed, %+v and %d URIs are listed; want %d of %d hosts", c, listed, len(mine), 20-strays)
	}
	done, err = w.DropStrays(make(chan struct{}), none, func() {})
	if err != nil || !done || w.Strays() != 0 {
		t.Errorf("%d strays are left: %t, %v", w.Strays(), done, err)
	}
	if n := w.Counts(now).URIs; n != int64(len(mine)) {
		t.Errorf("%d URIs are left, want %d", n, len(mine))
	}
	if n, list := w.Counts(now).Hosts, w.Hosts(now); n != int64(20-strays) || len(list) != 20-strays {
		t.Errorf("%d hosts are counted and %d listed after %d strays of 20 were removed", n, len(list), strays)
	}
	w.reopen(now)
}

// TestRobotsOfAnotherStore reads the copy of a robots.txt from the store of another store.
func TestRobotsOfAnotherStore(t *testing.T) {
	t.Parallel()
	two := newWorld(t, divided(&half{}))
	file := parse(t, "https://"+evenHost+"/robots.txt")
	away := false
	one := newWorld(t, divided(&half{odd: true, row: func(key []byte) (v []byte) {
		if away {
			return nil
		}
		_ = two.DB().View(func(txn *badger.Txn) error {
			item, err := txn.Get(key)
			if err == nil {
				v, err = item.ValueCopy(nil)
			}
			return err
		})
		return v
	}}))
	if _, ok, err := one.Substitute(file); ok || err != nil {
		t.Errorf("there is a copy of an unknown host: %v", err)
	}
	two.add(day, file.String())
	c := two.claim(day, file.String())
	s := visited(c, day, time.Hour)
	s.Robots = &frontier.RobotsCopy{Fetched: day, Expires: at(time.Hour), Status: 200, Body: []byte("User-agent: *")}
	_, err := two.Settle(c, s)
	two.wantErr(err, nil)
	if got, ok, err := one.Substitute(file); !ok || err != nil || string(got.Body) != "User-agent: *" || !got.Expires.Equal(at(time.Hour)) {
		t.Errorf("the copy is %+v, %t, %v", got, ok, err)
	}
	away = true
	if _, ok, err := one.Substitute(file); ok || err != nil {
		t.Errorf("while the other store is away: %t, %v", ok, err)
	}
}
