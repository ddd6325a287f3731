package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
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
	due := func(h uri.Host) time.Time { n[h]++; return now.Add(time.Duration(n[h]) * time.Minute) }
	isLost := func(o digest.Origin) bool { return o.File == "lost.warc.gz" }
	recapture := func() (all frontier.Steered) {
		w.walk(func(from frontier.Cursor) (frontier.Cursor, error) {
			done, next, err := w.Recapture(now, from, isLost, due)
			all = all.Plus(done)
			return next, err
		})
		return all
	}
	if got, want := recapture(), (frontier.Steered{Matched: 7, Changed: 6, InProgress: 1}); got != want {
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
