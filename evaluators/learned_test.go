package evaluators_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

var january = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)

// played visits a URI by one evaluator for some days. The URI changed between two moments if changed says so.
func played(
	e evaluators.WaitEvaluator, in evaluators.WaitInput, days int, changed func(from, to time.Time) bool,
) (visits, captured int, last evaluators.Wait) {
	stack := evaluators.Stack{e}
	in.At, in.First, in.State = january, true, evaluators.Changed
	end := january.AddDate(0, 0, days)
	for {
		last = stack.Next(in)
		in.First, in.Memory, in.Previous = false, last.Memory, last.Interval
		before := in.At
		if in.At = in.At.Add(last.Interval); in.At.After(end) {
			return visits, captured, last
		}
		visits++
		in.State = evaluators.Unchanged
		if changed(before, in.At) {
			captured++
			in.State = evaluators.Changed
		}
	}
}

// poisson changes at random moments, perDay times a day.
func poisson(perDay float64, seed uint64) func(from, to time.Time) bool {
	random := rand.New(rand.NewPCG(seed, 1))
	return func(from, to time.Time) bool {
		return random.Float64() < -math.Expm1(-perDay*to.Sub(from).Hours()/24)
	}
}

func TestLearnedFindsTheRateOfAPageThatChangesAtRandom(t *testing.T) {
	t.Parallel()
	for _, perDay := range []float64{0.2, 2, 20} {
		e := evaluators.WaitEvaluator{
			Rule: evaluators.Learned{CaptureTarget: 0.8, Min: time.Minute, Prefer: evaluators.PreferVersions},
		}
		days := int(400 / perDay)
		visits, _, _ := played(e, evaluators.WaitInput{}, days, poisson(perDay, 7))
		want := perDay * float64(days) / rate.Expected(0.8)
		if r := float64(visits) / want; r < 0.75 || r > 1.35 {
			t.Errorf("%v changes a day: %d visits in %d days, want about %.0f", perDay, visits, days, want)
		}
	}
}

func TestLearnedWaitsForTheInitialWaitAfterTheFirstCapture(t *testing.T) {
	t.Parallel()
	in := evaluators.WaitInput{First: true, State: evaluators.Changed}
	in.At, in.Stretch = january, 4
	for _, tt := range []struct{ initial, shortest, want time.Duration }{
		{6 * time.Hour, time.Hour, 6 * time.Hour}, {time.Minute, time.Hour, time.Hour},
	} {
		w := evaluators.Learned{Initial: tt.initial, Min: tt.shortest}.Next(in)
		if w.Interval != tt.want || w.Asked() != tt.want || !strings.Contains(w.Reason, "initial") || !(w.Expected > 0) {
			t.Errorf("initial %v: %+v, want a wait of %v", tt.initial, w, tt.want)
		}
		next := in
		next.First, next.At, next.State, next.Memory = false, january.Add(w.Interval), evaluators.Unchanged, w.Memory
		if later := (evaluators.Learned{Initial: tt.initial}).Next(next); strings.Contains(later.Reason, "initial") {
			t.Errorf("the second wait has the reason %q", later.Reason)
		}
	}
}

// A page that changes every twenty days is visited more than twice as often as its number of changes says, a page that
// changes five times a day as often.
func TestLearnedPrefersPagesThatChangeRarely(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ perDay, least, most float64 }{{0.05, 1.7, 3}, {5, 1, 1}} {
		visits := func(prefer string) float64 {
			e := evaluators.WaitEvaluator{Rule: evaluators.Learned{Prefer: prefer}}
			n, _, _ := played(e, evaluators.WaitInput{}, int(100/tt.perDay), poisson(tt.perDay, 7))
			return float64(n)
		}
		if r := visits(evaluators.PreferPages) / visits(evaluators.PreferVersions); r < tt.least || r > tt.most {
			t.Errorf("%v changes a day: visited %.2f times as often, want %v to %v times", tt.perDay, r, tt.least, tt.most)
		}
		if visits("") != visits(evaluators.PreferPages) {
			t.Error("the default prefers versions")
		}
	}
}

func TestLearnedSleepsAtNightWhereNothingChangesAtNight(t *testing.T) {
	t.Parallel()
	e := evaluators.WaitEvaluator{Rule: evaluators.Learned{CaptureTarget: 0.8, Min: time.Minute}}
	random := poisson(48, 3)
	night, day := 0, 0
	played(e, evaluators.WaitInput{}, 60, func(from, to time.Time) bool {
		if to.Sub(january) > 30*24*time.Hour {
			if to.Hour() < 12 {
				night++
			} else {
				day++
			}
		}
		return to.Hour() >= 12 && random(from, to)
	})
	if night*4 > day {
		t.Errorf("%d visits in the quiet half of the day, %d in the other", night, day)
	}
}

func TestLearnedVisitsAnArticleAtGrowingIntervals(t *testing.T) {
	t.Parallel()
	var waits []time.Duration
	e := evaluators.WaitEvaluator{Rule: evaluators.Learned{CaptureTarget: 0.8, Min: time.Minute}}
	visits, _, last := played(e, evaluators.WaitInput{
		Evidence: evaluators.Evidence{Born: january},
	}, 60, func(from, to time.Time) bool {
		waits = append(waits, to.Sub(from))
		return false
	})
	if len(waits) < 5 || waits[0] > 6*time.Hour || last.Interval < 5*24*time.Hour {
		t.Errorf("%d visits of an article that never changes, first after %v, at last every %v", visits, waits[0], last.Interval)
	}
}

func TestLearnedTakesOverAnIntervalOfAnotherRule(t *testing.T) {
	t.Parallel()
	s := evaluators.Stack{{Rule: evaluators.Learned{CaptureTarget: 0.72, Prefer: evaluators.PreferVersions}}}
	w := s.Next(evaluators.WaitInput{
		State: evaluators.Unchanged, Previous: 10 * 24 * time.Hour, Evidence: evaluators.Evidence{At: january},
	})
	if w.Interval < 5*24*time.Hour || w.Interval > 25*24*time.Hour {
		t.Errorf("a page once visited each 10 days is now visited after %v", w.Interval)
	}
}

func TestADamagedMemoryIsReplacedAndReported(t *testing.T) {
	t.Parallel()
	s := evaluators.Stack{{Rule: evaluators.Learned{}}}
	good := s.Next(evaluators.WaitInput{
		First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: january},
	}).Memory
	nan := append(rate.Memory(nil), good...)
	copy(nan[14:], []byte{0x7f, 0xc0, 0, 0})
	for name, m := range map[string]rate.Memory{
		"another version": append(rate.Memory{99}, good[1:]...), "cut": good[:20], "no number": nan,
	} {
		if err := m.Check(); !errors.Is(err, rate.ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
		w := s.Next(evaluators.WaitInput{State: evaluators.Changed, Evidence: evaluators.Evidence{At: january, Memory: m}})
		if !strings.Contains(w.Reason, "begun again") || w.Memory.Check() != nil {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// TestSmallChangesOfABeliefAddUp visits a page every five minutes for a month. Each visit changes the beliefs by less
// than a step of the memory. The changes must add up all the same.
func TestSmallChangesOfABeliefAddUp(t *testing.T) {
	t.Parallel()
	s := evaluators.Stack{{Rule: evaluators.Learned{}}}
	in := evaluators.WaitInput{First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: january}}
	var w evaluators.Wait
	for i := range 60 * 288 {
		w = s.Next(in)
		in = evaluators.WaitInput{
			State: evaluators.Unchanged, Evidence: evaluators.Evidence{At: in.At.Add(5 * time.Minute), Memory: w.Memory},
		}
		if i < 30*288 && i%6 == 0 {
			in.State = evaluators.Changed
		}
	}
	if w.PerDay > 1 {
		t.Errorf("after a month without any change, %v changes a day are expected", w.PerDay)
	}
}

func TestLearnedKeepsToTheMinute(t *testing.T) {
	t.Parallel()
	e := evaluators.WaitEvaluator{Rule: evaluators.Learned{CaptureTarget: 0.7}}
	late, found := time.Duration(0), 0
	played(e, evaluators.WaitInput{}, 60, func(from, to time.Time) bool { // it changes at 40 minutes past
		change := to.Truncate(time.Hour).Add(40 * time.Minute)
		if change.After(to) {
			change = change.Add(-time.Hour)
		}
		if !change.After(from) {
			return false
		}
		if to.Sub(january) > 40*24*time.Hour {
			late += to.Sub(change)
			found++
		}
		return true
	})
	if mean := late / time.Duration(found); mean > 15*time.Minute {
		t.Errorf("what changes at a fixed minute is found %v later; at random it would be half an hour", mean)
	}
}

// FuzzMemory: whatever the bytes are, there is a finite wait and a memory that can be read.
func FuzzMemory(f *testing.F) {
	s := evaluators.Stack{{Rule: evaluators.Learned{}}}
	f.Add([]byte(s.Next(evaluators.WaitInput{
		First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: january, Born: january},
	}).Memory), int64(3600), uint8(2))
	f.Add([]byte{1}, int64(-1), uint8(1))
	f.Fuzz(func(t *testing.T, m []byte, after int64, state uint8) {
		w := s.Next(evaluators.WaitInput{
			State: evaluators.State(state % 3), Evidence: evaluators.Evidence{
				At: january.Add(time.Duration(after%1e9) * time.Second), Memory: m,
			},
		})
		if w.Interval < 5*time.Minute || w.Interval > 90*24*time.Hour || w.Memory.Check() != nil || math.IsNaN(w.Expected) {
			t.Errorf("%+v, %v", w, w.Memory.Check())
		}
	})
}
