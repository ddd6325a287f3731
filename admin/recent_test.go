package admin

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestTheLastMinuteRolls counts one visit each second for three minutes, and no visits after that.
func TestTheLastMinuteRolls(t *testing.T) {
	t.Parallel()
	var m minuteCounts
	now := noon
	for range 180 {
		m.Add(now, now, api.Counts{Visits: 1})
		now = now.Add(time.Second)
	}
	now = now.Add(-time.Second)
	for _, c := range []struct {
		after time.Duration
		want  int64
	}{{0, 60}, {20 * time.Second, 40}, {59 * time.Second, 1}, {60 * time.Second, 0}, {24 * time.Hour, 0}} {
		if n := m.Sum(now.Add(c.after)).Visits; n != c.want {
			t.Errorf("%d visits in the minute that ends %s after the last one, want %d", n, c.after, c.want)
		}
	}
}

// TestLastMinuteCountsVisitsInAnyOrder reports 1,200 visits of a minute in random order, one that ended too long ago,
// and some after the clock was set back by an hour.
func TestLastMinuteCountsVisitsInAnyOrder(t *testing.T) {
	t.Parallel()
	var m minuteCounts
	order := rand.New(rand.NewPCG(1, 2)).Perm(1200)
	for _, i := range order {
		m.Add(noon, noon.Add(-time.Duration(i)*50*time.Millisecond+time.Second-time.Nanosecond), api.Counts{Visits: 1})
	}
	m.Add(noon, noon.Add(-time.Minute), api.Counts{Visits: 1})
	if n := m.Sum(noon).Visits; n != 1200 {
		t.Errorf("%d visits in the last minute, want 1,200", n)
	}
	back := noon.Add(-time.Hour)
	m.Add(back, back, api.Counts{Visits: 3})
	if n := m.Sum(back).Visits; n != 3 {
		t.Errorf("%d visits after the clock was set back, want 3", n)
	}
}
