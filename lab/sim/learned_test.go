package sim_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// randomPage returns a page that changes at random, once in gap on average, for some days.
func randomPage(random *rand.Rand, gap time.Duration, days int) sim.History {
	h := sim.History{
		ID: "page" + strconv.Itoa(random.Int()), Host: "a.example", Kind: "front page", Start: time.Unix(1.7e9, 0).UTC(),
		Watched: time.Duration(days) * 24 * time.Hour,
	}
	for after := time.Duration(0); ; {
		if after += time.Duration(random.ExpFloat64() * float64(gap)); after > h.Watched {
			return h
		}
		h.Changes = append(h.Changes, after)
	}
}

// played returns the tallies of pages on hosts of their own at the default target.
func played(p sim.Policy, pages ...sim.History) sim.Tally {
	for i := range pages {
		pages[i].Host = strconv.Itoa(i) + ".example"
	}
	return sim.Sum(sim.Play(p, 0.46, pages))
}

const longest = 90 * 24 * time.Hour

func TestAPageThatDiffersAtEachFetchIsVisitedOnceADay(t *testing.T) {
	t.Parallel()
	clock := sim.History{
		ID: "clock", Kind: "front page", Start: time.Unix(1.7e9, 0).UTC(), Watched: 40 * 24 * time.Hour, Noise: true,
	}
	once, twice := played(sim.LearnedOnce(longest), clock), played(sim.Learned(longest), clock)
	if once.Requests < 5_000 || twice.Requests > 95 || twice.Looks < 35 || twice.Looks > 45 {
		t.Errorf("%d requests without second looks, %d with %d of them", once.Requests, twice.Requests, twice.Looks)
	}
}

func TestNoiseThatNoReaderSeesDoesNotHideVersions(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	var clean, noisy []sim.History
	for range 10 {
		h := randomPage(random, 6*time.Hour, 60)
		clean = append(clean, h)
		h.Noise, h.Unseen = true, true
		noisy = append(noisy, h)
	}
	want, got := played(sim.Learned(longest), clean...), played(sim.Learned(longest), noisy...)
	if got.Share() < want.Share()-.03 || float64(got.Requests) > 1.15*float64(want.Requests) {
		t.Errorf("captured %.3f in %d requests with noise, %.3f in %d without",
			got.Share(), got.Requests, want.Share(), want.Requests)
	}
}

// A ticker has new content at each visit, but not ten seconds later.
func TestTickersKeepTheirVersions(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	for _, gap := range []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute} {
		var pages []sim.History
		for range 6 {
			pages = append(pages, randomPage(random, gap, 3))
		}
		once, twice := played(sim.LearnedOnce(longest), pages...), played(sim.Learned(longest), pages...)
		if twice.Share() < once.Share()-.02 || float64(twice.Looks) > .005*float64(twice.Requests) {
			t.Errorf("a version each %s: captured %.3f, without second looks %.3f; %d of %d requests were second looks",
				gap, twice.Share(), once.Share(), twice.Looks, twice.Requests)
		}
	}
}

// TestARateIsNotEstimatedTooHighWhereMostVisitsFindAChange visits pages that change at random, at fixed waits
// shorter or longer than the mean interval between changes. The expected number of changes must match the real one,
// even if three of four visits, or 95 of 100, find a change.
func TestARateIsNotEstimatedTooHighWhereMostVisitsFindAChange(t *testing.T) {
	t.Parallel()
	const visits, learning = 400, 100
	for _, wait := range []time.Duration{6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour} {
		for _, changes := range []float64{0.3, 1.4, 3} { // mean number of changes between two visits
			expected := 0.0
			for seed := range uint64(4) {
				random := rand.New(rand.NewPCG(seed, 7))
				waits := evaluators.Stack{{Rule: evaluators.Learned{Min: wait, Max: wait}}}
				in := evaluators.WaitInput{
					First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{
						At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
					},
				}
				for n := range visits {
					w := waits.Next(in)
					if n >= learning {
						expected += w.Expected / (4 * (visits - learning))
					}
					in.First, in.Memory, in.At, in.State = false, w.Memory, in.At.Add(wait), evaluators.Unchanged
					if random.ExpFloat64() < changes {
						in.State = evaluators.Changed
					}
				}
			}
			if expected < 0.85*changes || expected > 1.3*changes {
				t.Errorf("the estimate is %.2f changes in %s, want %.1f", expected, wait, changes)
			}
		}
	}
}

func TestPagesOfTheSameHoursLearnFromEachOther(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	site := sim.Daylight(1, 120, 40)
	alone := sim.Daylight(1, 120, 40)
	for i := range alone {
		alone[i].Host += strconv.Itoa(i)
	}
	base := sim.Base(site)
	learned := sim.Learned(28 * 24 * time.Hour)
	_, together := sim.Spend(learned, 2*base, site)
	_, strangers := sim.Spend(learned, 2*base, alone)
	gain := sim.Sum(together).Share() - sim.Sum(strangers).Share()
	if gain < 0.015 {
		t.Errorf("captured share: %.3f on one host, %.3f with one host per page; want a difference of at least 0.015", sim.Sum(together).Share(), sim.Sum(strangers).Share())
	}
}

func TestExplainPlaysTheWholeHost(t *testing.T) {
	t.Parallel()
	site := sim.Daylight(1, 30, 30)
	learned := func(_, _ string) evaluators.Stack { return evaluators.Stack{{Rule: evaluators.Learned{}}} }
	steps, like := sim.Explain(learned, site, 7)
	if len(steps) == 0 || !steps[0].At.Equal(site[7].Start) {
		t.Fatalf("Explain returns %d steps, or steps of another page", len(steps))
	}
	text := sim.RhythmText(like.Rhythm)
	weekend := strings.HasSuffix(text, "on Saturday") || strings.HasSuffix(text, "on Sunday")
	if like.URIs != 30 || !strings.HasPrefix(text, "most from ") || !strings.Contains(text, ", least from ") || !weekend {
		t.Errorf("similar URIs: %v with the rhythm %q", like.URIs, text)
	}
}

// everySixHours returns a page that changes every six hours for sixty days.
func everySixHours() []sim.History {
	h := world(60 * day)
	h.ID, h.Host = "page", "host.example"
	for after := 3 * time.Hour; after < h.Watched; after += 6 * time.Hour {
		h.Changes = append(h.Changes, after)
	}
	return []sim.History{h}
}

func TestTroubleCostsVersionsOrRequests(t *testing.T) {
	t.Parallel()
	all := everySixHours()
	plain := sim.Play(every, 180, all)[0]
	if plain.Captured != plain.Versions || plain.Versions != 240 {
		t.Fatalf("without trouble: %+v", plain)
	}
	for _, tt := range []struct {
		trouble                  sim.Trouble
		fewest, most, least, top int // requests, and versions captured
	}{
		{sim.NoTrouble, plain.Requests, plain.Requests, 240, 240},
		{sim.Late, plain.Requests / 2, plain.Requests/2 + 1, 235, 240},
		{sim.Outages, plain.Requests + 50, plain.Requests + 400, 200, 236},
		{sim.Stale, plain.Requests, plain.Requests, 240, 240}, // the second visit of a version captures it
		{sim.Clock, plain.Requests, plain.Requests, 240, 240},
	} {
		got := sim.Play(every.InTrouble(tt.trouble), 180, all)[0]
		if got.Requests < tt.fewest || got.Requests > tt.most || got.Captured < tt.least || got.Captured > tt.top {
			t.Errorf("%s: %+v", tt.trouble, got)
		}
		if again := sim.Play(every.InTrouble(tt.trouble), 180, all)[0]; again != got {
			t.Errorf("%s: played again %+v, first %+v", tt.trouble, again, got)
		}
	}
}

func TestAStaleAnswerHidesAVersionThatIsVisitedOnce(t *testing.T) {
	t.Parallel()
	got := sim.Play(every.InTrouble(sim.Stale), 360, everySixHours())[0]
	if got.Requests != 240 || got.Captured < 200 || got.Captured > 232 {
		t.Errorf("%+v, want some 216 of 240 versions", got)
	}
}

// The learned rule captures as much if the clock is wrong on some days and the crawler notices it. If it does not, the
// rule believes in long times without a change. It may not lose versions by that, because one quiet visit lengthens the
// wait by a limited factor; but it needs more visits.
func TestAClockThatJumpsTeachesNothing(t *testing.T) {
	t.Parallel()
	all := everySixHours()
	p := sim.Stack("learned", evaluators.Stack{{Rule: evaluators.Learned{ExpectedChanges: rate.ExpectedFor(0.8)}}}) // no probes
	right := sim.Play(p, 0, all)[0]
	jumped := sim.Play(p.InTrouble(sim.Clock), 0, all)[0]
	blind := sim.Play(p.InTrouble(sim.BlindClock), 0, all)[0]
	t.Logf("captured with a right clock %d, if jumps are noticed %d, if not %d", right.Captured, jumped.Captured, blind.Captured)
	if min(jumped.Captured, blind.Captured) < right.Captured-5 || jumped.Requests > right.Requests+5 ||
		blind.Requests < right.Requests+10 {
		t.Errorf("right %+v, jumped %+v, blind %+v", right, jumped, blind)
	}
}

func TestTroublesAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	for trouble := sim.NoTrouble; trouble <= sim.BlindClock; trouble++ {
		got, err := sim.TroubleNamed(trouble.String())
		if diff := cmp.Diff(trouble, got); diff != "" || err != nil {
			t.Errorf("%s: %v, %v", trouble, got, err)
		}
	}
	if _, err := sim.TroubleNamed("war"); err == nil {
		t.Error("an unknown trouble was found")
	}
}

func TestTheSecondHalfKnowsCapturesOfTheFirst(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	h := sim.History{
		ID: "a", Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Watched: 140 * day,
		Changes: []time.Duration{10 * day, 11 * day, 65 * day, 75 * day, 139 * day},
	}
	half := sim.SecondHalf([]sim.History{h}, 30*day)[0]
	if half.Watched != 70*day || len(half.Changes) != 2 || half.Changes[0] != 5*day || half.Changes[1] != 69*day {
		t.Errorf("the second half is %v with changes at %v", half.Watched, half.Changes)
	}
	states := ""
	for _, v := range half.Earlier {
		states += strconv.Itoa(int(v.At.Sub(h.Start)/day)) + " " + v.State.String() + " "
	}
	if states != "0 changed 30 changed 60 unchanged 70 changed " {
		t.Errorf("the captures are %s, want days and states", states)
	}
	// A rule is asked once for each of them, in order, and not for the start again.
	var seen []sim.Visit
	rule := sim.Policy{Host: func(float64) func(sim.History) sim.Player {
		return func(sim.History) sim.Player {
			return func(v sim.Visit) sim.Plan { seen = append(seen, v); return sim.Plan{Wait: 40 * day} }
		}
	}}
	tally := sim.Play(rule, 0, []sim.History{half})[0]
	if len(seen) != 5 || !seen[3].Earlier || seen[4].Earlier || seen[4].First || seen[4].State != evaluators.Changed {
		t.Errorf("the rule was asked for %+v", seen)
	}
	if tally.Requests != 1 || tally.Captured != 1 || tally.Versions != 2 {
		t.Errorf("counted %+v, want one request, which captured one of two versions", tally)
	}
	if base := sim.Base([]sim.History{half}); base != sim.Base(sim.SecondHalf([]sim.History{h}, 0)) {
		t.Errorf("the unit of budgets is %d requests after a warm start, and differs after a cold one", base)
	}
}

func TestHistoriesAreCutOffAfterATime(t *testing.T) {
	t.Parallel()
	all := []sim.History{{Watched: 9, Changes: []time.Duration{2, 4, 4, 5}}, {Watched: 3, Changes: []time.Duration{3}}}
	cut := sim.Beginning(all, 4)
	if cut[0].Watched != 4 || len(cut[0].Changes) != 3 || cut[1].Watched != 3 || len(cut[1].Changes) != 1 {
		t.Errorf("cut to %+v", cut)
	}
}

// A page that changed at each of many captures is not taken for one that differs at every fetch: nobody looked twice.
func TestBusyPagesAreVisitedOftenAfterDailyCaptures(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	h := sim.History{ID: "a", Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Watched: 80 * day}
	for after := time.Hour; after < h.Watched; after += 2 * time.Hour {
		h.Changes = append(h.Changes, after)
	}
	requests := map[string]int{}
	for _, start := range []string{"cold", "daily"} {
		all, err := sim.WarmStart([]sim.History{h}, start)
		must(t, err)
		requests[start] = sim.Play(sim.Learned(90*day), 0.7, all)[0].Requests
	}
	if requests["daily"] < requests["cold"]*9/10 {
		t.Errorf("requests: %v; want about the same after a daily start", requests)
	}
}

// The first visit after earlier captures adds the URI to its kin, as a first visit does.
func TestPrimedPagesJoinTheirKin(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var primed []sim.History
	for i := range 40 { // pages that never change
		h := sim.History{ID: strconv.Itoa(i), Host: "h", Kind: "page", Start: start, Watched: 200 * day}
		primed = append(primed, sim.SecondHalf([]sim.History{h}, day)...)
	}
	late := sim.History{ID: "new", Host: "h", Kind: "page", Start: start.Add(190 * day), Watched: 90 * day}
	alone := sim.Play(sim.Learned(90*day), 0.7, []sim.History{late})[0].Requests
	among := sim.Play(sim.Learned(90*day), 0.7, append(primed, late))[len(primed)].Requests
	if among >= alone {
		t.Errorf("a new page among 40 quiet ones takes %d requests, and %d without them; want fewer", among, alone)
	}
}

func TestStartsHaveNames(t *testing.T) {
	t.Parallel()
	all := []sim.History{{ID: "a", Watched: 20 * 24 * time.Hour}, {ID: "b", Watched: 24 * time.Hour}}
	for name, captures := range map[string]int{"cold": 0, "monthly": 2, "weekly": 3, "daily": 11} {
		got, err := sim.WarmStart(all, name)
		if err != nil || len(got) != 1 || len(got[0].Earlier) != captures {
			t.Errorf("%s: %d histories, %v, want one with %d captures", name, len(got), err, captures)
		}
	}
	if got, err := sim.WarmStart(all, "whole"); err != nil || len(got) != 2 {
		t.Errorf("whole: %d histories, %v", len(got), err)
	}
	if _, err := sim.WarmStart(all, "warm"); err == nil {
		t.Error("a start without a meaning is accepted")
	}
}
