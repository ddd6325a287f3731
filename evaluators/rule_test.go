package evaluators_test

import (
	"math"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

func TestThirtyDaysOfADailySeedAreThirtyCaptures(t *testing.T) {
	t.Parallel()
	s := evaluators.Stack{{Rule: evaluators.Fixed, Every: 24 * hour}}
	due, visits := january.Add(8*hour), 0
	for end := due.AddDate(0, 0, 30); due.Before(end); {
		late := time.Duration(visits*37%600) * time.Minute // up to ten hours, as on a busy host
		visits++
		w := s.Next(evaluators.WaitInput{State: evaluators.Changed, Overdue: late})
		due = due.Add(late).Add(w.Interval)
		if due.Hour() != 8 || due.Minute() != 0 {
			t.Fatalf("visit %d, %v late: the next one is due at %v", visits, late, due)
		}
	}
	if visits != 30 {
		t.Errorf("%d visits in 30 days, want 30", visits)
	}
}

func TestFixedLeavesOutWhatFellDueMeanwhile(t *testing.T) {
	t.Parallel()
	s := evaluators.Stack{{Rule: evaluators.Fixed, Every: hour}}
	w := s.Next(evaluators.WaitInput{Overdue: 2*hour + 20*time.Minute})
	if want := "every 1h, less 20m overdue"; w.Interval != 40*time.Minute || w.Reason != want {
		t.Errorf("got %v (%s), want 40m (%s)", w.Interval, w.Reason, want)
	}
}

func TestFactorsFollowFromTheTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ share, factor float64 }{{.8, 1.27}, {.9, 1.102}, {.95, 1.045}, {.99, 1.008}} {
		if got := evaluators.UnchangedFactor(1.5, c.share); math.Abs(got-c.factor) > 0.002 {
			t.Errorf("target %v: × %.4f, want %v", c.share, got, c.factor)
		}
	}
	s := evaluators.Stack{{Rule: evaluators.Target, CaptureTarget: 0.9}}
	w := s.Next(evaluators.WaitInput{State: evaluators.Unchanged, Previous: 10 * hour})
	if want := "unchanged: 10h × 1.1019 = 11h1m8.4s"; w.Reason != want {
		t.Errorf("reason %q, want %q", w.Reason, want)
	}
}

func TestExpectedIsTheInverseOfCaptured(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{.01, .1, .5, .72, .8, .9, .99} {
		if got := evaluators.Captured(evaluators.Expected(share)); math.Abs(got-share) > 1e-9 {
			t.Errorf("Captured(Expected(%v)) = %v", share, got)
		}
	}
	for _, none := range []float64{0, -1, 1, 2, math.NaN()} {
		if got := evaluators.Expected(none); math.Abs(got-evaluators.Expected(.8)) > 1e-9 {
			t.Errorf("Expected(%v) = %v, want that of the default", none, got)
		}
	}
}

func TestValueGrowsFromNothingToOne(t *testing.T) {
	t.Parallel()
	before := -1.0
	for _, x := range []float64{0, .1, .5, 1, 2, 5, 50} {
		v := evaluators.Value(x)
		if !(v > before) || v > 1 {
			t.Errorf("Value(%v) = %v after %v", x, v, before)
		}
		before = v
	}
}

func TestRulesAreWrittenAsTheyAreRead(t *testing.T) {
	t.Parallel()
	for r := evaluators.Classic; r <= evaluators.Learned; r++ {
		text, _ := r.MarshalText()
		var back evaluators.Rule
		if err := back.UnmarshalText(text); err != nil || back != r {
			t.Errorf("%s was read as %s, %v", r, back, err)
		}
	}
	if _, err := evaluators.ParseRule("clever"); err == nil {
		t.Error("a rule that does not exist was read")
	}
}

func TestAHighTargetIsPlannedForWithVersionsThatStandShortly(t *testing.T) {
	t.Parallel()
	at := func(target float64) float64 {
		e := evaluators.WaitEvaluator{Rule: evaluators.Learned, CaptureTarget: target, Min: time.Second}
		return evaluators.Stack{e}.Next(evaluators.WaitInput{At: january, First: true, State: evaluators.Changed}).Interval.Seconds()
	}
	half := at(0.5) / evaluators.Expected(0.5)
	for _, c := range []struct {
		target      float64
		least, most float64 // of the expected changes that a random page would need
	}{
		{0.3, 0.99, 1.01}, {0.8, 0.99, 1.01}, {0.9, 0.7, 0.8}, {0.95, 0.5, 0.7},
	} {
		if r := at(c.target) / evaluators.Expected(c.target) / half; r < c.least || r > c.most {
			t.Errorf("target %v: waits for %.2f times the changes of a page that changes at random, want %v to %v", c.target, r, c.least, c.most)
		}
	}
}
