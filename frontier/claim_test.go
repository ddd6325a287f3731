package frontier_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

func TestValenceMayChange(t *testing.T) {
	t.Parallel()
	valence := 3
	w := newWorld(t, func(o *frontier.Options) {
		o.Valence = func(uri.Host) int { return valence }
		o.Order = frontier.ByDue
	})
	for i, page := range pages("a.example", 10) {
		w.addDue(day, page, day.Add(time.Duration(i)*time.Millisecond))
	}
	now := at(time.Minute)
	a, b, c := w.claim(now, "http://a.example/page/0"), w.claim(now, "http://a.example/page/1"), w.claim(now, "http://a.example/page/2")
	valence = 1
	w.settle(a, visited(a, now, time.Hour))
	w.settle(b, visited(b, now.Add(time.Second), time.Hour))
	w.nothing(now.Add(time.Hour)) // the one slot left is still taken
	w.settle(c, visited(c, now.Add(2*time.Second), time.Hour))
	// The latest of the three delays counts.
	a = w.nextAt(now.Add(4*time.Second), "http://a.example/page/3")
	w.nothing(now.Add(time.Hour))
	valence = 2
	w.settle(a, visited(a, now.Add(5*time.Second), time.Hour))
	w.claim(now.Add(5*time.Second), "http://a.example/page/4")
	w.nextAt(now.Add(7*time.Second), "http://a.example/page/5")
	valence = -1 // counts as one
	w.reopen(now.Add(24 * time.Hour))
	w.claim(now.Add(48*time.Hour), "http://a.example/page/4")
	w.nothing(now.Add(48 * time.Hour))
	valence = 2
	must(t, w.RefreshHosts(nil)) // no visit of the host ends meanwhile
	w.claimAny(now.Add(48 * time.Hour))
}

func TestDivertSpendsTheSlotOnAnotherURI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://a.example/", day)
	c := w.claim(at(time.Second), "http://a.example/")
	for _, u := range []uri.URI{{}, parse(t, "http://b.example/robots.txt")} {
		if _, err := w.Divert(c, u, day); err == nil {
			t.Errorf("Divert took %q, which is not on the host", u)
		}
	}
	r, err := w.Divert(c, parse(t, "http://a.example/robots.txt"), at(time.Second))
	must(t, err)
	want := frontier.Record{
		URI: parse(t, "http://a.example/robots.txt"), Hops: "P", Via: "http://a.example/",
		History: frontier.History{FirstSeen: at(time.Second)},
	}
	if r.Record != want || r.Overdue != 0 {
		t.Errorf("Divert returned %+v, overdue %s; want %+v", r.Record, r.Overdue, want)
	}
	w.check()
	w.nothing(at(time.Hour)) // one slot, and it is spent

	body := []byte("User-agent: *\nDisallow:\n")
	o := frontier.Settlement{Record: r.Record, Finished: at(2 * time.Second), Politeness: polite}
	o.Robots = &frontier.RobotsCopy{Fetched: at(2 * time.Second), Expires: at(24 * time.Hour), Status: 200, Body: body}
	w.settle(r, o)
	// The page stayed due where it was; the host rests as after any visit.
	c = w.nextAt(at(4*time.Second), "http://a.example/")
	if c.Overdue != 4*time.Second {
		t.Errorf("Overdue = %s, want 4s", c.Overdue)
	}
	w.settle(c, visited(c, at(5*time.Second), 10*time.Minute))
	// robots.txt is in no queue.
	c = w.nextAt(at(5*time.Second+10*time.Minute), "http://a.example/")

	again, err := w.Divert(c, parse(t, "http://a.example/robots.txt"), at(time.Hour))
	if err != nil || again.Record != w.get("http://a.example/robots.txt") {
		t.Errorf("Divert to a known URI = %+v, %v; want its record", again.Record, err)
	}
	w.settle(again, o)
}

func TestDivertedURIThatIsFoundDuringTheVisit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	r, err := w.Divert(w.claim(day, "http://a.example/"), parse(t, "http://a.example/robots.txt"), day)
	must(t, err)
	w.add(day, "http://a.example/robots.txt") // some page links to it
	w.check()
	w.settle(r, frontier.Settlement{Record: r.Record, Finished: day})
	w.check()
	if n := w.Counts(day); n.URIs != 2 || n.Queued != 1 {
		t.Errorf("Counts = %+v, want 2 URIs, 1 in the queue", n)
	}
}

// small limits news.example to two URIs in a folder, and every host to five.
func small(o *frontier.Options) {
	o.MaxURIsPerHost = 5
	o.Limits = func(h uri.Host) frontier.Limits {
		if h == "news.example" {
			return frontier.Limits{PerDirectory: 2}
		}
		return frontier.Limits{URIs: 1}
	}
}

var isNew, known, refused = frontier.Added{New: 1}, frontier.Added{Known: 1}, frontier.Added{Refused: 1}

// tryAdd adds a URI, and compares the result.
func (w *world) tryAdd(text string, want frontier.Added) {
	w.Helper()
	if got := w.addAll(candidates(w, text)...); got != want {
		w.Errorf("Add(%s) = %+v; want %+v", text, got, want)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, small)
	w.tryAdd("http://news.example/a/1", isNew)
	w.tryAdd("https://news.example/a/2", isNew)
	w.tryAdd("http://news.example/a/3", refused)
	w.tryAdd("http://news.example/a/1", known)
	w.tryAdd("http://news.example/b/1", isNew)
	w.reopen(day)
	w.tryAdd("http://news.example/a/4?folders/are/of/the/path", refused)
	w.tryAdd("http://news.example/b/c/1", isNew)
	w.tryAdd("http://news.example/d", isNew)
	w.tryAdd("http://news.example/e", refused) // the host is full
	w.tryAdd("http://other.example/1", isNew)
	w.tryAdd("http://other.example/2", refused)

	got, err := w.Usage(parse(t, "https://news.example/a/3"))
	if want := (frontier.Usage{URIs: 5, InDirectory: 2, Limits: frontier.Limits{
		URIs:         5,
		PerDirectory: 2,
	}}); err != nil || got != want {
		t.Errorf("Usage = %+v, %v; want %+v", got, err, want)
	}

	w.steerAt(day, named(t, "http://news.example/a/1"), frontier.Action{Verb: frontier.Forget})
	w.tryAdd("http://news.example/a/5", isNew)
	w.tryAdd("http://news.example/a/6", refused)
}

// A limit on folders that is set later counts the URIs that were known before. It also counts URIs that were added
// during a time without limit.
func TestFolderLimitsCountURIsThatWereKnownBefore(t *testing.T) {
	t.Parallel()
	var most int64
	w := newWorld(t, func(o *frontier.Options) {
		o.Limits = func(uri.Host) frontier.Limits { return frontier.Limits{PerDirectory: most} }
	})
	for _, text := range []string{"http://news.example/a/1", "http://news.example/a/2", "https://news.example/a/3", "http://news.example/b/1", "http://other.example/a/1"} {
		w.tryAdd(text, isNew)
	}
	most = 3
	w.tryAdd("http://news.example/a/4", refused)
	w.tryAdd("http://news.example/b/2", isNew)
	most = 0
	w.tryAdd("http://news.example/b/3", isNew)
	w.reopen(day)
	most = 3
	w.tryAdd("http://news.example/b/4", refused)
	w.steerAt(day, named(t, "http://news.example/a/1"), frontier.Action{Verb: frontier.Forget})
	w.tryAdd("http://news.example/a/5", isNew)
	w.tryAdd("http://news.example/a/6", refused)
	w.tryAdd("http://news.example/c/1", isNew)
	w.tryAdd("http://other.example/a/2", isNew)
	if got, err := w.Usage(parse(t, "http://news.example/b/9")); err != nil || got.InDirectory != 3 {
		t.Errorf("%d URIs are in the folder, %v; want 3", got.InDirectory, err)
	}
}

// URIs that are added while the folders of a host are counted are counted too.
func TestFoldersAreCountedWhileTheyGrow(t *testing.T) {
	t.Parallel()
	limited := atomic.Bool{}
	w := newWorld(t, func(o *frontier.Options) {
		o.Limits = func(uri.Host) frontier.Limits {
			if limited.Load() {
				return frontier.Limits{PerDirectory: 1_000_000}
			}
			return frontier.Limits{}
		}
	})
	const before, workers, each = 6_000, 4, 300
	var known []string
	for i := range before {
		known = append(known, fmt.Sprintf("http://news.example/f%d/%d", i%2_000, i))
	}
	w.addAll(candidates(t, known...)...)
	limited.Store(true)
	var adding sync.WaitGroup
	for n := range workers {
		adding.Go(func() {
			for i := range each {
				if _, err := w.Add(day, candidates(t, fmt.Sprintf("http://news.example/f%d/new-%d-%d", i%7, n, i))...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	adding.Wait()
	total := int64(0)
	for i := range 2_000 {
		got, err := w.Usage(parse(t, fmt.Sprintf("http://news.example/f%d/", i)))
		must(t, err)
		total += got.InDirectory
	}
	if total != before+workers*each {
		t.Errorf("%d URIs were counted, want %d", total, before+workers*each)
	}
}

// leave claims a URI and settles it as out of scope: it is due again a day later.
func (w *world) leave(now time.Time, u string) {
	w.Helper()
	c := w.claim(now, u)
	r := c.Record
	r.DueInScope, r.Due, r.LastStatus = r.Due, now.Add(24*time.Hour), -5000
	w.settle(c, frontier.Settlement{Record: r, Finished: now, NoRequest: true})
}

func (w *world) outOfScope(n int) (list []uri.URI) {
	w.Helper()
	w.walk(func(from frontier.Cursor) (frontier.Cursor, error) {
		some, next, err := w.OutOfScope(from, n)
		for _, r := range some {
			list = append(list, r.URI)
		}
		return next, err
	})
	return list
}

func TestURIsOutOfScopeAreListedAndReturnToTheirDueTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 3 {
		host := fmt.Sprintf("http://a%d.example/", i)
		w.add(at(time.Duration(i)*time.Second), host)
		w.add(at(2*time.Hour), host+"1", host+"2")
	}
	now := at(time.Hour)
	for _, u := range []string{"http://a0.example/", "http://a1.example/", "http://a2.example/"} {
		w.leave(now, u)
	}
	w.check()
	for _, n := range []int{1, 2, 3, 100} {
		if got := w.outOfScope(n); len(got) != 3 {
			t.Errorf("in pages of %d: %v, want three URIs", n, got)
		}
	}
	w.reopen(now) // the list is stored
	back, unknown, never := parse(t, "http://a1.example/"), parse(t, "http://a9.example/"), parse(t, "http://a1.example/1")
	n, err := w.ReturnToScope(now, back, unknown, never)
	if err != nil || n != 1 {
		t.Fatalf("ReturnToScope = %d, %v; want 1", n, err)
	}
	if r := w.get("http://a1.example/"); !r.Due.Equal(at(time.Second)) || !r.DueInScope.IsZero() || r.LastStatus == -5000 {
		t.Errorf("back in scope: %+v, want it due as it was", r.History)
	}
	if r := w.get("http://a2.example/"); !r.Due.Equal(now.Add(24*time.Hour)) || !r.DueInScope.Equal(at(2*time.Second)) {
		t.Errorf("still out of scope: %+v", r.History)
	}
	w.check()
	if got := w.outOfScope(10); len(got) != 2 {
		t.Errorf("still out of scope: %v, want two", got)
	}
}

func TestURIsOutOfScopeLeaveTheListWhenTheyAreVisitedForgottenOrSteered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := at(time.Hour)
	all := []string{"http://a.example/", "http://b.example/", "http://c.example/", "http://d.example/"}
	for _, u := range all {
		w.add(day, u)
		w.leave(now, u)
	}
	only := func(u string) frontier.Selection { return frontier.Selection{URIs: []uri.URI{parse(t, u)}} }
	w.steerAt(now, only(all[0]), frontier.Action{Verb: frontier.Forget})
	w.steerAt(now, only(all[1]), frontier.Action{Verb: frontier.Reschedule, Due: now.Add(48 * time.Hour)})
	later := now.Add(25 * time.Hour)
	for range 2 {
		c := w.claimAny(later)
		if n, err := w.ReturnToScope(later, c.Record.URI); n != 0 || err != nil {
			t.Errorf("ReturnToScope of a claimed URI = %d, %v; want 0", n, err)
		}
		o := visited(c, later, time.Hour)
		o.Record.DueInScope = time.Time{}
		w.settle(c, o)
	}
	w.check()
	if got := w.outOfScope(10); len(got) != 0 {
		t.Errorf("listed: %v, want none", got)
	}
}

func TestARecordIsRevisedBetweenTwoVisits(t *testing.T) {
	t.Parallel()
	const u = "http://a.example/"
	w := newWorld(t)
	w.add(at(0), u)
	revise := func(now time.Time, change func(*frontier.Record) bool) bool {
		t.Helper()
		done, err := w.Revise(now, parse(t, u), change)
		must(t, err)
		w.check()
		return done
	}
	later := func(r *frontier.Record) bool {
		r.Due, r.Why, r.Rendered, r.Versions = at(5*time.Hour), "the text", "seen", 7
		return true
	}
	c := w.claim(at(time.Minute), u)
	if revise(at(time.Minute), later) {
		t.Error("a URI that is being visited was revised")
	}
	r := c.Record
	r.Due, r.Visits = at(2*time.Hour), 1
	w.settle(c, frontier.Settlement{Record: r, Finished: at(time.Minute)})
	if revise(at(time.Hour), func(r *frontier.Record) bool { r.Visits = 99; return false }) {
		t.Error("a record that was to stay was revised")
	}
	if !revise(at(time.Hour), later) {
		t.Error("the record was not revised")
	}
	if done, err := w.Revise(at(0), parse(t, "http://never.example/"), later); done || err != nil {
		t.Errorf("an unknown URI: %v, %v", done, err)
	}
	w.reopen(at(2 * time.Hour)) // it is stored, and so is its place in the queue
	if got := w.get(u); got.Why != "the text" || got.Rendered != "seen" || got.Versions != 7 || got.Visits != 1 {
		t.Errorf("the record is %+v", got)
	}
	if c, ok, err := w.Claim(at(3 * time.Hour)); ok || err != nil {
		t.Errorf("before its new due time, %v was claimed, %v", c.Record.URI, err)
	}
	w.claim(at(5*time.Hour), u)
}

// has reports whether a transaction can read a key.
func has(t testing.TB, txn *badger.Txn, key string) bool {
	t.Helper()
	_, err := txn.Get([]byte(key))
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// look calls see with the transaction that the next reader gets.
func (w *world) look(see func(txn *badger.Txn)) {
	w.Helper()
	w.wantErr(w.View(func(txn *badger.Txn) error { see(txn); return nil }), nil)
}

func TestReadersShareATransactionUntilTheFrontierChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	c := w.claim(day, "http://a.example/")
	o := visited(c, day, time.Hour)
	o.AlsoWrite = func(txn *badger.Txn) error { return txn.Set([]byte("z1"), nil) }
	var before *badger.Txn
	w.look(func(txn *badger.Txn) { before = txn })
	w.look(func(txn *badger.Txn) {
		if txn != before {
			t.Error("the next reader has another transaction, although nothing changed")
		}
		w.settle(c, o)
		if has(t, txn, "z1") {
			t.Error("a transaction sees a later write")
		}
		w.look(func(newcomer *badger.Txn) {
			if newcomer == txn || !has(t, newcomer, "z1") {
				t.Error("a reader after a settlement does not see it")
			}
		})
		if has(t, txn, "z1") {
			t.Error("a transaction in use was replaced")
		}
	})
	f := w.Frontier
	w.close()
	w.wantErr(f.View(func(*badger.Txn) error { t.Error("a closed store was read"); return nil }), frontier.ErrClosed)
}

func TestSyncShowsReadersTheWritesOfOtherPackages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.look(func(*badger.Txn) {})
	w.wantErr(w.DB().Update(func(txn *badger.Txn) error { return txn.Set([]byte("z1"), nil) }), nil)
	w.wantErr(w.Sync(), nil)
	w.look(func(txn *badger.Txn) {
		if !has(t, txn, "z1") {
			t.Error("a write before the sync is not visible")
		}
	})
}
