package feeds

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// follow polls a feed as the policy says for so long; the feed brings an item every so often and lists so many.
func follow(p Policy, every, lasts time.Duration, listed int) (last State, waits []time.Duration, missed int) {
	var s Seen
	var st State
	now := start
	newest := -1
	for now.Before(start.Add(lasts)) {
		d := Document{Kind: Feed}
		top := int(now.Sub(start) / every)
		for i := top; i > top-listed && i >= 0; i-- {
			d.Items = append(d.Items, items(fmt.Sprintf("%d:/%d", i, i))...)
		}
		if len(d.Items) > 0 {
			missed += max(0, top-listed-newest)
			newest = top
		}
		var r Reading
		s, r = s.Read(now, d)
		st = st.After(now, d, r, 0, 0)
		w := p.Next(st, now, 0)
		waits = append(waits, w.Interval)
		now = now.Add(w.Interval)
	}
	return st, waits, missed
}

func TestABusyFeedIsPolledAsOftenAsItBringsNews(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		every, atLeast, atMost time.Duration
	}{
		{time.Minute, 5 * time.Minute, 5 * time.Minute},
		{20 * time.Minute, 6 * time.Minute, 15 * time.Minute},
		{6 * time.Hour, time.Hour, 4 * time.Hour},
		{10 * 24 * time.Hour, 6 * time.Hour, 6 * time.Hour},
	} {
		_, waits, missed := follow(DefaultPolicy(), c.every, 30*24*time.Hour, 30)
		for _, w := range waits[len(waits)-20:] {
			if w < c.atLeast || w > c.atMost {
				t.Errorf("an item every %s: waits %s, want %s to %s", c.every, w, c.atLeast, c.atMost)
				break
			}
		}
		if missed > 0 {
			t.Errorf("an item every %s: %d were missed", c.every, missed)
		}
	}
}

func TestAShortWindowIsNotLeftToRollOver(t *testing.T) {
	t.Parallel()
	p := DefaultPolicy()
	p.Feed.Initial = 3 * time.Hour // so that the first waits miss items
	p.HintsUpTo = 24 * time.Hour
	st, waits, missed := follow(p, 10*time.Minute, 2*24*time.Hour, 5)
	if st.Gaps == 0 || missed == 0 {
		t.Errorf("gaps %d, missed %d: the test does not begin with a gap", st.Gaps, missed)
	}
	for _, w := range waits[len(waits)/2:] {
		if w > 25*time.Minute {
			t.Errorf("waits %s though five items are replaced in 50 minutes", w)
		}
	}
	if age := start.Add(2 * 24 * time.Hour).Sub(st.LastGap); age < 40*time.Hour {
		t.Errorf("the last gap was %s before the end", age)
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	calm := State{Kind: Feed, Read: start, Began: at(-40 * 24 * time.Hour), News: at(-time.Hour), Listed: 20, slow: average{10, 100}} // a tenth an hour
	with := func(change func(*State)) State { s := calm; change(&s); return s }
	for _, c := range []struct {
		name   string
		s      State
		cached time.Duration
		want   time.Duration
		reason string
	}{
		{"as often as there is news", calm, 0, 4*time.Hour + 47*time.Minute, "2.5 new items a day"},
		{"its first reading", State{Kind: Feed, Read: start, Began: start}, 0, 30 * time.Minute, "first reading"},
		{"a busy one that asks for patience", with(func(s *State) { s.slow = average{500, 100}; s.Listed = 100; s.Hints.Every = 30 * time.Minute }), 0, 30 * time.Minute, "asked for 30m"},
		{"a busy one whose cache asks for patience", with(func(s *State) { s.slow = average{500, 100}; s.Listed = 100 }), 20 * time.Minute, 20 * time.Minute, "asked for 20m"},
		{"one that asks for too much", with(func(s *State) { s.slow = average{500, 100}; s.Listed = 100; s.Hints.Every = 24 * time.Hour }), 0, time.Hour, "asked for 1h"},
		{"one that asks for more than its window allows", with(func(s *State) { s.slow = average{500, 100}; s.Listed = 4; s.Hints.Every = 24 * time.Hour }), 0, 24 * time.Minute, "lists no more than 4"},
		{"one that skips the hour", with(func(s *State) { s.Hints.SkipHours = 1 << 16; s.Listed = 100 }), 0, 5 * time.Hour, "hours that it skips"},
		{"one that skips all hours", with(func(s *State) { s.Hints.SkipHours = 1<<24 - 1; s.Listed = 100 }), 0, 5*time.Hour + 47*time.Minute, "hours that it skips"},
		{"one that rolled over", with(func(s *State) { s.ceiling = 10 * time.Minute }), 0, 10 * time.Minute, "is replaced"},
		{"a silent one", with(func(s *State) { s.News = at(-70 * 24 * time.Hour); s.Began = at(-90 * 24 * time.Hour) }), 0, 7 * 24 * time.Hour, "without anything new for 70d: slow lane"},
		{"one that was empty from the beginning", with(func(s *State) { s.News = time.Time{}; s.Began = at(-90 * 24 * time.Hour) }), 0, 7 * 24 * time.Hour, "slow lane"},
		{"one that could not be read once", with(func(s *State) { s.Broken = 1 }), 0, 30 * time.Minute, "cannot be read, 1 time"},
		{"one that is no feed any more", with(func(s *State) { s.Broken = 4 }), 0, 7 * 24 * time.Hour, "slow lane"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := DefaultPolicy().Next(c.s, start, c.cached)
			if got := w.Interval.Round(time.Minute); got != c.want || !strings.Contains(w.Reason, c.reason) {
				t.Errorf("waits %s (%s), want %s (%s)", got, w.Reason, c.want, c.reason)
			}
		})
	}
}

func TestBeliefFollowsTheProof(t *testing.T) {
	t.Parallel()
	s := State{Kind: Sitemap}
	if b := s.Belief(); b < 0.5 {
		t.Errorf("a stranger is believed %.2f", b)
	}
	liar, honest := s, s
	for range 20 {
		liar = liar.After(start, Document{Kind: Sitemap}, Reading{}, 0, 1)
		honest = honest.After(start, Document{Kind: Sitemap}, Reading{}, 1, 0)
	}
	if liar.Belief() > 0.15 || honest.Belief() < 0.9 {
		t.Errorf("liar %.2f, honest %.2f", liar.Belief(), honest.Belief())
	}
	for range 200 {
		liar = liar.After(start, Document{Kind: Sitemap}, Reading{}, 1, 0)
	}
	if liar.Belief() < 0.9 {
		t.Errorf("a liar that mended its ways is believed %.2f", liar.Belief())
	}
}

func TestCacheHint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		control, age string
		want         time.Duration
	}{
		{"", "", 0},
		{"max-age=300", "", 5 * time.Minute},
		{"public, max-age=\"300\"", "60", 4 * time.Minute},
		{"max-age=10", "60", 0},
		{"max-age=-1", "", 0},
		{"no-store", "", 0},
		{"max-age=99999999999999", "", maxHint},
	} {
		h := http.Header{"Cache-Control": {c.control}, "Age": {c.age}}
		if got := CacheHint(h); got != c.want {
			t.Errorf("%+v: %s, want %s", c, got, c.want)
		}
	}
}
