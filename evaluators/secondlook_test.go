package evaluators_test

import (
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/evaluators"
)

var lookAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// seen plays usual visits an hour apart. Each letter is one of them: c changed, u unchanged, ? unknown.
func seen(l evaluators.Look, states string, wait time.Duration) (evaluators.Look, bool) {
	look := false
	letters := map[rune]evaluators.State{'c': evaluators.Changed, 'u': evaluators.Unchanged, '?': evaluators.Unknown}
	for i, letter := range states {
		state := letters[letter]
		w := evaluators.Wait{Interval: wait}
		l, look = evaluators.SecondLook{}.Due(l, state, w, lookAt.Add(time.Duration(i)*time.Hour))
	}
	return l, look
}

func TestAPageIsLookedAtTwiceAfterFiveChangesInARow(t *testing.T) {
	t.Parallel()
	live := evaluators.Look{Finding: evaluators.Live, Since: lookAt.Add(-59 * 24 * time.Hour)}
	old := evaluators.Look{Finding: evaluators.Live, Since: lookAt.Add(-61 * 24 * time.Hour)}
	restless := evaluators.Look{Finding: evaluators.Restless, Since: lookAt}
	for _, c := range []struct {
		name   string
		before evaluators.Look
		states string
		wait   time.Duration
		look   bool
	}{
		{"four changes", evaluators.Look{}, "cccc", time.Hour, false},
		{"five changes", evaluators.Look{}, "ccccc", time.Hour, true},
		{"an unchanged visit begins again", evaluators.Look{}, "ccccucccc", time.Hour, false},
		{"an unknown state changes nothing", evaluators.Look{}, "cccc??c", time.Hour, true},
		{"visited every two hours", evaluators.Look{}, "ccccc", 2 * time.Hour, false},
		{"live for less than sixty days", live, "ccccc", time.Hour, false},
		{"live for more", old, "ccccc", time.Hour, true},
		{"restless: the ninth visit", restless, "ccccccccc", 24 * time.Hour, false},
		{"restless: the tenth visit", restless, "cccccccccc", 24 * time.Hour, true},
	} {
		l, look := seen(c.before, c.states, c.wait)
		last := lookAt.Add(time.Duration(len(c.states)-1) * time.Hour)
		if look != c.look || look && (l.Open != 1 || !l.Planned.Equal(last.Add(c.wait))) {
			t.Errorf("%s: look = %v, %+v", c.name, look, l)
		}
	}
	restless.Visits, restless.Row = 3, 9
	if l, look := seen(restless, "u", 24*time.Hour); look || l.Finding != evaluators.NoFinding || l.Row != 0 {
		t.Errorf("a restless page that stays the same: look = %v, %+v", look, l)
	}
	// The budget of a host stretches waits. That does not make a page quiet.
	w := evaluators.Wait{Interval: 50 * time.Hour, Estimate: evaluators.Estimate{Stretch: 100}}
	if _, look := (evaluators.SecondLook{}).Due(evaluators.Look{Row: 4}, evaluators.Changed, w, lookAt); !look {
		t.Error("a page that would be visited every half hour is not looked at twice")
	}
}

func TestAPageIsRestlessIfTwoSecondLooksDiffer(t *testing.T) {
	t.Parallel()
	open := evaluators.Look{Row: 5, Open: 1, Planned: lookAt.Add(time.Hour)}
	silenced := open
	silenced.View, silenced.Silencer = evaluators.SeenSilenced, "s#clock"
	recheck := evaluators.Look{
		Row: 250, Open: 1, Visits: 10, Finding: evaluators.Restless, Since: lookAt.Add(-240 * time.Hour), Planned: lookAt,
	}
	for _, c := range []struct {
		name    string
		before  evaluators.Look
		found   []evaluators.Outcome
		finding evaluators.Finding
		row     int
		again   bool
	}{
		{"the same", open, []evaluators.Outcome{evaluators.LookSame}, evaluators.Live, 0, false},
		{"one look differs", open, []evaluators.Outcome{evaluators.LookDiffers}, evaluators.NoFinding, 5, true},
		{"the second is the same", open, []evaluators.Outcome{evaluators.LookDiffers, evaluators.LookSame}, evaluators.Live, 0, false},
		{"both differ", open, []evaluators.Outcome{evaluators.LookDiffers, evaluators.LookDiffers}, evaluators.Restless, 5, false},
		{"a reader sees the same", open, []evaluators.Outcome{evaluators.LookNoisy}, evaluators.Live, 0, false},
		{"a reader sees the same under rules", silenced, []evaluators.Outcome{evaluators.LookNoisy}, evaluators.NoFinding, 0, false},
		{"no answer", open, []evaluators.Outcome{evaluators.LookFailed}, evaluators.NoFinding, 0, false},
		{"still restless", recheck, []evaluators.Outcome{evaluators.LookDiffers}, evaluators.Restless, 250, false},
		{"not restless any more", recheck, []evaluators.Outcome{evaluators.LookSame}, evaluators.Live, 0, false},
	} {
		l, again := c.before, false
		for _, o := range c.found {
			l, again = evaluators.SecondLook{}.Closed(l, o, lookAt)
		}
		if l.Finding != c.finding || l.Row != c.row || again != c.again || again != (l.Open > 0) || !again && l.Visits != 0 {
			t.Errorf("%s: %+v, another look: %v", c.name, l, again)
		}
	}
}

// A page that shows the time is the same at a second look, and different a minute later.
func TestAPageThatShowsTheTimeIsFetchedOnceMore(t *testing.T) {
	t.Parallel()
	clock := evaluators.SecondLook{Clock: evaluators.ClockLook}
	planned := lookAt.Add(time.Hour)
	silenced := evaluators.Look{Row: 5, Open: 3, Planned: planned, View: evaluators.SeenSilenced, Silencer: "s#clock"}
	look, again := clock.Closed(evaluators.Look{Row: 5, Open: 1, Planned: planned}, evaluators.LookSame, lookAt)
	if !again || !look.IsForClock() || look.Finding != evaluators.NoFinding {
		t.Errorf("the same at the second look: %+v, another look: %v", look, again)
	}
	for _, c := range []struct {
		name    string
		before  evaluators.Look
		found   evaluators.Outcome
		finding evaluators.Finding
	}{
		{"the same", look, evaluators.LookSame, evaluators.Live},
		{"more than the time differs", look, evaluators.LookDiffers, evaluators.Live},
		{"no answer", look, evaluators.LookFailed, evaluators.Live},
		{"nothing but the time differs", silenced, evaluators.LookNoisy, evaluators.NoFinding},
	} {
		l, again := clock.Closed(c.before, c.found, lookAt.Add(clock.Clock))
		if again || l.Open != 0 || l.Finding != c.finding || l.Row != 0 {
			t.Errorf("%s: %+v, another look: %v", c.name, l, again)
		}
	}
	restless := evaluators.Look{Finding: evaluators.Restless, Open: 1, Visits: 10, Planned: planned}
	if l, again := clock.Closed(restless, evaluators.LookSame, lookAt); again || l.Finding != evaluators.Live {
		t.Errorf("a restless page that stays the same: %+v, another look: %v", l, again)
	}
}

// A curator's longest wait is kept. A crowded host visits restless pages less often, as all others.
func TestRestlessPagesAreVisitedDailyUnlessACuratorSaysOtherwise(t *testing.T) {
	t.Parallel()
	entry := func(longest time.Duration) evaluators.WaitEvaluator {
		return evaluators.WaitEvaluator{Name: "all", Rule: evaluators.Learned{Max: longest}}
	}
	for _, c := range []struct {
		name    string
		second  evaluators.SecondLook
		longest time.Duration
		stretch float64
		want    time.Duration
	}{
		{"by default", evaluators.SecondLook{}, 0, 0, 24 * time.Hour},
		{"a setting", evaluators.SecondLook{Every: 6 * time.Hour}, 0, 0, 6 * time.Hour},
		{"a shorter max", evaluators.SecondLook{}, 5 * time.Hour, 0, 5 * time.Hour},
		{"a crowded host", evaluators.SecondLook{}, 0, 3, 72 * time.Hour},
		{"a crowded host with a max", evaluators.SecondLook{}, 48 * time.Hour, 3, 48 * time.Hour},
	} {
		w := c.second.RestlessWait(entry(c.longest), c.stretch)
		if w.Interval != c.want || !strings.HasPrefix(w.Reason, "restless: ") || w.PerDay != 0 {
			t.Errorf("%s: %+v", c.name, w)
		}
	}
}

func TestSecondLooksApplyToRulesWithATarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule evaluators.Rule
		want bool
	}{
		{evaluators.Learned{}, true},
		{evaluators.Target{}, true},
		{evaluators.Classic{}, false},
		{evaluators.Fixed{}, false},
	} {
		entry := evaluators.WaitEvaluator{Rule: c.rule}
		off := evaluators.SecondLook{Off: true}
		if got := (evaluators.SecondLook{}).Applies(entry); got != c.want || off.Applies(entry) {
			t.Errorf("%T: %v", c.rule, got)
		}
	}
}

func TestALookIsReadAsItWasStored(t *testing.T) {
	t.Parallel()
	back := func(row, open, finding, visits, view uint8, since, planned, rules uint32, sums [2]uint64) bool {
		l := evaluators.Look{
			Row: int(row), Open: int(open), Visits: int(visits), Since: time.Unix(int64(since)+1, 0).UTC(), Sums: sums,
			Finding: evaluators.Finding(finding % 3), View: evaluators.View(view % 3),
		}
		if open > 0 {
			l.Planned = time.Unix(int64(planned)+1, 0).UTC()
		}
		if sums != [2]uint64{} {
			l.Rules = rules
		}
		if view%4 == 3 {
			l.View, l.Silencer = evaluators.SeenSilenced, "s#clock"+strings.Repeat("x", int(visits))
		}
		stored := l.Bytes()
		got, err := evaluators.LookOf(stored)
		for n := range len(stored) {
			_, _ = evaluators.LookOf(stored[:n]) // must not panic
		}
		return err == nil && len(stored) <= 42+len(l.Silencer) && cmp.Equal(got, l)
	}
	if err := quick.Check(back, nil); err != nil {
		t.Error(err)
	}
	if (evaluators.Look{}).Bytes() != "" {
		t.Error("the zero value takes room")
	}
	zeros := strings.Repeat("\x00", 4)
	for _, damaged := range []string{"x", "\x01", "\x01\x07\x00\x00" + zeros, "\x01\x00\x00\x02" + zeros, "\x01\x00\x00\x01" + zeros, "\x01\x00\x03\x04" + zeros + "\x09s#a"} {
		if l, err := evaluators.LookOf(damaged); err == nil {
			t.Errorf("%q is read as %+v", damaged, l)
		}
	}
}
