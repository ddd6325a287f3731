package evaluators_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// taught returns the expectation of the learned rule after visits at these intervals that all found a change.
func taught(visits int, every time.Duration, tell func(in *evaluators.WaitInput)) evaluators.Wait {
	stack := evaluators.Stack{{Name: "all", Rule: evaluators.Learned{}}}
	in := evaluators.WaitInput{
		MIME: "application/rss+xml", State: evaluators.Changed, First: true, Evidence: evaluators.Evidence{
			At: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC),
		},
	}
	w := stack.Next(in)
	for range visits {
		in.At, in.First, in.Memory = in.At.Add(every), false, w.Memory
		tell(&in)
		w = stack.Next(in)
	}
	return w
}

func TestLearnedCountsChanges(t *testing.T) {
	t.Parallel()
	const every, changes = 2 * time.Hour, 10 // 120 a day
	random := rand.New(rand.NewPCG(1, 2))
	moments := func(in *evaluators.WaitInput) {
		in.Moments = nil
		for range changes {
			in.Moments = append(in.Moments, in.At.Add(-time.Duration(random.Int64N(int64(every)))))
		}
		in.Moments = append(in.Moments, in.At.Add(-every-time.Second), in.At.Add(time.Second)) // which lie outside
		in.ChangedBy = "its entries"
	}
	for _, c := range []struct {
		name string
		tell func(*evaluators.WaitInput)
		says string
	}{
		{"by their moments", moments, "changed 10 times, the last "},
		{"by their number", func(in *evaluators.WaitInput) { in.Changes = changes }, "changed 10 times: "},
	} {
		w := taught(40, every, c.tell)
		if math.Abs(w.PerDay-120) > 30 || math.Abs(w.Versions-changes) > 0.01 {
			t.Errorf("%s: %.1f changes a day are expected and %.1f versions were thought to have come, want 120 and 10", c.name, w.PerDay, w.Versions)
		}
		if !strings.HasPrefix(w.Reason, c.says) || strings.Contains(w.Reason, "by its entries: ") != (c.name == "by their moments") {
			t.Errorf("%s: %s, want %s…", c.name, w.Reason, c.says)
		}
	}
	if blind := taught(40, every, func(*evaluators.WaitInput) {}); blind.Versions > 4 {
		t.Errorf("without a count: %.1f versions", blind.Versions)
	}
	once := taught(40, every, func(in *evaluators.WaitInput) { in.Changes = 1 })
	if math.Abs(once.PerDay-12) > 1.5 {
		t.Errorf("with one change at each visit: %.1f a day, want 12", once.PerDay)
	}
	unchanged := taught(3, every, func(in *evaluators.WaitInput) { in.State, in.Changes = evaluators.Unchanged, changes })
	if unchanged.Versions != 0 || !strings.HasPrefix(unchanged.Reason, "unchanged: ") {
		t.Errorf("counted though nothing changed: %+v", unchanged)
	}
}

// The page changes every six hours, and is visited a quarter of an hour later because a feed lists the change. Each
// visit finds a young change, which says how fast the feed is. How often the page changes follows from the time in
// which the feed reported no change.
func TestAVisitSoonAfterAChangeBecauseOfItDoesNotRaiseTheRate(t *testing.T) {
	t.Parallel()
	const every, soon = 6 * time.Hour, 15 * time.Minute
	tell := func(silent bool) func(*evaluators.WaitInput) {
		return func(in *evaluators.WaitInput) {
			in.ChangedAt, in.ChangedBy = in.At.Add(-soon), "a feed"
			if in.Silent = (time.Time{}); silent {
				in.Silent = in.ChangedAt.Add(-soon)
			}
		}
	}
	w := taught(40, every, tell(true))
	if w.PerDay < 3 || w.PerDay > 6 {
		t.Errorf("%.2f changes a day are expected, want about 4", w.PerDay)
	}
	if !strings.HasPrefix(w.Reason, "changed 15m ago by a feed: ") {
		t.Error(w.Reason)
	}
	if hasty := taught(40, every, tell(false)); hasty.PerDay < 3*w.PerDay {
		t.Errorf("without knowing of the silence %.1f changes a day are expected: then there is nothing to correct", hasty.PerDay)
	}
}

func TestDatesAreBelievedWhileTheyAreRight(t *testing.T) {
	t.Parallel()
	var d evaluators.Dates
	for n := range 3 {
		if d.Believed(evaluators.DatedPages) {
			t.Errorf("believed after %d dates", n)
		}
		d = d.After(evaluators.DatedPages, true)
	}
	if !d.Believed(evaluators.DatedPages) || d.Believed(evaluators.DatedEntries) {
		t.Error("three dates of pages were right: dates of pages are believed, and no others")
	}
	d = d.After(evaluators.DatedPages, false)
	if d.Believed(evaluators.DatedPages) {
		t.Error("believed though one of four was wrong")
	}
	for range 64 {
		d = d.After(evaluators.DatedPages, true)
	}
	if !d.Believed(evaluators.DatedPages) || d[evaluators.DatedPages].ChangeWrong != 1 {
		t.Errorf("not forgiven after 64 true ones: %+v", d)
	}
}
