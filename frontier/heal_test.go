package frontier_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// heal corrects all due times of a world.
func heal(w *world, now time.Time) (corrected int) {
	w.Helper()
	for from := frontier.Cursor(""); ; {
		next, n, err := w.Heal(now, from)
		must(w, err)
		if corrected += n; next == "" {
			break
		}
		from = next
	}
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
	w.settle(c, visited(c, future, 6*time.Hour))
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
