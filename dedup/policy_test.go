package dedup_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
)

func TestRevisitsAreThinnedByPeriod(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return day.Add(d) }
	for _, row := range []struct {
		name        string
		revisits    dedup.Revisits
		before, now time.Duration
		want        bool
	}{
		{"each visit", dedup.Revisits{}, 0, time.Second, true},
		{"none", dedup.Revisits{None: true}, 0, 999 * time.Hour, false},
		{"the second of a day", dedup.Revisits{Once: 24 * time.Hour}, time.Hour, 23 * time.Hour, false},
		{"the first of a day, though the last was an hour ago", dedup.Revisits{Once: 24 * time.Hour}, 23*time.Hour + 30*time.Minute, 24*time.Hour + 30*time.Minute, true},
		{"the first in a week", dedup.Revisits{Once: 7 * 24 * time.Hour}, -7 * 24 * time.Hour, 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := row.revisits.Wants(at(row.now), at(row.before)); got != row.want {
				t.Errorf("Wants = %v, want %v", got, row.want)
			}
		})
	}
}
