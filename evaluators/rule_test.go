package evaluators_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

func TestThirtyDaysOfADailySeedAreThirtyCaptures(t *testing.T) {
	t.Parallel()
	s := evaluators.Stack{{Rule: evaluators.Fixed{Every: 24 * hour}}}
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

func TestFixedSkipsVisitsThatCameDueMeanwhile(t *testing.T) {
	t.Parallel()
	s := evaluators.Stack{{Rule: evaluators.Fixed{Every: hour}}}
	w := s.Next(evaluators.WaitInput{Overdue: 2*hour + 20*time.Minute})
	if want := "every 1h, less 20m overdue"; w.Interval != 40*time.Minute || w.Reason != want {
		t.Errorf("got %v (%s), want 40m (%s)", w.Interval, w.Reason, want)
	}
}

func TestFactorsFollowFromTheTarget(t *testing.T) {
	t.Parallel()
	s := evaluators.Stack{{Rule: evaluators.Target{CaptureTarget: 0.9}}}
	w := s.Next(evaluators.WaitInput{State: evaluators.Unchanged, Previous: 10 * hour})
	if want := "unchanged: 10h × 1.1019 = 11h1m8.4s"; w.Reason != want {
		t.Errorf("reason %q, want %q", w.Reason, want)
	}
}

func TestAHighTargetAllowsForShortLivedVersions(t *testing.T) {
	t.Parallel()
	at := func(target float64) float64 {
		e := evaluators.WaitEvaluator{Rule: evaluators.Learned{CaptureTarget: target, Min: time.Second}}
		return evaluators.Stack{e}.Next(evaluators.WaitInput{
			First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: january},
		}).Interval.Seconds()
	}
	half := at(0.5) / rate.Expected(0.5)
	for _, c := range []struct {
		target      float64
		least, most float64 // of the expected changes that a random page would need
	}{
		{0.3, 0.99, 1.01}, {0.8, 0.99, 1.01}, {0.9, 0.7, 0.8}, {0.95, 0.5, 0.7},
	} {
		if r := at(c.target) / rate.Expected(c.target) / half; r < c.least || r > c.most {
			t.Errorf("target %v: waits for %.2f times the changes of a page that changes at random, want %v to %v", c.target, r, c.least, c.most)
		}
	}
}

func TestARuleIsFoundByItsName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]evaluators.Rule{
		"": evaluators.Classic{}, "classic": evaluators.Classic{}, "fixed": evaluators.Fixed{}, "target": evaluators.Target{}, "learned": evaluators.Learned{},
	} {
		got, err := evaluators.Options{Rule: name}.New()
		if err != nil || reflect.TypeOf(got) != reflect.TypeOf(want) {
			t.Errorf("%q is %T, %v; want %T", name, got, err, want)
		}
	}
	if _, err := (evaluators.Options{Rule: "clever"}).New(); err == nil {
		t.Error("a rule that does not exist was made")
	}
}
