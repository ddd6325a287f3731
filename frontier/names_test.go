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

// calling returns options that apply the given naming rules to all hosts.
func calling(n *uri.Naming) func(*frontier.Options) {
	return func(o *frontier.Options) { o.Names = func(uri.Host) *uri.Naming { return n } }
}

// find adds a URI that the seed links to, and reports whether it was new.
func (w *world) find(text string, hops uri.HopPath, via string) bool {
	w.Helper()
	added, err := w.Add(day, frontier.Candidate{URI: parse(w, text), Hops: hops, Via: via, Seed: "http://news.example/"})
	if err != nil || added.New+added.Known != 1 {
		w.Fatalf("Add(%s) = %+v, %v", text, added, err)
	}
	return added.New == 1
}

func TestURIsWithTheSameNameAreVisitedOnce(t *testing.T) {
	t.Parallel()
	heritrix, pywb := &uri.Naming{Set: uri.Heritrix}, &uri.Naming{Set: uri.Pywb}
	tracking := &uri.Naming{Drop: []string{"utm_*"}}
	type found struct {
		uri  string
		hops uri.HopPath
		via  string
		want bool // whether the URI is new
	}
	for _, c := range []struct {
		name   string
		naming *uri.Naming
		finds  []found
	}{
		{"without rules each is its own", nil, []found{{"http://news.example/a", "L", "", true}, {"http://news.example/A", "L", "", true}}},
		{"the first one stays", tracking, []found{
			{"http://news.example/a?utm_source=x", "L", "", true},
			{"http://news.example/a", "L", "", false},
			{"http://news.example/a?utm_source=y", "L", "", false},
			{"http://news.example/a?utm_source=x", "L", "", false},
			{"http://news.example/b", "L", "", true},
		}},
		{"on another host", heritrix, []found{{"http://www.news.example/a", "L", "", true}, {"http://news.example/a", "L", "", false}, {"http://www2.news.example/A", "L", "", false}}},
		{"a home page on another host is another one", heritrix, []found{{"http://www.news.example/", "L", "", true}, {"http://news.example/", "L", "", true}}},
		{"a name that is no URI", pywb, []found{{"http://www.news.example/a?b&a", "L", "", true}, {"https://news.example/A/?a&b", "L", "", false}}},
		{"a seed is always taken", pywb, []found{{"http://news.example/a", "L", "", true}, {"https://news.example/a", "", "", true}}},
		{"what redirects to its own name is followed", pywb, []found{
			{"http://news.example/a", "L", "", true}, {"https://www.news.example/a", "LR", "http://news.example/a", true}, {"https://news.example/a", "L", "", false},
		}},
		{"a redirect from another name is not", pywb, []found{{"http://news.example/a", "L", "", true}, {"https://news.example/a", "LR", "http://news.example/b", false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, calling(c.naming))
			for i, f := range c.finds {
				if i == 2 {
					w.reopen(day)
				}
				if got := w.find(f.uri, f.hops, f.via); got != f.want {
					t.Errorf("%s was new: %t, want %t", f.uri, got, f.want)
				}
			}
		})
	}
}

func TestOnePageMayLinkToTwoURIsWithTheSameName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calling(&uri.Naming{Set: uri.Pywb}))
	got, err := w.Add(day,
		frontier.Candidate{URI: parse(t, "http://news.example/a"), Hops: "L"},
		frontier.Candidate{URI: parse(t, "https://www.news.example/a"), Hops: "L"},
		frontier.Candidate{URI: parse(t, "http://news.example/a?"), Hops: "L"})
	if want := (frontier.Added{New: 1, Known: 2}); err != nil || got != want {
		t.Errorf("Add = %+v, %v; want %+v", got, err, want)
	}
}

func TestVisitedForReturnsTheHolderOfAName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://news.example/a", "http://news.example/A", "http://news.example/b",
		"http://news.example/C?", "http://news.example/C")
	holder := func(text string, hops uri.HopPath) string {
		t.Helper()
		u, err := w.VisitedFor(frontier.Record{URI: parse(t, text), Hops: hops})
		must(t, err)
		return u.String()
	}
	if got := holder("http://news.example/A", "L"); got != "http://news.example/A" {
		t.Errorf("without rules the holder is %s", got)
	}
	w.o.Names = func(uri.Host) *uri.Naming { return &uri.Naming{Set: uri.Heritrix} }
	w.reopen(day)
	for _, c := range []struct {
		name, uri string
		hops      uri.HopPath
		want      string
	}{
		{"the one that is its own name has it", "http://news.example/A", "L", "http://news.example/a"},
		{"it asks for itself", "http://news.example/a", "L", "http://news.example/a"},
		{"the other one asks again", "http://news.example/A", "L", "http://news.example/a"},
		{"the first that asks has a name that no URI is", "http://news.example/C?", "L", "http://news.example/C?"},
		{"another one finds it taken", "http://news.example/C", "L", "http://news.example/C?"},
		{"a seed is its own", "http://news.example/a", "", "http://news.example/a"},
		{"one without another", "http://news.example/b", "L", "http://news.example/b"},
	} {
		if got := holder(c.uri, c.hops); got != c.want {
			t.Errorf("%s: holder %s, want %s", c.name, got, c.want)
		}
	}
}

// If a link in a feed has tracking parameters, the page under its plain URI becomes due.
func TestSoonerAppliesToTheHolderOfAName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calling(&uri.Naming{Drop: []string{"utm_*"}}))
	w.find("http://news.example/a", "L", "")
	later := at(10 * 24 * time.Hour)
	c := w.claim(day, "http://news.example/a")
	c.Record.Due = later
	w.settle(c, frontier.Settlement{Record: c.Record, Finished: day})
	got, err := w.Add(day, frontier.Candidate{URI: parse(t, "http://news.example/a?utm_source=feed"), Hops: "M", Due: at(time.Second), Sooner: true})
	if want := (frontier.Added{Known: 1, Sooner: 1}); err != nil || got != want {
		t.Errorf("Add = %+v, %v; want %+v", got, err, want)
	}
}

// A page that has the same name as a dead link is still visited, whether it is known or new.
func TestNamesGoToReachableURIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calling(&uri.Naming{Drop: []string{"ref"}}))
	w.find("http://news.example/a?ref=old", "L", "")
	c := w.claim(day, "http://news.example/a?ref=old")
	c.Record.Gone, c.Record.Due = 1, at(time.Hour)
	w.settle(c, frontier.Settlement{Record: c.Record, Finished: day})
	if !w.find("http://news.example/a", "L", "") {
		t.Error("a new URI was replaced by the dead one with the same name")
	}
	if w.find("http://news.example/a?ref=new", "L", "") {
		t.Error("another new URI with the name was not replaced by the one before")
	}
	dead, err := w.VisitedFor(c.Record)
	if err != nil || dead.String() != "http://news.example/a" {
		t.Errorf("the URI that is visited instead of the dead one is %s, %v", dead, err)
	}
}

// A link to a new host becomes no URI if another URI has its name. The hosts that the same page names
// after it get the next numbers, without a gap.
func TestALinkThatBecomesNoURILeavesNoGapInTheHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calling(&uri.Naming{Set: uri.Heritrix}))
	var links []frontier.Candidate
	for _, text := range []string{"http://www.news.example/a", "http://news.example/a", "http://other.example/"} {
		links = append(links, frontier.Candidate{URI: parse(t, text), Hops: "L"})
	}
	added, err := w.Add(day, links...)
	if err != nil || added.New != 2 || added.Known != 1 {
		t.Fatalf("Add = %+v, %v; want two new URIs and a known one", added, err)
	}
	w.check()
	w.reopen(day)
	w.find("http://other.example/b", "L", "")
	if _, ok, err := w.Get(parse(t, "http://other.example/")); !ok || err != nil {
		t.Errorf("Get = %t, %v", ok, err)
	}
}

// half divides hosts among two stores by the length of their names.
type half struct {
	odd    bool // whether the hosts with names of odd lengths belong to this store
	row    func(key []byte) []byte
	posted []frontier.Candidate // in transactions that were committed
	fails  error
}

func (h *half) Has(host uri.Host) bool { return (len(host)%2 == 1) != h.odd }

func (h *half) Row(_ uri.Host, key []byte) []byte { return h.row(key) }

func (*half) Size() int64 { return 0 }

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
		return two.portable()[string(key)]
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
