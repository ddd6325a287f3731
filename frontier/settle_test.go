package frontier_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// same fails the test if two values differ in any field.
func same(t *testing.T, got, want any) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return // a comparison in words takes seconds for a megabyte
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b uri.URI) bool { return a == b })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Servers may send bytes that are not UTF-8, and no response may make the store unreadable. A text that is too long is
// stored empty.
func TestRecordsAreStoredCompletely(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var wants []frontier.Record
	for text, v := range map[string]evaluators.Validators{
		"http://a.example/1": {ETag: "\xfe", LastModified: "\x80"}, "http://a.example/2": {LastModified: "kept"},
	} {
		w.add(day, text)
		c := w.claimAny(at(time.Hour))
		o := frontier.Settlement{Record: fixtureRecords(t)[38], Finished: day}
		o.Record.URI, o.Record.Validators = c.Record.URI, v
		wants = append(wants, o.Record)
		if v.ETag == "" {
			o.Record.Validators.ETag = strings.Repeat("x", frontier.MaxText+1)
		}
		w.settle(c, o)
	}
	w.reopen(at(time.Hour))
	seen := 0
	must(t, w.Each(func(r frontier.Record) error {
		seen++
		same(t, r, wants[slices.IndexFunc(wants, func(want frontier.Record) bool { return want.URI == r.URI })])
		return nil
	}))
	if stop := errors.New("enough"); seen != 2 || !errors.Is(w.Each(func(frontier.Record) error { return stop }), stop) {
		t.Errorf("Each had %d records, or continued after an error", seen)
	}
}

func TestAddDoesNotChangeKnownURIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://a.example/", at(time.Hour))
	before := w.get("http://a.example/")
	added, err := w.Add(at(time.Minute),
		frontier.Candidate{URI: before.URI, Hops: "R", Via: "http://b.example/", Due: day},
		frontier.Candidate{URI: parse(t, "http://b.example/")},
		frontier.Candidate{URI: parse(t, "http://b.example/")})
	if want := (frontier.Added{New: 1, Known: 2}); err != nil || added != want {
		t.Errorf("Add = %+v, %v; want %+v", added, err, want)
	}
	same(t, w.get("http://a.example/"), before)
	w.nextAt(at(time.Minute), "http://b.example/")
	w.nextAt(at(time.Hour), "http://a.example/")
	if _, err := w.Add(day, frontier.Candidate{}); err == nil {
		t.Error("Add accepted a candidate without a URI")
	}
	if added, err := w.Add(day); err != nil || added != (frontier.Added{}) {
		t.Errorf("Add of nothing = %+v, %v", added, err)
	}
}

func TestAddRefusesURIsOfAFullHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *frontier.Options) { o.MaxURIsPerHost = 3 })
	added, err := w.Add(day, candidates(t, append(pages("a.example", 5), pages("b.example", 1)...)...)...)
	if want := (frontier.Added{New: 4, Refused: 2}); err != nil || added != want {
		t.Errorf("Add = %+v, %v; want %+v", added, err, want)
	}
	// The robots.txt of a full host is not refused.
	c := w.claimAny(day)
	r, err := w.Divert(c, c.Record.URI.Robots(), day)
	must(t, err)
	o := visited(r, day, 0)
	o.Record.Due = time.Time{}
	o.Found = candidates(t, pages("a.example", 5)...)
	if added, want := w.settle(r, o), (frontier.Added{Known: 3, Refused: 2}); added != want {
		t.Errorf("Settle = %+v, want %+v", added, want)
	}
}

func TestSettleRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	before := w.get("http://a.example/")
	c := w.claim(day, "http://a.example/")
	other := visited(c, day, time.Hour)
	other.Record.URI = parse(t, "http://a.example/other")
	endless := visited(c, day, time.Hour)
	endless.Finished = time.Time{}
	nameless := visited(c, day, time.Hour)
	nameless.Found = []frontier.Candidate{{}}
	for name, o := range map[string]frontier.Settlement{
		"a record of another URI": other, "a visit without end": endless, "a link without URI": nameless,
	} {
		if _, err := w.Settle(c, o); err == nil || errors.Is(err, frontier.ErrStale) {
			t.Errorf("%s: error %v, want one, and not that the claim is stale", name, err)
		}
		w.check()
	}
	_, err := w.Settle(frontier.Claim{}, visited(c, day, time.Hour))
	w.wantErr(err, frontier.ErrStale)
	same(t, w.get("http://a.example/"), before)
	changed := c
	changed.Record.URI = parse(t, "http://b.example/") // the URI of the claim is used instead
	w.settle(changed, visited(c, day, time.Hour))
}

func TestForbiddenURIsAreDueWhenTheRulesChange(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 49, 50, 51, 120} {
		t.Run(fmt.Sprintf("%d of them", n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			free := frontier.Politeness{}
			texts := append(pages("a.example", n), "https://a.example/other-origin", "http://a.example/allowed")
			w.add(day, texts...)
			for range texts {
				c := w.claimAny(day)
				o := visited(c, day, 30*24*time.Hour)
				o.Politeness = free
				o.Forbidden = c.Record.URI.String() != "http://a.example/allowed"
				w.settle(c, o)
			}
			if got := w.Counts(day).Forbidden; got != int64(n+1) {
				t.Fatalf("%d URIs are forbidden, want %d", got, n+1)
			}
			w.reopen(at(time.Hour))
			w.add(at(time.Hour), "http://a.example/fresh")
			now := at(2 * time.Hour)
			r, err := w.Divert(w.claim(now, "http://a.example/fresh"), parse(t, "http://a.example/robots.txt"), now)
			must(t, err)
			w.settle(r, frontier.Settlement{
				Record: r.Record, Finished: now, Reopen: true,
				Robots: &frontier.RobotsCopy{Status: 200},
			})
			w.check()
			if got := w.Counts(now); got.Forbidden != 1 {
				t.Errorf("Counts = %+v; want only the URI of the other origin forbidden", got)
			}
			for range n + 1 { // and the fresh one
				c := w.claimAny(now)
				o := visited(c, now, 40*24*time.Hour)
				o.Politeness = free
				w.settle(c, o)
			}
			w.nothing(now)
		})
	}
}

func TestRobotsCopiesAreKeptForEachOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	origins := []string{"http://a.example/", "https://a.example/", "http://a.example:8080/"}
	want := map[string]frontier.RobotsCopy{}
	for i, origin := range origins {
		w.add(day, origin)
		now := at(time.Duration(i) * time.Minute)
		c := w.claimAny(now)
		r, err := w.Divert(c, c.Record.URI.Robots(), now)
		must(t, err)
		body := frontier.RobotsCopy{
			Fetched: now, Expires: now.Add(time.Hour), Status: 200 + i, Unreachable: i == 1,
			Body: make([]byte, 1+i*frontier.MaxRobots),
		}
		w.settle(r, frontier.Settlement{Record: r.Record, Finished: now, Robots: &body, Politeness: polite})
		body.Body = body.Body[:min(len(body.Body), frontier.MaxRobots)] // the rest is cut off
		want[origin] = body
		c = w.claimAny(now.Add(3 * time.Second))
		w.settle(c, visited(c, now.Add(3*time.Second), 100*time.Hour))
	}
	w.reopen(at(time.Hour))
	for _, origin := range origins {
		got, ok, err := w.Robots(parse(t, origin))
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		same(t, got, want[origin])
	}
	for _, unknown := range []string{"https://a.example:8080/", "http://b.example/"} {
		if _, ok, err := w.Robots(parse(t, unknown)); ok || err != nil {
			t.Errorf("Robots(%s) = %v, %v; want none", unknown, ok, err)
		}
	}
}

// A transaction of the store is limited to about one megabyte. A settlement must not fail even if all URIs of a host
// have the maximum length, and a robots.txt of the maximum size allows all of them again.
func TestTheLongestTextsFitIntoTheStore(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, slow.OneGoroutine)
	w := newWorld(t)
	long := func(n int) string {
		text := fmt.Sprintf("http://a.example/%d/", n)
		return text + strings.Repeat("x", uri.MaxLength-len(text))
	}
	const n = 160
	var cs []frontier.Candidate
	for i := range n {
		cs = append(cs, frontier.Candidate{URI: parse(t, long(i)), Via: long(n), Seed: long(n + 1), Due: day})
	}
	if added, err := w.Add(day, cs...); err != nil || added.New != n {
		t.Fatalf("%+v, %v", added, err)
	}
	now := day
	for range n {
		c := w.claimAny(now)
		o := frontier.Settlement{Record: c.Record, Finished: now, Forbidden: true}
		r := &o.Record
		r.Due, r.Location, r.Validators.ETag, r.Memory = now.Add(1000*time.Hour), long(n+2), long(n+3), long(n+4)
		w.settle(c, o)
		now = now.Add(time.Minute)
	}
	for _, verb := range []frontier.Verb{frontier.Hold, frontier.Release} {
		if done := w.steerAt(now, frontier.Selection{}, frontier.Action{Verb: verb}); done.Changed != n {
			t.Errorf("%s: %+v", verb, done)
		}
	}
	entries, _, err := w.List(now, frontier.Selection{}, "", 1000)
	must(t, err)
	if done, err := w.Import(now, true, entries...); err != nil || done.Replaced != n {
		t.Errorf("Import = %+v, %v", done, err)
	}
	w.add(now, "http://a.example/")
	c := w.claimAny(now)
	c, err = w.Divert(c, c.Record.URI.Robots(), now)
	must(t, err)
	o := frontier.Settlement{
		Record: c.Record, Finished: now, Reopen: true,
		Robots: &frontier.RobotsCopy{Body: make([]byte, frontier.MaxRobots)},
	}
	for i := range n {
		o.Found = append(o.Found, frontier.Candidate{URI: parse(t, strings.Replace(long(i), "a.example", "b.example", 1)), Via: long(n), Seed: long(n + 1), Due: day})
	}
	if added := w.settle(c, o); added.New != n {
		t.Errorf("%+v, want %d new", added, n)
	}
	if counts := w.Counts(now); counts.Forbidden != 0 || counts.URIs != 2*n+2 {
		t.Errorf("%+v, want %d URIs of which none is forbidden", counts, 2*n+2)
	}
	w.check()
}

func TestTwoURIsWithOneFingerprintAreNotConfused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/1", "http://a.example/2")
	// No two such URIs are known, so the row of one URI is written under the key of another.
	rows := w.values('u')
	if len(rows) != 2 {
		t.Fatalf("%d rows, want 2", len(rows))
	}
	swapped := map[string][]byte{}
	for k, v := range rows {
		for other, row := range rows {
			if other != k {
				swapped[other] = v
			}
			_ = row
		}
	}
	w.put(swapped)
	u := parse(t, "http://a.example/1")
	_, _, err := w.Get(u)
	w.wantErr(err, frontier.ErrCollision)
	for _, due := range []frontier.Candidate{{URI: u}, {URI: u, Sooner: true, Urgent: true, Due: day}} {
		added, err := w.Add(day, due) // as a seed is added at each start
		if err != nil || added != (frontier.Added{Known: 1}) {
			t.Errorf("Add of a URI whose place another one has: %+v, %v; want it refused as known", added, err)
		}
	}
	many := []frontier.Candidate{{URI: parse(t, "http://a.example/2")}} // so many that the rows of the host are scanned
	for _, text := range pages("a.example", 20) {
		many = append(many, frontier.Candidate{URI: parse(t, text), Due: at(time.Hour)})
	}
	added, err := w.Add(day, many...)
	if err != nil || added != (frontier.Added{New: 20, Known: 1}) {
		t.Errorf("Add of many URIs: %+v, %v", added, err)
	}
	if n := w.Collisions(); n != 2 {
		t.Errorf("%d collisions are counted, want both URIs", n)
	}
	imported, err := w.Import(day, true, frontier.Entry{Record: frontier.Record{URI: u}})
	if err != nil || imported != (frontier.Imported{Known: 1}) {
		t.Errorf("Import: %+v, %v; want it refused as known", imported, err)
	}
	_, _, err = w.Claim(day)
	w.wantErr(err, frontier.ErrCorrupt)
	w.wantErr(w.Check(), frontier.ErrCorrupt)
	w.put(rows)
	w.check()
}

// A URI of one host cannot keep a URI of another host out, even if both have the same fingerprint.
func TestACollisionStaysOnItsHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const attacked = "http://b.example/page"
	w.add(day, "http://a.example/1", "http://b.example/")
	sum := sha256.Sum256([]byte(attacked))
	forged := map[string][]byte{}
	for k, row := range w.values('u') {
		if bytes.Contains(row, []byte("a.example")) {
			forged[k[:5]+string(sum[:12])] = row // a URI of host a with the fingerprint of the attacked one
		}
	}
	if len(forged) != 1 {
		t.Fatalf("%d rows of host a, want 1", len(forged))
	}
	w.put(forged)
	added, err := w.Add(day, candidates(t, attacked)...)
	if err != nil || added != (frontier.Added{New: 1}) || w.Collisions() != 0 {
		t.Errorf("Add = %+v, %v; %d collisions; want a new URI", added, err, w.Collisions())
	}
	if r := w.get(attacked); r.URI.String() != attacked {
		t.Errorf("Get = %s", r.URI)
	}
	for k := range forged {
		must(t, w.DB().Update(func(txn *badger.Txn) error { return txn.Delete([]byte(k)) }))
	}
	w.check()
}

// values returns the values of all keys of a kind, or of all kinds.
func (w *world) values(kind ...byte) map[string][]byte {
	w.Helper()
	found := map[string][]byte{}
	err := w.DB().View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: kind})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			v, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			found[string(it.Item().Key())] = v
		}
		return nil
	})
	must(w, err)
	return found
}

// put writes keys directly into the store.
func (w *world) put(rows map[string][]byte) {
	w.Helper()
	err := w.DB().Update(func(txn *badger.Txn) error {
		for k, v := range rows {
			if err := txn.Set([]byte(k), v); err != nil {
				return err
			}
		}
		return nil
	})
	must(w, err)
}

func TestAlsoWriteIsPartOfTheSettlement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/", "http://b.example/")
	has := func(key string) (yes bool) {
		must(t, w.DB().View(func(txn *badger.Txn) error { yes = has(t, txn, key); return nil }))
		return yes
	}
	c := w.claim(day, "http://a.example/")
	broken := errors.New("broken")
	o := visited(c, day, time.Hour)
	o.AlsoWrite = func(txn *badger.Txn) error { return errors.Join(txn.Set([]byte("z1"), nil), broken) }
	_, err := w.Settle(c, o)
	w.wantErr(err, broken)
	if has("z1") {
		t.Error("a failed settlement was written")
	}
	full := w.claim(day, "http://b.example/") // the claim of a visit that finds no space ends as Abandon ends it
	o = visited(full, day, time.Hour)
	o.AlsoWrite = func(*badger.Txn) error { return frontier.ErrFull }
	_, err = w.Settle(full, o)
	w.wantErr(err, frontier.ErrFull)
	w.wantErr(w.Release(full, day), frontier.ErrStale)
	tries := 0
	o = visited(c, day, time.Hour)
	o.AlsoWrite = func(*badger.Txn) error { tries++; return badger.ErrConflict }
	_, err = w.Settle(c, o)
	if w.wantErr(err, badger.ErrConflict); tries != 101 {
		t.Errorf("with conflicts without end a settlement was tried %d times, want 101", tries)
	}
	tries = 0
	o = visited(c, day, time.Hour)
	o.Address = netip.MustParseAddr("::ffff:192.0.2.1")
	o.AlsoWrite = func(txn *badger.Txn) error { // the first three times another transaction changes a key that it has read
		if _, err := txn.Get([]byte("z2")); err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
			return err
		}
		if tries++; tries <= 3 {
			w.wantErr(w.DB().Update(func(other *badger.Txn) error { return other.Set([]byte("z2"), nil) }), nil)
		}
		return txn.Set([]byte("z1"), nil)
	}
	w.settle(c, o)
	if !has("z1") || tries != 4 {
		t.Errorf("written: %t, after %d tries; want it after 4", has("z1"), tries)
	}
	if got := w.Network("a.example"); got != netip.MustParsePrefix("192.0.2.1/32") {
		t.Errorf("the host is at %s", got)
	}
	w.nextAt(at(2*time.Second), "http://b.example/")
	w.check()
}

// A settlement that panics before it is committed leaves everything as it was. The same claim can be settled in another
// way, and settlements of others that shared the transaction are kept.
func TestAPanicWhileSettlingChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/", "http://b.example/", "http://c.example/")
	results := make(chan error)
	var bad frontier.Claim
	var poisoned frontier.Settlement
	for range 3 {
		c := w.claimAny(day)
		o := visited(c, day, time.Hour)
		if c.Record.URI.Host() == "b.example" {
			bad = c
			o.Found = []frontier.Candidate{{URI: parse(t, "http://b.example/found"), Hops: "L"}}
			o.AlsoWrite = func(txn *badger.Txn) error { panic("poison") }
			poisoned = o
		}
		go func() {
			_, err := w.Settle(c, o)
			results <- err
		}()
	}
	var failed []error
	for range 3 {
		if err := <-results; err != nil {
			failed = append(failed, err)
		}
	}
	if p := (*panics.Error)(nil); len(failed) != 1 || !errors.As(failed[0], &p) {
		t.Fatalf("the settlements ended with %v, want one panic", failed)
	}
	w.check()
	if _, ok, err := w.Get(parse(t, "http://b.example/found")); ok || err != nil {
		t.Errorf("Get = %t, %v; want nothing of the settlement that panicked", ok, err)
	}
	poisoned.AlsoWrite, poisoned.Found = nil, nil
	w.settle(bad, poisoned)
	w.check()
	for _, text := range []string{"http://a.example/", "http://b.example/", "http://c.example/"} {
		if r := w.get(text); r.Visits != 1 {
			t.Errorf("%s has %d visits, want 1", text, r.Visits)
		}
	}
}
