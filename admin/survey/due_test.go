package survey_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/survey"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

// TestSlowCountsAreKept counts due URIs with a clock that says how long it took.
func TestSlowCountsAreKept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: now})
	archivetest.Must(t, err)
	defer func() { _ = f.Close() }()
	add := func(path string) {
		t.Helper()
		if _, err := f.Add(now, frontier.Candidate{URI: uri.FromCanonical("http://a.example/" + path), Due: now}); err != nil {
			t.Fatal(err)
		}
	}
	due, took := survey.Due{Frontier: f}, time.Duration(0)
	clock := func() time.Time { now = now.Add(took); return now }
	check := func(when string, want int64, count func(time.Time, func() time.Time) (int64, error)) {
		t.Helper()
		if n, err := count(now, clock); err != nil || n != want {
			t.Errorf("%s: %d URIs are due, %v; want %d", when, n, err, want)
		}
	}
	add("1")
	check("at first", 1, due.Latest)
	add("2")
	check("after a quick count", 2, due.Latest)
	took = time.Second / 2
	check("with a slow count", 2, due.Count)
	took = 0
	add("3")
	now = now.Add(9 * time.Second)
	check("in the background, soon after a slow count", 2, due.Count)
	now = now.Add(20 * time.Second)
	check("soon after a slow count", 2, due.Latest)
	check("in the background, later", 3, due.Count)
	took = time.Second
	now = now.Add(time.Hour)
	check("with a slower count", 3, due.Count)
	took = 0
	add("4")
	now = now.Add(61 * time.Second)
	check("after a minute", 4, due.Latest)
	took = time.Second
	now = now.Add(time.Hour)
	check("with another slow count", 4, due.Count)
	took, now = 0, now.Add(-30*time.Minute)
	add("5")
	check("after the clock was set back", 5, due.Latest)
}

// TestNobodyWaitsForTheFirstCount asks for the number of due URIs before it was counted in the background.
func TestNobodyWaitsForTheFirstCount(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: now})
	archivetest.Must(t, err)
	defer func() { _ = f.Close() }()
	due, clock := survey.Due{Frontier: f}, func() time.Time { return now }
	for _, step := range []struct{ add, latest int64 }{{999, 999}, {600, survey.Counting}} {
		for i := range step.add {
			u := uri.FromCanonical(fmt.Sprintf("http://a.example/%d/%d", step.add, i))
			if _, err := f.Add(now, frontier.Candidate{URI: u, Due: now}); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := due.Latest(now, clock); err != nil || n != step.latest {
			t.Errorf("with %d more there are %d due URIs, %v; want %d", step.add, n, err, step.latest)
		}
	}
	for _, count := range []func(time.Time, func() time.Time) (int64, error){due.Count, due.Latest} {
		if n, err := count(now, clock); err != nil || n != 1599 {
			t.Errorf("%d URIs are due, %v; want 1599", n, err)
		}
	}
}
