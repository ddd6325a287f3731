package evaluators_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// officeHours plays a number of URIs of one kind for some weeks, in the order of time. All change twice a day at
// random, on working days from 8 to 18 UTC if they keep office hours.
func officeHours(uris, weeks int, kept bool) rate.Relatives {
	random := rand.New(rand.NewPCG(11, 1))
	s := evaluators.Stack{{Rule: evaluators.Learned{}}}
	inputs := make([]evaluators.WaitInput, uris)
	due := make([]time.Time, uris)
	var k rate.Relatives
	changes := func(at time.Time) bool {
		day := at.Weekday()
		return !kept || at.Hour() >= 8 && at.Hour() < 18 && day != time.Saturday && day != time.Sunday
	}
	const tick = 10 * time.Minute
	for i := range inputs {
		inputs[i] = evaluators.WaitInput{First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{Kind: 5}}
		due[i] = january.Add(time.Duration(i) * time.Minute)
	}
	for now := january; now.Before(january.AddDate(0, 0, 7*weeks)); now = now.Add(tick) {
		for i := range inputs {
			in := &inputs[i]
			if changes(now) && random.Float64() < 2*tick.Hours()/24*4 {
				in.State = evaluators.Changed
			}
			if due[i].After(now) {
				continue
			}
			in.At, in.Relatives = now, k
			w := s.Next(*in)
			k = k.Plus(w.Lesson)
			*in = evaluators.WaitInput{
				State: evaluators.Unchanged, Previous: w.Interval, Evidence: evaluators.Evidence{Memory: w.Memory},
			}
			due[i] = now.Add(w.Interval)
		}
	}
	return k
}

// firstWait is how long a new URI waits after its first visit.
func firstWait(at time.Time, k rate.Relatives) evaluators.Wait {
	s := evaluators.Stack{{Rule: evaluators.Learned{}}}
	return s.Next(evaluators.WaitInput{
		First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: at, Kind: 5, Relatives: k},
	})
}

func TestANewURIKnowsTheHoursOfItsRelatives(t *testing.T) {
	t.Parallel()
	k := officeHours(20, 5, true)
	monday := january.AddDate(0, 0, 35)
	for _, row := range []struct {
		name        string
		quiet, busy time.Time
		atLeast     float64
	}{
		{"by night it waits longer than in the morning", monday.Add(20 * time.Hour), monday.Add(8 * time.Hour), 2},
		{"on Saturday it waits longer than on Monday", monday.AddDate(0, 0, 5).Add(8 * time.Hour), monday.Add(8 * time.Hour), 1.3},
	} {
		if r := float64(firstWait(row.quiet, k).Interval) / float64(firstWait(row.busy, k).Interval); r < row.atLeast {
			t.Errorf("%s: %.2f times, want %v or more", row.name, r, row.atLeast)
		}
	}
	if got := k.Rhythm.String(); !strings.HasPrefix(got, "most from ") || !strings.Contains(got, ", least from ") || !strings.HasSuffix(got, "on Saturday") && !strings.HasSuffix(got, "on Sunday") {
		t.Errorf("in words: %q", got)
	}
	if got, want := firstWait(monday, k).Reason, ", hours and days of 20 similar URIs"; !strings.HasSuffix(got, want) {
		t.Errorf("reason %q, want it to end with %q", got, want)
	}
}

func TestRelativesWithoutRhythmChangeNoHours(t *testing.T) {
	t.Parallel()
	k := officeHours(20, 5, false)
	monday := january.AddDate(0, 0, 35)
	least, most := time.Duration(1<<62), time.Duration(0)
	for hour := range 24 * 7 {
		wait := firstWait(monday.Add(time.Duration(hour)*time.Hour), k).Interval
		least, most = min(least, wait), max(most, wait)
	}
	if r := float64(most) / float64(least); r > 1.6 {
		t.Errorf("where any time is alike, the longest first wait of a week is %.2f times the shortest", r)
	}
}

func TestOneURIAloneIsNotItsOwnRelative(t *testing.T) {
	t.Parallel()
	if k := officeHours(1, 3, true); k.Rhythm != (rate.Rhythm{}) {
		t.Errorf("of a single URI the kind knows %v", k.Rhythm)
	}
}

func TestARhythmFadesWhicheverCameFirst(t *testing.T) {
	t.Parallel()
	day := 86400.0
	a, b := rate.Rhythm{At: 100 * day}, rate.Rhythm{At: 140 * day}
	a.Seen[3], b.Seen[3], b.Expected[4] = 10, 1, 2
	one, other := a.Plus(b), b.Plus(a)
	if one != other {
		t.Errorf("%v, the other way round %v", one, other)
	}
	if one.At != b.At || one.Seen[3] < 4.6 || one.Seen[3] > 4.7 || one.Expected[4] != 2 {
		t.Errorf("after 40 days: %v", one)
	}
	if nothing := a.Plus(rate.Rhythm{}); nothing != a {
		t.Errorf("with nothing added: %v", nothing)
	}
}
