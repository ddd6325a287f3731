package frontier

import (
	"math"
	"testing"
	"time"
)

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
