package frontier

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// A hint has the same values as its record, and so has the part of its row that pools read.
func TestHintsAgreeWithRecords(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, slow.OneGoroutine)
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 1000 {
		var w uriRow
		fillRow(rnd, reflect.ValueOf(&w).Elem())
		w.LastVisit, w.Wait = max(w.LastVisit, 0), max(w.Wait, 0)
		at := newPlace(5, fingerprint{1})
		row, _ := w.appendTo(nil)
		var part contenderRow
		if !part.read(row) || part != w.contender() {
			t.Fatalf("%+v\n%+v, want\n%+v", w, part, w.contender())
		}
		if got, ok := parseHint(at, w.hint()); !ok || got != newContender(at, w.contender()) {
			t.Fatalf("%+v\n%+v, %v, want\n%+v", w, got, ok, newContender(at, w.contender()))
		}
	}
}

func TestInvalidHintsAreIgnored(t *testing.T) {
	t.Parallel()
	whole := (&uriRow{Hops: "L", LastVisit: math.MaxInt32, Wait: math.MaxInt32, Rate: 1}).hint()
	for n := range len(whole) {
		got, ok := parseHint(place{}, whole[:n])
		if ok && got.rate != 0 {
			t.Errorf("%x: %+v", whole[:n], got)
		}
		if n < 3 && ok {
			t.Errorf("hint %x was accepted", whole[:n])
		}
	}
	for _, odd := range [][]byte{{4, 0, 0}, append(whole, 0), {
		0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x01, 0,
	}} {
		if got, ok := parseHint(place{}, odd); ok {
			t.Errorf("%x: %+v", odd, got)
		}
	}
}

// hints compares hints with their records, and counts the places that have one.
func hints(t *testing.T, f *Frontier) (n int) {
	t.Helper()
	err := f.db.View(func(txn *badger.Txn) error {
		for k, err := range scan(txn, []byte{kindQueue}, nil, 0) {
			if err != nil {
				return err
			}
			says, err := k.item.ValueCopy(nil)
			if err != nil {
				return err
			}
			at := place(k.rest)
			want := scannedPlace{contender: contender{at: at}}
			if ok, err := want.readFrom(txn, k.host); !ok || err != nil {
				t.Errorf("%x: %v, %v", at, ok, err)
			}
			if len(says) == 0 {
				continue
			}
			if got, ok := parseHint(at, says); !ok || got != want.contender {
				t.Errorf("the hint at %x is %+v, %v; the record has %+v", at, got, ok, want.contender)
			}
			n++
		}
		return nil
	})
	noErr(t, err)
	return n
}

// After any change to a URI, the hint at its place agrees with its record.
func TestPlacesHaveTheHintsOfTheirRecords(t *testing.T) {
	t.Parallel()
	f := openTest(t, Options{})
	for n := range 6 {
		link(t, f, fmt.Sprintf("http://a.example/%d", n))
	}
	now := start
	for i := range 20 {
		c, ok, err := f.Claim(now)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		r := c.Record
		r.LastVisit, r.Wait, r.Rate, r.Urgent = now, time.Duration(i)*time.Hour, float64(i%3), i%4 == 0
		r.ContentType = []string{"text/html", "application/rss+xml"}[i%2]
		if i%5 > 0 { // otherwise it keeps its place
			r.Due = now.Add(time.Duration(i%7) * time.Minute)
		}
		_, err = f.Settle(c, Settlement{Record: r, Finished: now})
		noErr(t, err)
		now = now.Add(time.Minute)
	}
	u := uri.FromCanonical("http://a.example/3")
	_, err := f.Add(now, Candidate{URI: u, Urgent: true, Sooner: true, Due: now.Add(-time.Hour)})
	noErr(t, err)
	if n := hints(t, f); n != 6 {
		t.Errorf("%d of 6 places have a hint", n)
	}
}

// One contender competes for each visit with a hundred others of far higher value. The shares make sure that it is
// chosen regularly. Without its share it would never be chosen.
func TestSharesKeepEachKindFromStarving(t *testing.T) {
	t.Parallel()
	const now = 1_000_000_000
	hour := time.Hour.Milliseconds()
	at := func(i int) place { return newPlace(now-1, newFingerprint(fmt.Sprint(i))) }
	busy := func(i int) contender { return contender{at: at(i), visited: now - 10*hour, wait: hour, rate: 100} }
	for _, kind := range []struct {
		name string
		c    contender
		want int // of 800 choices
	}{
		{"a seed or feed that hardly changes", contender{at: at(-1), visited: now - hour, wait: 1000 * hour, rate: 0.001, source: true}, 100},
		{"a seed that was never visited", contender{at: at(-1), source: true}, 100},
		{"a first visit", contender{at: at(-1)}, 200},
	} {
		chosen := func(order Order, share bool) (n int) {
			p := &pool{}
			for i := range 100 {
				p.due = append(p.due, busy(i))
			}
			p.due = append(p.due, kind.c)
			for turn := range 800 {
				if p.turn = 1; share {
					p.turn = int64(turn)
				}
				if p.due[p.best(order, now)] == kind.c {
					n++
				}
			}
			return n
		}
		for _, order := range []Order{ByValue, ByOverdue} {
			if n := chosen(order, true); n < kind.want {
				t.Errorf("%s, by %s: chosen %d times of 800, want %d", kind.name, order, n, kind.want)
			}
			if n := chosen(order, false); n != 0 {
				t.Errorf("%s, by %s: chosen %d times without a share, so that this test proves nothing", kind.name, order, n)
			}
		}
	}
}

// start is the time at which the tests of this package begin that look inside.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// openTest opens a frontier, which is checked and closed at the end of the test.
func openTest(t *testing.T, o Options) *Frontier {
	t.Helper()
	o.Now, o.Compactors = start, -1
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	f, err := Open(o)
	noErr(t, err)
	t.Cleanup(func() {
		if !f.closed {
			noErr(t, errors.Join(f.Check(), f.Close()))
		}
	})
	return f
}

// link adds a URI that some page links to.
func link(t *testing.T, f *Frontier, text string) Added {
	t.Helper()
	added, err := f.Add(start, Candidate{URI: uri.FromCanonical(text), Hops: "L"})
	noErr(t, err)
	return added
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPolitenessRest(t *testing.T) {
	t.Parallel()
	usual := Politeness{DelayFactor: 5, MinDelay: 2 * time.Second, MaxDelay: 30 * time.Second}
	with := func(change func(*Politeness)) Politeness {
		p := usual
		change(&p)
		return p
	}
	for _, c := range []struct {
		name string
		p    Politeness
		took time.Duration
		want time.Duration
	}{
		{"five times as long as the visit took", usual, time.Second, 5 * time.Second},
		{"at least the minimum", usual, time.Millisecond, 2 * time.Second},
		{"at most the maximum", usual, time.Minute, 30 * time.Second},
		{"at least what robots.txt asks for", with(func(p *Politeness) { p.CrawlDelay = time.Minute }), time.Second, time.Minute},
		{"robots.txt does not make it shorter", with(func(p *Politeness) { p.CrawlDelay = time.Second }), time.Second, 5 * time.Second},
		{"no floor is hidden", Politeness{DelayFactor: 1, MaxDelay: time.Minute}, time.Millisecond, time.Millisecond},
		{"a minimum below two seconds counts", Politeness{MinDelay: 100 * time.Millisecond, MaxDelay: time.Second}, 0, 100 * time.Millisecond},
		{"the minimum wins over a lower maximum", with(func(p *Politeness) { p.MaxDelay = time.Second }), 0, 2 * time.Second},
		{"a visit that ended before it began", usual, -time.Hour, 2 * time.Second},
		{"a factor that is no number", with(func(p *Politeness) { p.DelayFactor = math.NaN() }), time.Second, 2 * time.Second},
		{"a factor without end", with(func(p *Politeness) { p.DelayFactor = math.Inf(1) }), time.Second, 30 * time.Second},
		{"never longer than a day", Politeness{DelayFactor: 1e300, MaxDelay: math.MaxInt64}, time.Hour, 24 * time.Hour},
		{"nothing asked for", Politeness{}, time.Hour, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.p.Rest(c.took); got != c.want {
				t.Errorf("%+v.Rest(%s) = %s, want %s", c.p, c.took, got, c.want)
			}
		})
	}
}

func TestDueTimesAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		due, want time.Time
	}{
		{"in the past it is due at once", start.Add(-time.Hour), start.Add(-time.Hour)},
		{"before 1970 too", time.Date(1901, 1, 1, 0, 0, 0, 0, time.UTC), time.UnixMilli(1)},
		{"at the beginning of 1970 too", time.Unix(0, 0), time.UnixMilli(1)},
		{"in a thousand years it is due in ten", start.AddDate(1000, 0, 0), start.Add(10 * 366 * 24 * time.Hour)},
		{"at the end of time too", time.Unix(1<<62, 0), start.Add(10 * 366 * 24 * time.Hour)},
		{"a fraction of a millisecond is rounded up", start.Add(time.Nanosecond), start.Add(time.Millisecond)},
		{"zero is on demand", time.Time{}, time.Time{}},
	} {
		if got := fromMillis(dueMillis(c.due, start)); !got.Equal(c.want) {
			t.Errorf("%s: due %s is stored as %s, want %s", c.name, c.due, got, c.want)
		}
	}
}

// All ways to look up candidates find the same candidates: exactly those that have a row.
func TestLookUpAgreesWithGet(t *testing.T) {
	t.Parallel()
	f := openTest(t, Options{})
	page := func(host, i int) Candidate {
		return Candidate{URI: uri.FromCanonical(fmt.Sprintf("http://%c.example/%d", 'a'+host, i)), Hops: "L"}
	}
	for host := range 4 { // b, c, d and e have 1, 10, 100 and 1000 candidates; those with even numbers are known
		var cs []Candidate
		for i := range []int{1, 10, 100, 1000}[host] {
			cs = append(cs, page(host+1, 2*i))
		}
		_, err := f.Add(start, cs...)
		noErr(t, err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for round := range 100 {
		var cs []Candidate
		var fps []fingerprint
		for range 1 + rnd.IntN(200) {
			cs = append(cs, page(rnd.IntN(1+round%5), rnd.IntN(300)))
			fps = append(fps, newFingerprint(cs[len(cs)-1].URI.String()))
		}
		homes, _, err := f.candidateHosts(cs)
		noErr(t, err)
		want := make([]bool, len(cs))
		var asked []int
		for i, c := range cs {
			if asked = append(asked, i); homes[i].id == 0 {
				continue
			}
			_, want[i], err = f.Get(c.URI)
			noErr(t, err)
		}
		if got, err := f.lookUp(cs, fps, homes, make([]bool, len(cs))); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v\nfound %v, %v, want\n%v", cs, got, err, want)
		}
		if all := slices.Repeat([]bool{true}, len(cs)); !allTrue(f.lookUp(cs, fps, homes, all)) {
			t.Fatal("candidates that are known were looked up")
		}
		l := lookUp{candidates: cs, fingerprints: fps, known: make([]bool, len(cs)), collisions: &f.collisions}
		slices.SortFunc(asked, func(i, j int) int { return slices.Compare(fps[i][:], fps[j][:]) })
		for id := range uint32(4) {
			mine := slices.DeleteFunc(slices.Clone(asked), func(i int) bool { return homes[i].id != id+1 })
			if len(mine) == 0 {
				continue
			}
			noErr(t, f.View(func(txn *badger.Txn) error { return l.scan(txn, id+1, mine) }))
		}
		if !slices.Equal(l.known, want) {
			t.Fatalf("%v\nscan found %v, want\n%v", cs, l.known, want)
		}
	}
}

func allTrue(found []bool, err error) bool { return err == nil && !slices.Contains(found, false) }

func TestKnownCacheRemembersAndForgets(t *testing.T) {
	t.Parallel()
	r := NewRecent()
	a, b := r.Hash("http://a.example/"), r.Hash("http://b.example/")
	has := func() []bool {
		found := make([]bool, 3)
		r.Contains([]RecentHash{a, b, {}}, found)
		return found
	}
	if got := has(); slices.Contains(got, true) {
		t.Errorf("an empty cache contains %v, want nothing", got)
	}
	r.Remember([]RecentHash{a}, 0)
	if got := has(); !got[0] || got[1] {
		t.Errorf("after remembering a the cache contains %v", got)
	}
	r.Forget([]RecentHash{a})
	r.Remember([]RecentHash{b}, 0) // b was looked up before a was forgotten
	if got := has(); got[0] || got[1] {
		t.Errorf("after forgetting a the cache contains %v", got)
	}
}

// The cache remembers as many URIs as a large page has links, and never more than it has room for.
func TestKnownCacheHasRoomForTheLinksOfAPage(t *testing.T) {
	t.Parallel()
	r := NewRecent()
	marks := make([]RecentHash, 3*sets*ways)
	for i := range marks {
		marks[i] = r.Hash(fmt.Sprintf("http://a.example/%d", i))
	}
	count := func(of []RecentHash) (n int) {
		found := make([]bool, len(of))
		r.Contains(of, found)
		for _, ok := range found {
			if ok {
				n++
			}
		}
		return n
	}
	if r.Remember(marks[:5000], 0); count(marks[:5000]) < 4990 {
		t.Errorf("the cache has %d of 5000 links", count(marks[:5000]))
	}
	if r.Remember(marks, 0); count(marks) > sets*ways || count(marks[len(marks)-1000:]) < 900 {
		t.Errorf("the cache has %d links in total, and %d of the last thousand", count(marks), count(marks[len(marks)-1000:]))
	}
}

func TestOutdatedRobotsCopiesAreNotCached(t *testing.T) {
	t.Parallel()
	var c robotsCache
	origin := robotsFile{u: uri.FromCanonical("http://www.example.org/")}
	_, ok, round := c.get(origin)
	if ok {
		t.Fatal("the cache is not empty at the start")
	}
	c.invalidate(origin) // a settlement stores a new copy at the same time
	c.put(origin, RobotsCopy{Status: 200}, round)
	if _, ok, _ := c.get(origin); ok {
		t.Error("the outdated copy is in the cache")
	}
	_, _, round = c.get(origin)
	c.put(origin, RobotsCopy{Status: 404}, round)
	if got, ok, _ := c.get(origin); !ok || got.Status != 404 {
		t.Errorf("got %v, %t", got, ok)
	}
}

func TestRobotsCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c robotsCache
	for _, host := range []string{"http://a.example/", "http://b.example/", "http://c.example/"} {
		c.put(robotsFile{u: uri.FromCanonical(host)}, RobotsCopy{Body: make([]byte, maxCopiedBytes/2)}, 0)
		if c.bytes > maxCopiedBytes {
			t.Errorf("the cache has %d bytes, more than %d", c.bytes, maxCopiedBytes)
		}
	}
}

// TestDuePlacesAreCountedInMemory counts the places of a host before a time, of which memory knows all or some.
func TestDuePlacesAreCountedInMemory(t *testing.T) {
	t.Parallel()
	at := func(due int64) place { return newPlace(due, fingerprint{byte(due)}) }
	s := state{head: at(20), ahead: []place{at(30), at(40)}, queued: 6}
	s.slots = []slot{{place: at(10)}, {place: at(35)}, {}}
	for _, c := range []struct {
		end, want int64
		all       bool
	}{{25, 1, true}, {31, 2, true}, {36, 3, true}, {40, 3, true}, {41, 4, false}} {
		if n, all := s.knownBefore(newPlace(c.end, fingerprint{})); n != c.want || all != c.all {
			t.Errorf("before %d there are %d places, all %v; want %d, %v", c.end, n, all, c.want, c.all)
		}
	}
	s.queued = 5 // so memory knows all
	if n, all := s.knownBefore(lastPlace); n != 4 || !all {
		t.Errorf("there are %d places from the head on, all %v; want 4, true", n, all)
	}
}

// TestDueURIsAreReadOnce counts the due URIs of a host with more of them than memory knows, and looks which places a
// later count must read.
func TestDueURIsAreReadOnce(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	f, err := Open(Options{Dir: t.TempDir(), Now: begin, Compactors: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(f.Check(), f.Close()); err != nil {
			t.Error(err)
		}
	})
	var list []Candidate
	for i := range 300 {
		u := uri.FromCanonical(fmt.Sprintf("http://a.example/%d", i))
		list = append(list, Candidate{URI: u, Due: begin.Add(time.Duration(i) * time.Second)})
	}
	if _, err := f.Add(begin, list...); err != nil {
		t.Fatal(err)
	}
	check := func(after time.Duration, want, known int64) {
		t.Helper()
		end := newPlace(begin.Add(after).UnixMilli()+1, fingerprint{})
		n, unknown := f.countKnown(end)
		for _, q := range unknown {
			n += q.count.n - q.claimed
		}
		if n != known {
			t.Errorf("after %s memory knows %d due URIs, want %d", after, n, known)
		}
		if n, err := f.CountDue(begin.Add(after), 1000); err != nil || n != want {
			t.Errorf("after %s %d URIs are due, %v; want %d", after, n, err, want)
		}
		if n, unknown := f.countKnown(end); n != want || len(unknown) > 0 {
			t.Errorf("after the count memory knows %d due URIs, and %d hosts are unknown; want %d", n, len(unknown), want)
		}
	}
	check(99*time.Second, 100, 0)
	check(109*time.Second, 110, 100)
	now := begin.Add(109 * time.Second)
	c, ok, err := f.Claim(now)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	check(109*time.Second, 109, 109) // the claimed one is before the first of the others
	c.Record.Due = now.Add(time.Hour)
	if _, err := f.Settle(c, Settlement{Record: c.Record, Finished: now}); err != nil {
		t.Fatal(err)
	}
	check(109*time.Second, 109, 109)
	check(50*time.Second, 50, 0) // the clock was set back
	check(400*time.Second, 299, 50)
}

// Strays returns how many hosts with URIs in this store belong to other stores. They are not visited.
func (f *Frontier) Strays() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.byID {
		n += int(countIf(h.stray && h.uris > 0))
	}
	return n
}
