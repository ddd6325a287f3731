package frontier_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// heal corrects all due times of a world.
func heal(w *world, now time.Time) (corrected int) {
	w.Helper()
	w.walk(func(from frontier.Cursor) (frontier.Cursor, error) {
		next, n, err := w.Heal(now, from)
		corrected += n
		return next, err
	})
	if w.NeedsHealing() {
		w.Error("after healing, NeedsHealing() = true")
	}
	return corrected
}

// The clock was a year ahead for a while, also over a restart. Then no host rests, and no URI waits, for longer than it
// should from now.
func TestTimesFromTheFutureAreBoundedAtOpening(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://b.example/")
	c := w.claim(day, "http://b.example/")
	w.settle(c, visited(c, day, 3*365*24*time.Hour))
	w.add(day, "http://a.example/")
	if n := heal(w, day); n != 0 {
		t.Fatalf("corrected %d due times of a sound store", n)
	}
	future := day.AddDate(1, 0, 0)
	c = w.claim(future, "http://a.example/")
	o := visited(c, future, 6*time.Hour)
	o.RetryAfter = future.Add(time.Hour)
	w.settle(c, o)
	w.add(future, "http://c.example/")
	w.claim(future, "http://c.example/") // in progress at the crash
	w.reopen(future)
	now := at(time.Hour)
	w.reopen(now)
	if !w.NeedsHealing() {
		t.Fatal("NeedsHealing() = false; want true after the clock was ahead")
	}
	if n := heal(w, now); n != 2 {
		t.Errorf("corrected %d due times, want 2", n)
	}
	w.check()
	if got := w.get("http://a.example/").Due; !got.Equal(now.Add(6 * time.Hour)) {
		t.Errorf("it is due %s, want 6 hours after %s", got, now)
	}
	if v, _ := w.Host("a.example", now); v.Rest.After(now.Add(24 * time.Hour)) {
		t.Errorf("a.example rests until %s, want a day at most", v.Rest)
	}
	next, ok := w.NextReady()
	if !ok || next.After(now.Add(30*time.Second)) {
		t.Errorf("NextReady() = %s, %v; want c.example after the rest that follows a crash, from %s", next, ok, now)
	}
}

// The clock jumps while the frontier is open: a rest lasts as long as it should.
func TestRestsLastAsLongWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{5 * time.Hour, -5 * time.Hour, 1000 * time.Hour, -1000 * time.Hour} {
		for _, restart := range []bool{false, true} {
			w := newWorld(t)
			w.add(day, pages("a.example", 2)...)
			w.add(day, "http://b.example/")
			c := w.claim(day, "http://a.example/page/0")
			o := visited(c, day, 0)
			o.Rest = at(10 * time.Minute)
			w.settle(c, o)
			c = w.claim(day, "http://b.example/")
			w.settle(c, visited(c, day, 0))
			now := at(time.Minute).Add(by) // a minute has passed
			must(t, w.ShiftRests(now, by))
			if by < 0 {
				heal(w, now)
			}
			if restart {
				w.reopen(now)
			}
			w.check()
			w.claim(now, "http://b.example/") // its rest of two seconds is over
			next, ok := w.NextReady()
			if want := now.Add(9 * time.Minute); !ok || !next.Equal(want) {
				t.Errorf("after a jump by %s the host rests until %s (%v), want %s", by, next, ok, want)
			}
		}
	}
}

// TestURIsOfLostPayloadsAreDueAtTheirPace has URIs with a payload in a lost file, in another file, and without one.
func TestURIsOfLostPayloadsAreDueAtTheirPace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := at(time.Hour)
	add := func(u, file string, due time.Time) {
		e := frontier.Entry{Record: frontier.Record{URI: parse(t, u)}}
		e.Due, e.Visits, e.FirstSeen = due, 1, at(0)
		e.Validators = evaluators.Validators{ETag: `"1"`, LastModified: "Sat, 01 Jan 2026 00:00:00 GMT"}
		if file != "" {
			e.Origin = digest.Origin{RecordID: "urn:uuid:1", URI: u, File: file, Payload: digest.Of([]byte(u))}
		}
		if _, err := w.Import(now, true, e); err != nil {
			t.Fatal(err)
		}
	}
	later := now.Add(1000 * time.Hour)
	for i := range 3 {
		add(fmt.Sprintf("http://a.example/%d", i), "lost.warc.gz", later)
	}
	add("http://b.example/lost", "lost.warc.gz", later)
	add("http://b.example/soon", "lost.warc.gz", now)
	add("http://b.example/never", "lost.warc.gz", time.Time{})
	add("http://b.example/robots.txt", "lost.warc.gz", time.Time{})
	add("http://b.example/kept", "other.warc.gz", later)
	add("http://b.example/none", "", later)
	claimed := w.claim(now, "http://b.example/soon")

	n := map[uri.Host]int{}
	tooFar := true
	due := func(h uri.Host) time.Time {
		if tooFar {
			return time.Time{}
		}
		n[h]++
		return now.Add(time.Duration(n[h]) * time.Minute)
	}
	isLost := func(o digest.Origin) bool { return o.File == "lost.warc.gz" }
	recapture := func() (all frontier.Steered) {
		w.walk(func(from frontier.Cursor) (frontier.Cursor, error) {
			done, next, err := w.Recapture(now, from, isLost, due)
			all = all.Plus(done)
			return next, err
		})
		return all
	}
	if got, want := recapture(), (frontier.Steered{Matched: 7, Changed: 1, InProgress: 1}); got != want {
		t.Fatalf("while all visits are too far ahead: %+v, want %+v, with the robots.txt", got, want)
	}
	tooFar = false
	if got, want := recapture(), (frontier.Steered{Matched: 6, Changed: 5, InProgress: 1}); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
	w.check()
	dues := map[time.Time]bool{}
	for i := range 3 {
		r := w.get(fmt.Sprintf("http://a.example/%d", i))
		dues[r.Due] = true
		if r.Validators != (evaluators.Validators{}) || !r.Origin.IsZero() {
			t.Errorf("%s keeps %+v and %+v", r.URI, r.Validators, r.Origin)
		}
	}
	for i := 1; i <= 3; i++ {
		if !dues[now.Add(time.Duration(i)*time.Minute)] {
			t.Errorf("the URIs of a host are due at %v, want one each minute", dues)
		}
	}
	for u, want := range map[string]bool{"lost": true, "never": true, "robots.txt": false, "kept": false, "none": false} {
		r := w.get("http://b.example/" + u)
		if soon := !r.Due.IsZero() && r.Due.Before(now.Add(time.Hour)); soon != want {
			t.Errorf("%s is due at %s, want soon: %t", u, r.Due, want)
		}
	}
	if r := w.get("http://b.example/kept"); r.Validators.ETag == "" || r.Origin.IsZero() {
		t.Errorf("a URI of another file changed: %+v", r)
	}
	if got, want := recapture(), (frontier.Steered{Matched: 1, InProgress: 1}); got != want {
		t.Errorf("again: %+v, want %+v", got, want)
	}
	_ = claimed
}

// fillAny sets every field to a nonzero value.
func fillAny(t *testing.T, r *rand.Rand, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *uri.URI:
		*x = parse(t, "http://a.example/"+string(rune('a'+r.IntN(26))))
		return
	case *time.Time:
		*x = at(time.Duration(r.IntN(1e9)+1) * time.Millisecond)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillAny(t, r, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fillAny(t, r, v.Index(i))
		}
	case reflect.String:
		v.SetString(string([]byte{byte(1 + r.IntN(127)), byte(r.IntN(256)), byte(r.IntN(256))}))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(r.Float64() + 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(1 + r.IntN(1<<30)))
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(uint64(1 + r.IntN(255)))
	case reflect.Uint64:
		v.SetUint(r.Uint64() | 1)
	default:
		t.Fatalf("fillAny cannot set a field of kind %s; add a case for it", v.Kind())
	}
}

// Every field of a record is stored and exported. The test fails for a field that was added without its tags.
func TestExportsHoldEverything(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var want frontier.Entry
		fillAny(t, r, reflect.ValueOf(&want).Elem())
		want.InProgress = false
		b, err := json.Marshal(want)
		must(t, err)
		if bytes.ContainsAny(b, "\n\r") {
			t.Fatalf("the export of an entry has more than one line: %s", b)
		}
		var got frontier.Entry
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		same(t, got, want)

		w := newWorld(t)
		if done, err := w.Import(day, false, got); err != nil || done.New != 1 {
			t.Fatal(done, err)
		}
		w.reopen(day)
		list, _, err := w.List(day, frontier.Selection{}, "", 1)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		same(t, list[0], want)
	}
}

func TestImportIsIdempotent(t *testing.T) {
	t.Parallel()
	from, to := newWorld(t), newWorld(t)
	from.add(day, pages("a.example", 100)...)
	from.add(day, pages("b.example", 3)...)
	list, _, err := from.List(day, frontier.Selection{}, "", 1000)
	must(t, err)
	list[3].Held, list[7].Forbidden = true, true
	for i, want := range []frontier.Imported{{New: 103}, {Known: 103}} {
		if got, err := to.Import(day, false, list...); err != nil || got != want {
			t.Fatalf("import %d = %+v, %v; want %+v", i+1, got, err, want)
		}
		to.reopen(day)
	}
	again, _, err := to.List(day, frontier.Selection{}, "", 1000)
	must(t, err)
	same(t, again, list)
	list[0].Visits = 77
	if got, err := to.Import(day, true, list...); err != nil || got.Replaced != 103 {
		t.Fatal(got, err)
	}
	if got := to.get(list[0].URI.String()); got.Visits != 77 {
		t.Errorf("the record was not replaced: %+v", got)
	}
}

func TestInvalidEntriesAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no URI":                `{"visits":1}`,
		"no canonical URI":      `{"uri":"ftp://a.example/"}`,
		"an unknown name":       `{"uri":"http://a.example/","vists":1}`,
		"a number too low":      `{"uri":"http://a.example/","visits":-1}`,
		"an unclear time":       `{"uri":"http://a.example/","due":"tomorrow"}`,
		"a wait without a unit": `{"uri":"http://a.example/","wait":"36"}`,
		"no digest":             `{"uri":"http://a.example/","payload":"sha1:xyz"}`,
		"no JSON":               `uri: http://a.example/`,
	} {
		var e frontier.Entry
		if err := json.Unmarshal([]byte(text), &e); err == nil {
			t.Errorf("%s: %s gave %+v", name, text, e)
		}
	}
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"uri":"http://a.example/","etag":{"base64":"/w=="},"wait":"36h0m0s","comparison":{"rules":"ff"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e, again frontier.Entry
		if json.Unmarshal(b, &e) != nil {
			return
		}
		out, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%s was read, but cannot be written: %v", b, err)
		}
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%s was written, but cannot be read: %v", out, err)
		}
		same(t, again, e)
	})
}

// grouped puts all hosts of .one.example behind one server.
func grouped(o *frontier.Options) {
	o.Group = func(h uri.Host) string {
		if frontier.HostMatches("*.one.example", h) {
			return "one"
		}
		return ""
	}
}

func TestHostsOfAGroupAreVisitedAsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, grouped)
	for i, text := range []string{"http://a.one.example/", "http://b.one.example/", "http://a.one.example/2", "http://b.one.example/2"} {
		w.addDue(day, text, at(time.Duration(i)*time.Millisecond))
	}
	now := at(time.Second)
	c := w.claim(now, "http://a.one.example/")
	w.nothing(now) // the other host has its own slot, but the server behind it is busy
	w.addDue(now, "http://alone.example/", day)
	alone := w.claim(now, "http://alone.example/")
	w.settle(alone, visited(alone, now, 24*time.Hour))
	w.settle(c, visited(c, now, time.Hour))
	// The host that has waited longer goes first, not the one with the smaller number.
	c = w.nextAt(now.Add(2*time.Second), "http://b.one.example/")
	now = now.Add(2 * time.Second)
	w.settle(c, visited(c, now, time.Hour))
	w.reopen(now)
	c = w.nextAt(now.Add(2*time.Second), "http://a.one.example/2")
	now = now.Add(2 * time.Second)
	o := visited(c, now, time.Hour)
	o.RetryAfter = now.Add(10 * time.Minute)
	w.settle(c, o)
	w.reopen(now)
	w.nextAt(now.Add(10*time.Minute), "http://b.one.example/2")
}

func TestRefreshHostsMovesHostsBetweenGroups(t *testing.T) {
	t.Parallel()
	name, leaves := "", uri.Host("")
	w := newWorld(t, func(o *frontier.Options) {
		o.Group = func(h uri.Host) string {
			if h == leaves {
				return ""
			}
			return name
		}
	})
	w.add(day, "http://a.example/", "http://b.example/")
	w.addDue(day, "http://c.example/", at(-time.Second))
	for _, group := range []string{"one", "two"} {
		name = group
		must(t, w.RefreshHosts(nil))
		w.check()
	}
	c := w.claim(day, "http://c.example/")
	w.nothing(day)
	leaves = "c.example"
	must(t, w.RefreshHosts(nil)) // the one that is being visited leaves after the others were looked at
	w.check()
	w.claim(day, "http://a.example/")
	w.nothing(day)
	name = ""
	must(t, w.RefreshHosts(nil))
	w.claim(day, "http://b.example/")
	w.settle(c, visited(c, day, time.Hour))
}

func TestHostsReportsTheStateOfEachHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDue(day, "http://busy.example/", day)
	w.addDue(day, "http://busy.example/2", at(time.Millisecond))
	w.claim(at(time.Second), "http://busy.example/")
	w.addDue(day, "http://idle.example/", day)
	c := w.claim(at(time.Second), "http://idle.example/")
	s := visited(c, at(time.Second), time.Hour)
	s.Record.Due, s.Forbidden = time.Time{}, true
	w.settle(c, s)
	w.addDue(day, "http://ready.example/", day)
	w.addDue(day, "http://ready.example/later", at(time.Hour))
	w.addDue(day, "http://snoozed.example/", at(time.Hour))

	want := []struct {
		host  string
		state frontier.HostState
		ready time.Time
	}{
		{"busy.example", frontier.Busy, time.Time{}},
		{"idle.example", frontier.Idle, time.Time{}},
		{"ready.example", frontier.Ready, day},
		{"snoozed.example", frontier.Snoozed, at(time.Hour)},
	}
	same(t, w.Counts(at(time.Second)), frontier.Counts{
		Hosts: 4, URIs: 6, Queued: 5, InProgress: 1, Forbidden: 1, Ready: 1, Snoozed: 1, Busy: 1, Idle: 1,
		Oldest: day, OldestReachable: day,
	})
	got := w.Hosts(at(time.Second))
	if len(got) != len(want) {
		t.Fatalf("%d hosts, want %d", len(got), len(want))
	}
	for i, v := range got {
		if string(v.Host) != want[i].host || v.State != want[i].state || !v.Ready.Equal(want[i].ready) {
			t.Errorf("%s is %s, ready at %s; want %s, %s, %s", v.Host, v.State, v.Ready, want[i].host, want[i].state, want[i].ready)
		}
		one, ok := w.Host(v.Host, at(time.Second))
		if !ok || one != v {
			t.Errorf("Host(%s) = %+v, %v; want %+v", v.Host, one, ok, v)
		}
	}
	if v := got[2]; v.URIs != 2 || v.Queued != 2 || !v.Oldest.Equal(day) {
		t.Errorf("%+v; want two URIs queued, the oldest due at %s", v, day)
	}
	if _, ok := w.Host("never.example", day); ok {
		t.Error("a host that was never seen is known")
	}
}

func TestNewHostsAreBoundedByPageSeedDayAndTotal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *frontier.Options) {
		o.NewHosts = frontier.NewHosts{Total: 1000, PerPage: 200, PerSeedDay: 450, PerDomainDay: 50}
	})
	now := day
	w.add(now, "http://a.example/", "http://b.example/")
	visit := func(host string, links []frontier.Candidate, want, wantHosts int64) {
		t.Helper()
		w.steerHosts(now, "*", frontier.Pause)
		w.steerHosts(now, host, frontier.Resume)
		c := w.claim(now, "http://"+host+"/")
		o := visited(c, now, time.Second)
		o.Record.Seed, o.Found = "http://"+host+"/", links
		added := w.settle(c, o)
		all := added.New + added.Refused + added.Known
		if got := w.Counts(now).Hosts; int64(added.New) != want || got != wantHosts || all != len(links) {
			t.Fatalf("%s: added %+v of %d links, there are %d hosts now; want %d new and %d hosts", host, added, len(links), got, want, wantHosts)
		}
		w.check()
		now = now.Add(10 * time.Second)
	}
	visit("a.example", discovered(t, "http://h%d-a.example/", 0, 600), 200, 202)   // one page
	visit("a.example", discovered(t, "http://n%d.farm.example/", 0, 100), 50, 252) // one domain
	visit("a.example", discovered(t, "http://h%d-a.example/x", 0, 200), 200, 252)  // known hosts are not affected
	visit("a.example", discovered(t, "http://i%d-a.example/", 0, 200), 200, 452)   // the seed's day is used up
	visit("a.example", discovered(t, "http://j%d-a.example/", 0, 200), 0, 452)     // it is
	visit("b.example", discovered(t, "http://k%d-b.example/", 0, 200), 200, 652)   // another seed
	now = now.Add(24 * time.Hour)
	visit("a.example", discovered(t, "http://j%d-a.example/", 0, 200), 200, 852) // the next day
	visit("b.example", discovered(t, "http://l%d-b.example/", 0, 200), 148, 1000)
	added, err := w.Add(now, candidates(t, "http://m1.example/", "http://m2.example/", "http://m3.example/")...)
	if err != nil || added.New != 3 {
		t.Errorf("Add = %+v, %v; want all new: no seed is ever refused", added, err)
	}
}
