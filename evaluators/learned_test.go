package evaluators

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

var january = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)

// firstVisit returns the first visit of a URI, in January.
func firstVisit() WaitInput {
	return WaitInput{First: true, State: Changed, Evidence: Evidence{At: january}}
}

// check reports whether a memory can be read.
func check(m rate.Memory) error { return new(rate.Estimator).Open(m) }

// played visits a URI by one evaluator for some days. The URI changed between two moments if changed says so.
func played(
	e WaitEvaluator, in WaitInput, days int, changed func(from, to time.Time) bool,
) (visits, captured int, last Wait) {
	stack := Stack{e}
	in.At, in.First, in.State = january, true, Changed
	end := january.AddDate(0, 0, days)
	for {
		last = stack.Next(in)
		in.First, in.Memory, in.Previous = false, last.Memory, last.Interval
		before := in.At
		if in.At = in.At.Add(last.Interval); in.At.After(end) {
			return visits, captured, last
		}
		visits++
		in.State = Unchanged
		if changed(before, in.At) {
			captured++
			in.State = Changed
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
		e := WaitEvaluator{Rule: Learned{CaptureTarget: 0.8, Min: time.Minute, Prefer: PreferVersions}}
		days := int(400 / perDay)
		visits, _, _ := played(e, WaitInput{}, days, poisson(perDay, 7))
		want := perDay * float64(days) / rate.Expected(0.8)
		if r := float64(visits) / want; r < 0.75 || r > 1.35 {
			t.Errorf("%v changes a day: %d visits in %d days, want about %.0f", perDay, visits, days, want)
		}
	}
}

func TestLearnedWaitsForTheInitialWaitAfterTheFirstCapture(t *testing.T) {
	t.Parallel()
	in := WaitInput{First: true, State: Changed}
	in.At, in.Stretch = january, 4
	for _, tt := range []struct{ initial, shortest, want time.Duration }{
		{6 * time.Hour, time.Hour, 6 * time.Hour}, {time.Minute, time.Hour, time.Hour},
	} {
		w := Learned{Initial: tt.initial, Min: tt.shortest}.Next(in)
		if w.Interval != tt.want || w.Asked() != tt.want || !strings.Contains(w.Reason, "initial") || !(w.Expected > 0) {
			t.Errorf("initial %v: %+v, want a wait of %v", tt.initial, w, tt.want)
		}
		next := in
		next.First, next.At, next.State, next.Memory = false, january.Add(w.Interval), Unchanged, w.Memory
		if later := (Learned{Initial: tt.initial}).Next(next); strings.Contains(later.Reason, "initial") {
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
			e := WaitEvaluator{Rule: Learned{Prefer: prefer}}
			n, _, _ := played(e, WaitInput{}, int(100/tt.perDay), poisson(tt.perDay, 7))
			return float64(n)
		}
		if r := visits(PreferPages) / visits(PreferVersions); r < tt.least || r > tt.most {
			t.Errorf("%v changes a day: visited %.2f times as often, want %v to %v times", tt.perDay, r, tt.least, tt.most)
		}
		if visits("") != visits(PreferPages) {
			t.Error("the default prefers versions")
		}
	}
}

func TestLearnedSleepsAtNightWhereNothingChangesAtNight(t *testing.T) {
	t.Parallel()
	e := WaitEvaluator{Rule: Learned{CaptureTarget: 0.8, Min: time.Minute}}
	random := poisson(48, 3)
	night, day := 0, 0
	played(e, WaitInput{}, 60, func(from, to time.Time) bool {
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
	e := WaitEvaluator{Rule: Learned{CaptureTarget: 0.8, Min: time.Minute}}
	visits, _, last := played(e, WaitInput{
		Evidence: Evidence{Born: january},
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
	s := Stack{{Rule: Learned{CaptureTarget: 0.72, Prefer: PreferVersions}}}
	w := s.Next(WaitInput{State: Unchanged, Previous: 10 * 24 * time.Hour, Evidence: Evidence{At: january}})
	if w.Interval < 5*24*time.Hour || w.Interval > 25*24*time.Hour {
		t.Errorf("a page once visited each 10 days is now visited after %v", w.Interval)
	}
}

func TestADamagedMemoryIsReplacedAndReported(t *testing.T) {
	t.Parallel()
	s := Stack{{Rule: Learned{}}}
	good := s.Next(firstVisit()).Memory
	nan := append(rate.Memory(nil), good...)
	copy(nan[14:], []byte{0x7f, 0xc0, 0, 0})
	for name, m := range map[string]rate.Memory{
		"another version": append(rate.Memory{99}, good[1:]...), "cut": good[:20], "no number": nan,
	} {
		if err := check(m); !errors.Is(err, rate.ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
		w := s.Next(WaitInput{State: Changed, Evidence: Evidence{At: january, Memory: m}})
		if !strings.Contains(w.Reason, "begun again") || check(w.Memory) != nil {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// TestSmallChangesOfABeliefAddUp visits a page every five minutes for a month. Each visit changes the beliefs by less
// than a step of the memory. The changes must add up all the same.
func TestSmallChangesOfABeliefAddUp(t *testing.T) {
	t.Parallel()
	s := Stack{{Rule: Learned{}}}
	in := firstVisit()
	var w Wait
	for i := range 60 * 288 {
		w = s.Next(in)
		in = WaitInput{State: Unchanged, Evidence: Evidence{At: in.At.Add(5 * time.Minute), Memory: w.Memory}}
		if i < 30*288 && i%6 == 0 {
			in.State = Changed
		}
	}
	if w.PerDay > 1 {
		t.Errorf("after a month without any change, %v changes a day are expected", w.PerDay)
	}
}

func TestLearnedKeepsToTheMinute(t *testing.T) {
	t.Parallel()
	e := WaitEvaluator{Rule: Learned{CaptureTarget: 0.7}}
	late, found := time.Duration(0), 0
	played(e, WaitInput{}, 60, func(from, to time.Time) bool { // it changes at 40 minutes past
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
	s := Stack{{Rule: Learned{}}}
	f.Add([]byte(s.Next(WaitInput{
		First: true, State: Changed, Evidence: Evidence{At: january, Born: january},
	}).Memory), int64(3600), uint8(2))
	f.Add([]byte{1}, int64(-1), uint8(1))
	f.Fuzz(func(t *testing.T, m []byte, after int64, state uint8) {
		w := s.Next(WaitInput{
			State: State(state % 3), Evidence: Evidence{
				At: january.Add(time.Duration(after%1e9) * time.Second), Memory: m,
			},
		})
		if w.Interval < 5*time.Minute || w.Interval > 90*24*time.Hour || check(w.Memory) != nil || math.IsNaN(w.Expected) {
			t.Errorf("%+v, %v", w, check(w.Memory))
		}
	})
}

// taught returns the expectation of the learned rule after visits at these intervals that all found a change.
func taught(visits int, every time.Duration, tell func(in *WaitInput)) Wait {
	stack := Stack{{Name: "all", Rule: Learned{}}}
	in := WaitInput{
		MIME: "application/rss+xml", State: Changed, First: true, Evidence: Evidence{
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
	moments := func(in *WaitInput) {
		in.Moments = nil
		for range changes {
			in.Moments = append(in.Moments, in.At.Add(-time.Duration(random.Int64N(int64(every)))))
		}
		in.Moments = append(in.Moments, in.At.Add(-every-time.Second), in.At.Add(time.Second)) // which lie outside
		in.ChangedBy = "its entries"
	}
	for _, c := range []struct {
		name string
		tell func(*WaitInput)
		says string
	}{
		{"by their moments", moments, "changed 10 times, the last "},
		{"by their number", func(in *WaitInput) { in.Changes = changes }, "changed 10 times: "},
	} {
		w := taught(40, every, c.tell)
		if math.Abs(w.PerDay-120) > 30 || math.Abs(w.Versions-changes) > 0.01 {
			t.Errorf("%s: %.1f changes a day are expected and %.1f versions were thought to have come, want 120 and 10", c.name, w.PerDay, w.Versions)
		}
		if !strings.HasPrefix(w.Reason, c.says) || strings.Contains(w.Reason, "by its entries: ") != (c.name == "by their moments") {
			t.Errorf("%s: %s, want %s…", c.name, w.Reason, c.says)
		}
	}
	if blind := taught(40, every, func(*WaitInput) {}); blind.Versions > 4 {
		t.Errorf("without a count: %.1f versions", blind.Versions)
	}
	once := taught(40, every, func(in *WaitInput) { in.Changes = 1 })
	if math.Abs(once.PerDay-12) > 1.5 {
		t.Errorf("with one change at each visit: %.1f a day, want 12", once.PerDay)
	}
	unchanged := taught(3, every, func(in *WaitInput) { in.State, in.Changes = Unchanged, changes })
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
	tell := func(silent bool) func(*WaitInput) {
		return func(in *WaitInput) {
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
	var d Dates
	for n := range 3 {
		if d.Believed(DatedPages) {
			t.Errorf("believed after %d dates", n)
		}
		d = d.After(DatedPages, true)
	}
	if !d.Believed(DatedPages) || d.Believed(DatedEntries) {
		t.Error("three dates of pages were right: dates of pages are believed, and no others")
	}
	d = d.After(DatedPages, false)
	if d.Believed(DatedPages) {
		t.Error("believed though one of four was wrong")
	}
	for range 64 {
		d = d.After(DatedPages, true)
	}
	if !d.Believed(DatedPages) || d[DatedPages].ChangeWrong != 1 {
		t.Errorf("not forgiven after 64 true ones: %+v", d)
	}
}

// officeHours plays a number of URIs of one kind for some weeks, in the order of time. All change twice a day at
// random, on working days from 8 to 18 UTC if they keep office hours.
func officeHours(uris, weeks int, kept bool) rate.Relatives {
	random := rand.New(rand.NewPCG(11, 1))
	s := Stack{{Rule: Learned{}}}
	inputs := make([]WaitInput, uris)
	due := make([]time.Time, uris)
	var k rate.Relatives
	changes := func(at time.Time) bool {
		day := at.Weekday()
		return !kept || at.Hour() >= 8 && at.Hour() < 18 && day != time.Saturday && day != time.Sunday
	}
	const tick = 10 * time.Minute
	for i := range inputs {
		inputs[i] = WaitInput{First: true, State: Changed, Evidence: Evidence{Kind: 5}}
		due[i] = january.Add(time.Duration(i) * time.Minute)
	}
	for now := january; now.Before(january.AddDate(0, 0, 7*weeks)); now = now.Add(tick) {
		for i := range inputs {
			in := &inputs[i]
			if changes(now) && random.Float64() < 2*tick.Hours()/24*4 {
				in.State = Changed
			}
			if due[i].After(now) {
				continue
			}
			in.At, in.Relatives = now, k
			w := s.Next(*in)
			k = k.Plus(w.Lesson)
			*in = WaitInput{State: Unchanged, Previous: w.Interval, Evidence: Evidence{Memory: w.Memory}}
			due[i] = now.Add(w.Interval)
		}
	}
	return k
}

// firstWait is how long a new URI waits after its first visit.
func firstWait(at time.Time, k rate.Relatives) Wait {
	s := Stack{{Rule: Learned{}}}
	return s.Next(WaitInput{First: true, State: Changed, Evidence: Evidence{At: at, Kind: 5, Relatives: k}})
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

func TestKindsSeparateURIsThatChangeDifferently(t *testing.T) {
	t.Parallel()
	seen := map[rate.Kind]Traits{}
	for _, mime := range []string{"text/html; charset=utf-8", "application/rss+xml", "application/json", "image/png"} {
		for depth := range 3 {
			for bits := range 8 {
				traits := Traits{
					MIME: mime, Depth: depth, Article: bits&1 > 0, Size: int64(bits&2) << 20, Dated: bits&4 > 0,
				}
				kind := traits.Kind()
				if other, ok := seen[kind]; ok || kind == 0 {
					t.Errorf("%+v and %+v are both of kind %d", traits, other, kind)
				}
				seen[kind] = traits
			}
		}
	}
	if a, b := (Traits{Depth: 2}).Kind(), (Traits{Depth: 20, MIME: ""}).Kind(); a != b {
		t.Errorf("what is deep is of kinds %d and %d", a, b)
	}
}

// family visits a number of URIs of one kind every six hours for some days, and returns what is then known of the kind.
func family(t *testing.T, uris, days int, changed bool) (k rate.Relatives, kind rate.Kind) {
	t.Helper()
	kind = Traits{MIME: "text/html", Depth: 1}.Kind()
	s := Stack{{Rule: Learned{}}}
	for range uris {
		in := WaitInput{First: true, State: Changed, Evidence: Evidence{At: january, Kind: kind, Relatives: k}}
		for range 4 * days {
			w := s.Next(in)
			if w.Kind != kind {
				t.Fatalf("kind %d, want %d", w.Kind, kind)
			}
			k = k.Plus(w.Lesson)
			in = WaitInput{
				State: Unchanged, Evidence: Evidence{
					At: in.At.Add(6 * time.Hour), Memory: w.Memory, Relatives: k,
				},
			}
			if changed {
				in.State = Changed
			}
		}
	}
	return k, kind
}

func TestANewURIBeginsAsItsRelativesAre(t *testing.T) {
	t.Parallel()
	s := Stack{{Rule: Learned{}}}
	first := firstVisit()
	stranger := s.Next(first)
	still, kind := family(t, 20, 30, false)
	if still.URIs != 20 {
		t.Errorf("%v relatives, want 20", still.URIs)
	}
	first.Kind, first.Relatives = kind, still
	if w := s.Next(first); w.Interval < 10*stranger.Interval {
		t.Errorf("where 20 relatives never changed, the first wait is %v; for a stranger %v", w.Interval, stranger.Interval)
	}
	busy, _ := family(t, 20, 30, true)
	first.Relatives = busy
	if w := s.Next(first); w.Interval > 4*stranger.Interval {
		t.Errorf("where 20 relatives always changed, the first wait is %v; for a stranger %v", w.Interval, stranger.Interval)
	}
}

// TestOneQuietVisitDoesNotOutweighAllBefore plays a front page that differed at each visit, on a host that can make
// every visit only much too late or stretches the waits. Then one visit finds nothing new.
func TestOneQuietVisitDoesNotOutweighAllBefore(t *testing.T) {
	t.Parallel()
	const most = 2 + 2*0.465 // times the last wait, for a capture target of 0.8
	for _, noisy := range []int{1, 3, 20, 100} {
		for _, c := range []struct{ late, stretch float64 }{{1, 1}, {10, 1}, {100, 1}, {1, 20}, {1, 60}, {3, 20}} {
			s := Stack{{Rule: Learned{CaptureTarget: 0.8}}}
			at := january
			w := s.Next(WaitInput{First: true, State: Changed, Evidence: Evidence{At: at}})
			visit := func(state State) {
				at = at.Add(time.Duration(c.late * float64(w.Interval)))
				w = s.Next(WaitInput{
					State: state, Previous: w.Asked(),
					Evidence: Evidence{At: at, Memory: w.Memory, Stretch: c.stretch},
				})
			}
			for range noisy {
				visit(Changed)
			}
			for quiet := range 3 {
				was := w
				visit(Unchanged)
				if got := float64(w.Asked()) / float64(was.Asked()); got > most*1.01 {
					t.Errorf("%d visits found a change, each late by %g waits, stretch %g; then quiet visit %d: %s to %s (× %.1f)",
						noisy, c.late-1, c.stretch, quiet+1, was.Asked(), w.Asked(), got)
				}
				// The stretched wait is a little longer where the clock of the URI has quiet hours.
				if got := float64(w.Interval) / float64(was.Interval); quiet > 0 && got > 2*most {
					t.Errorf("%d visits, stretch %g, quiet visit %d: stretched waits of %s and %s (× %.1f)",
						noisy, c.stretch, quiet+1, was.Interval, w.Interval, got)
				}
			}
			if c.late == 100 && noisy == 20 && !strings.Contains(w.Reason, "times the last wait at most") {
				t.Errorf("the reason does not say why the wait is short: %s", w.Reason)
			}
		}
	}
}

// A URI of which nothing was known before, and one that never changes, still reach the longest wait in a few weeks.
func TestWaitsOfAQuietURIStillGrow(t *testing.T) {
	t.Parallel()
	s := Stack{{Rule: Learned{CaptureTarget: 0.8}}}
	at, visits := january, 0
	w := s.Next(WaitInput{First: true, State: Changed, Evidence: Evidence{At: at}})
	for ; w.Interval < 30*24*time.Hour; visits++ {
		at = at.Add(w.Interval)
		w = s.Next(WaitInput{
			State: Unchanged, Previous: w.Asked(), Evidence: Evidence{At: at, Memory: w.Memory},
		})
	}
	if visits > 40 {
		t.Errorf("it took %d visits until the wait was a month", visits)
	}
}

func TestAStretchedWaitReportsTheWaitThatWasAsked(t *testing.T) {
	t.Parallel()
	stack := Stack{{Name: "news", Rule: Learned{CaptureTarget: 0.9, Max: 48 * time.Hour}}}
	in := WaitInput{MIME: "text/html", State: Changed, First: true, Evidence: Evidence{At: time.Unix(0, 0)}}
	one := stack.Next(in)
	in.Stretch = 3
	three := stack.Next(in)
	if ratio := three.Interval.Seconds() / one.Interval.Seconds(); ratio < 2.9 || ratio > 3.1 || three.Stretch < 2.9 || three.Stretch > 3.1 || !strings.HasSuffix(three.Reason, "stretched × 3 as the host cannot carry more") {
		t.Errorf("%v became %v, %v: %s", one.Interval, three.Interval, three.Stretch, three.Reason)
	}
	if off := three.Asked() - one.Interval; off < -time.Minute || off > time.Minute {
		t.Errorf("%v was asked for, want %v", three.Asked(), one.Interval)
	}
	for range 40 { // a page that never changes comes to rest at the longest wait
		in.At, in.First, in.State, in.Memory = in.At.Add(three.Interval), false, Unchanged, three.Memory
		three = stack.Next(in)
	}
	if three.Interval != 48*time.Hour || three.Asked() > 48*time.Hour || three.Asked() < 40*time.Hour {
		t.Errorf("the longest wait is %v, stretched × %v, want 48h whatever the host carries", three.Interval, three.Stretch)
	}
	classic := heritrix(t).Next(WaitInput{
		MIME: "text/html", State: Changed, First: true, Evidence: Evidence{Stretch: 3},
	})
	if classic.Interval != 12*time.Hour || classic.Asked() != 12*time.Hour {
		t.Errorf("the classic rule was stretched: %v", classic)
	}
}

// A page that changes twice a day, on a host that carries a hundredth of what is asked, may wait for 24 hours at most.
// It is visited about each 24 hours, and the wait that its target asks for is still known.
func TestTheLongestWaitHoldsOnAnOverloadedHost(t *testing.T) {
	t.Parallel()
	rule := Learned{Max: 24 * time.Hour}
	for _, by := range []float64{1, 2, 58, 1000, 1e9, math.Inf(1)} {
		in := WaitInput{
			MIME: "text/html", State: Changed, First: true,
			Evidence: Evidence{At: time.Unix(0, 0), Stretch: by},
		}
		var w Wait
		for i := range 60 {
			w = rule.Next(in)
			if w.Interval > 24*time.Hour {
				t.Fatalf("stretched × %v, visit %d: %v, above the longest wait of 24h", by, i, w.Interval)
			}
			in.At, in.First, in.Memory = in.At.Add(w.Interval), false, w.Memory
			in.State = Unchanged
			const every = 12 * 3600
			if before := in.At.Add(-w.Interval); in.At.Unix()/every > before.Unix()/every {
				in.State = Changed
			}
		}
		if by >= 58 && !math.IsInf(by, 1) && (w.Interval < 20*time.Hour || w.Asked() > 12*time.Hour || w.Stretch < 2) {
			t.Errorf("stretched × %v: %v, and %v without it; want about 24h, and at most 12h", by, w.Interval, w.Asked())
		}
	}
}

// TestMemoryNeverGrows makes random visits for a long time, with random relatives. The stored memory must stay within
// its bound and be readable.
func TestMemoryNeverGrows(t *testing.T) {
	t.Parallel()
	far := time.Unix(math.MaxInt64/2, 0)
	rows := map[string]func(i int, in *WaitInput){
		"always changed, once a nanosecond":     func(_ int, in *WaitInput) { in.At = in.At.Add(1) },
		"never changed, once in ninety years":   func(_ int, in *WaitInput) { in.At, in.State = in.At.AddDate(90, 0, 0), Unchanged },
		"at the same moment, in turn":           func(i int, in *WaitInput) { in.State = State(i % 3) },
		"at the ends of time in turn":           func(i int, in *WaitInput) { in.At = [...]time.Time{{}, far, time.Unix(-1<<62, 0)}[i%3] },
		"backwards":                             func(_ int, in *WaitInput) { in.At = in.At.Add(-time.Hour) },
		"each hour and minute of the year":      func(_ int, in *WaitInput) { in.At = in.At.Add(97 * time.Minute) },
		"born after the visit":                  func(_ int, in *WaitInput) { in.Born = far },
		"born before all time":                  func(_ int, in *WaitInput) { in.Born = time.Unix(-1<<62, 0) },
		"dated in the future":                   func(_ int, in *WaitInput) { in.At, in.ChangedAt = in.At.Add(time.Hour), far },
		"dated before the last visit":           func(_ int, in *WaitInput) { in.At, in.ChangedAt = in.At.Add(time.Hour), time.Unix(1, 0) },
		"overdue and waits without measure":     func(_ int, in *WaitInput) { in.Overdue, in.Previous = math.MaxInt64, math.MaxInt64 },
		"overdue and waits below nothing":       func(_ int, in *WaitInput) { in.Overdue, in.Previous = math.MinInt64, math.MinInt64 },
		"a stretch that is no number":           func(_ int, in *WaitInput) { in.At, in.Stretch = in.At.Add(time.Hour), math.NaN() },
		"the first visit again and again":       func(_ int, in *WaitInput) { in.At, in.First = in.At.Add(time.Hour), true },
		"of another kind at each visit":         func(i int, in *WaitInput) { in.At, in.Kind = in.At.Add(time.Hour), rate.Kind(i) },
		"a memory that another program wrote":   func(i int, in *WaitInput) { in.Memory = make(rate.Memory, 37*i) },
		"a memory of which the last byte lacks": func(_ int, in *WaitInput) { in.Memory = in.Memory[:max(0, len(in.Memory)-1)] },
	}
	for name, next := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Stack{{Rule: Learned{CaptureTarget: 0.9}}}
			in := WaitInput{First: true, State: Changed, Evidence: Evidence{At: january, Born: january}}
			for i := range 600 {
				before := bytes.Clone(in.Memory)
				w := s.Next(in)
				if !bytes.Equal(before, in.Memory) || !reflect.DeepEqual(w, s.Next(in)) {
					t.Fatalf("visit %d: the memory that was handed in was written to, or the answer differs the second time", i)
				}
				if n := len(w.Memory); n == 0 || n > 256 {
					t.Fatalf("visit %d: a memory of %d bytes", i, n)
				}
				if err := check(w.Memory); err != nil {
					t.Fatalf("visit %d: %v", i, err)
				}
				if w.Interval < 5*time.Minute || w.Interval > 90*24*time.Hour ||
					math.IsNaN(w.Expected+w.Missed+w.PerDay+w.Versions) {
					t.Fatalf("visit %d: %+v", i, w)
				}
				in.First, in.Memory, in.Previous = false, w.Memory, w.Interval
				next(i, &in)
			}
		})
	}
}
