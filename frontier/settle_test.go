package frontier_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// same fails the test if two values differ in any field.
func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b uri.URI) bool { return a == b })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// full returns a record with every field set.
func full(u uri.URI) frontier.Record {
	return frontier.Record{URI: u, Hops: "LRE", Via: "http://a.example/", Seed: "http://a.example/", History: frontier.History{
		FirstSeen: at(-time.Hour), LastVisit: at(time.Microsecond), LastCapture: at(-time.Minute),
		LastChange: at(-time.Second), Due: at(36 * time.Hour),
		Visits: 7, Versions: 3, Failures: 2, Unread: 1, LastStatus: -2, Wait: 36*time.Hour + 1,
		ReportedChange: at(-2 * time.Second), ReportedUnchanged: at(-3 * time.Second),
		ContentType: "text/html; charset=ISO-8859-1", Status: 200, Location: "http://a.example/b",
		Validators: evaluators.Validators{ETag: `W/"x"`, LastModified: "Sun, 01 Mar 2026 12:00:00 GMT"},
		Payload:    digest.Of([]byte("p")), Comparison: digest.Comparison{Sum: digest.Of([]byte("c")), Rules: 1 << 63}, Size: 1 << 40,
		Origin: digest.Origin{
			RecordID: "urn:uuid:1", URI: "http://a.example/o", Date: at(-time.Hour), Payload: digest.Of([]byte("p")),
			File: "a.warc.gz", Offset: 1, Length: 2, Size: 3,
		},
	}}
}

func TestRecordsAreStoredCompletely(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	texts := []string{"http://a.example/full", "http://a.example/bare", "http://a.example/bytes", "http://a.example/long"}
	w.add(day, texts...)
	wants := map[string]frontier.Record{
		texts[0]: full(parse(t, texts[0])),
		texts[1]: {URI: parse(t, texts[1])},
		// Servers may send bytes that are not UTF-8, and no response may make the store unreadable.
		texts[2]: {URI: parse(t, texts[2]), History: frontier.History{
			ContentType: "text/\xff", Location: "\x00\xc3(", Validators: evaluators.Validators{ETag: "\xfe", LastModified: "\x80"},
		}},
		texts[3]: {URI: parse(t, texts[3]), History: frontier.History{Validators: evaluators.Validators{LastModified: "kept"}}},
	}
	for range texts {
		c := w.claimAny(day)
		text := c.Record.URI.String()
		o := frontier.Settlement{Record: wants[text], Finished: day}
		if text == texts[3] {
			o.Record.Validators.ETag = strings.Repeat("x", frontier.MaxText+1)
		}
		w.settle(c, o)
	}
	w.reopen(at(time.Hour))
	for text, want := range wants {
		same(t, w.get(text), want)
	}
	var seen []string
	if err := w.Each(func(r frontier.Record) error {
		seen = append(seen, r.URI.String())
		same(t, r, wants[r.URI.String()])
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(seen)
	slices.Sort(texts)
	same(t, seen, texts)
	w.nextAt(at(36*time.Hour), "http://a.example/full")
	if stop := errors.New("enough"); !errors.Is(w.Each(func(frontier.Record) error { return stop }), stop) {
		t.Error("Each continued after an error")
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

func TestAddIsBoundedAndComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	texts := append(pages("a.example", 1234), pages("b.example", 7)...)
	w.add(day, texts...)
	if added, err := w.Add(day, candidates(t, texts...)...); err != nil || added.Known != len(texts) {
		t.Errorf("Add of the same = %+v, %v; want all known", added, err)
	}
	if _, err := w.Add(day, frontier.Candidate{}); err == nil {
		t.Error("Add accepted a candidate without a URI")
	}
	if added, err := w.Add(day); err != nil || added != (frontier.Added{}) {
		t.Errorf("Add of nothing = %+v, %v", added, err)
	}
}

func TestSettleOfMoreThanFitsInOneTransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	c := w.claim(day, "http://a.example/")
	o := visited(c, day, time.Hour)
	long := strings.Repeat("/long", 100)
	for i := range 6000 {
		o.Found = append(o.Found, frontier.Candidate{
			URI: parse(t, fmt.Sprintf("http://a.example/%d%s", i, long)), Via: "http://a.example/" + long, Hops: "L",
		})
	}
	if added := w.settle(c, o); added.New != 6000 {
		t.Errorf("Settle = %+v, want 6000 new", added)
	}
	if r := w.get("http://a.example/"); r.Visits != 1 {
		t.Errorf("the visit was not remembered: %+v", r)
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
	same(t, w.get("http://a.example/"), before)
	changed := c
	changed.Record.URI = parse(t, "http://b.example/") // the URI of the claim is used instead
	w.settle(changed, visited(c, day, time.Hour))
}

func TestDueTimesAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		due, want time.Time
	}{
		{"in the past it is due at once", at(-time.Hour), at(-time.Hour)},
		{"before 1970 too", time.Date(1901, 1, 1, 0, 0, 0, 0, time.UTC), time.UnixMilli(1)},
		{"at the beginning of 1970 too", time.Unix(0, 0), time.UnixMilli(1)},
		{"in a thousand years it is due in ten", day.AddDate(1000, 0, 0), at(10 * 366 * 24 * time.Hour)},
		{"at the end of time too", time.Unix(1<<62, 0), at(10 * 366 * 24 * time.Hour)},
		{"a fraction of a millisecond is rounded up", at(time.Nanosecond), at(time.Millisecond)},
		{"zero is on demand", time.Time{}, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add(day, "http://a.example/")
			claim := w.claim(day, "http://a.example/")
			o := visited(claim, day, 0)
			o.Record.Due = c.due
			w.settle(claim, o)
			if got := w.get("http://a.example/").Due; !got.Equal(c.want) {
				t.Errorf("Due %s is stored as %s, want %s", c.due, got, c.want)
			}
			if _, ok := w.NextReady(); ok == c.want.IsZero() {
				t.Errorf("NextReady: %v", ok)
			}
		})
	}
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

func TestClaimsUnderOldRobotsRulesAreDueAgainAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *frontier.Options) { o.Valence = func(uri.Host) int { return 2 } })
	w.addDue(day, "http://a.example/1", day)
	w.addDue(day, "http://a.example/2", at(time.Millisecond))
	now := at(time.Minute)
	one, two := w.claim(now, "http://a.example/1"), w.claim(now, "http://a.example/2")
	r, err := w.Divert(two, parse(t, "http://a.example/robots.txt"), now)
	must(t, err)
	w.settle(r, frontier.Settlement{Record: r.Record, Finished: now, Reopen: true})
	o := visited(one, now.Add(time.Second), 30*24*time.Hour)
	o.Forbidden = true
	w.settle(one, o)
	if got := w.get("http://a.example/1").Due; !got.Equal(now.Add(time.Second)) {
		t.Errorf("due %s, want at once", got)
	}
	if got := w.Counts(now).Forbidden; got != 0 {
		t.Errorf("%d are forbidden, want none", got)
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
			Body: []byte{byte(i), 0xff},
		}
		want[origin] = body
		w.settle(r, frontier.Settlement{Record: r.Record, Finished: now, Robots: &body, Politeness: polite})
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

func TestRobotsCopiesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	r, err := w.Divert(w.claim(day, "http://a.example/"), parse(t, "http://a.example/robots.txt"), day)
	must(t, err)
	w.settle(r, frontier.Settlement{
		Record: r.Record, Finished: day,
		Robots: &frontier.RobotsCopy{Body: make([]byte, 5<<20)},
	})
	got, ok, err := w.Robots(r.Record.URI.Origin())
	if err != nil || !ok || len(got.Body) != frontier.MaxRobots {
		t.Errorf("Robots: %d bytes, %v, %v; want %d", len(got.Body), ok, err, frontier.MaxRobots)
	}
}

// A transaction of the store is limited to about one megabyte. A settlement must not fail even if all URIs of a host
// have the maximum length, and a robots.txt of the maximum size allows all of them again.
func TestTheLongestTextsFitIntoTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := func(n int) string {
		text := fmt.Sprintf("http://a.example/%d/", n)
		return text + strings.Repeat("x", uri.MaxLength-len(text))
	}
	const n = 150
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
		o.Record.Due, o.Record.Location, o.Record.Validators.ETag = now.Add(1000*time.Hour), long(n+2), long(n+3)
		w.settle(c, o)
		now = now.Add(time.Minute)
	}
	w.add(now, "http://a.example/")
	c := w.claimAny(now)
	c, err := w.Divert(c, c.Record.URI.Robots(), now)
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

func TestCountsReportsTheStatesOfHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://snoozed.example/", at(time.Hour))
	w.addDue(day, "http://busy.example/", at(-time.Minute))
	w.addDue(day, "http://busy.example/2", at(-time.Second))
	w.addDue(day, "http://ready.example/", at(-time.Millisecond))
	w.claim(day, "http://busy.example/")
	want := frontier.Counts{
		Hosts: 3, URIs: 4, Queued: 4, InProgress: 1, Ready: 1, Snoozed: 1, Busy: 1,
		Oldest: at(-time.Second), OldestReachable: at(-time.Second),
	}
	same(t, w.Counts(day), want)
	c := w.claim(day, "http://ready.example/")
	o := visited(c, day, time.Hour)
	o.Record.Due, o.Forbidden = time.Time{}, true
	w.settle(c, o)
	want.Queued, want.Ready, want.Idle, want.Forbidden = 3, 0, 1, 1
	same(t, w.Counts(day), want)
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

// values returns the values of all keys of a kind.
func (w *world) values(kind byte) map[string][]byte {
	w.Helper()
	found := map[string][]byte{}
	err := w.DB().View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kind}})
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
