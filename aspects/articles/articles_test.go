package articles

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/evaluators"
)

func TestPagesAreFollowedUpAtTheAgesOfTheLadder(t *testing.T) {
	t.Parallel()
	ladder := []time.Duration{15 * time.Minute, time.Hour, 3 * time.Hour, 24 * time.Hour}
	for _, c := range []struct {
		name            string
		age, wait, want time.Duration
	}{
		{"just discovered", 2 * time.Second, 12 * time.Hour, 15*time.Minute - 2*time.Second},
		{"the rule comes earlier", 2 * time.Second, 5 * time.Minute, 5 * time.Minute},
		{"on a rung", 15 * time.Minute, 12 * time.Hour, 45 * time.Minute},
		{"late, and the next rung is close: it is left out", 55 * time.Minute, 12 * time.Hour, 2*time.Hour + 5*time.Minute},
		{"late, and the next rung is just too close", 50 * time.Minute, 12 * time.Hour, 2*time.Hour + 10*time.Minute},
		{"past the last rung", 25 * time.Hour, 12 * time.Hour, 12 * time.Hour},
		{"the clock went back", -time.Hour, 12 * time.Hour, 15 * time.Minute},
	} {
		if got := followUp(evaluators.Wait{Interval: c.wait}, ladder, c.age); got.Interval != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.Interval, c.want)
		}
	}
	if got := followUp(evaluators.Wait{Interval: time.Hour}, nil, 0); got.Interval != time.Hour {
		t.Errorf("no ladder: %s", got.Interval)
	}
}

func TestSomeEntriesOfSourcesAreArticles(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	o := DefaultOptions()
	o.Ladder = o.Ladder[:1] // one age is enough
	a := Aspect{Options: func(*aspects.Visit) *Options { return &o }}
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, c := range []struct {
		name string
		e    Listed
		want time.Time // zero = it is no article
	}{
		{"published in time", Listed{Published: ago(o.Young), Date: ago(0), Newest: true}, ago(o.Young)},
		{"published too early", Listed{Published: ago(o.Young + 1), Date: ago(0), Newest: true}, time.Time{}},
		{"updated, in a feed", Listed{Date: ago(time.Hour), Newest: true}, ago(time.Hour)},
		{"changed, in a sitemap", Listed{Date: ago(time.Hour)}, time.Time{}},
		{"published, in a sitemap", Listed{Published: ago(time.Hour), Date: ago(0)}, ago(time.Hour)},
		{"published tomorrow", Listed{Published: ago(-24 * time.Hour), Newest: true}, now},
		{"new in a feed, without a date", Listed{Newest: true}, now},
		{"in a new feed, without a date", Listed{Newest: true, First: true}, time.Time{}},
		{"in a sitemap, without a date", Listed{}, time.Time{}},
	} {
		if got := a.Born(&aspects.Visit{Finished: now}, c.e); !got.Equal(c.want) {
			t.Errorf("%s: born at %s, want %s", c.name, got, c.want)
		}
	}
}
