package evaluators

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/digest"
)

var lookAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// seen plays usual visits an hour apart. Each letter is one of them: c changed, u unchanged, ? unknown.
func seen(l Look, states string, wait time.Duration) (Look, bool) {
	look := false
	letters := map[rune]State{'c': Changed, 'u': Unchanged, '?': Unknown}
	for i, letter := range states {
		state := letters[letter]
		w := Wait{Interval: wait}
		l, look = SecondLook{}.Due(l, state, w, lookAt.Add(time.Duration(i)*time.Hour))
	}
	return l, look
}

func TestAPageIsLookedAtTwiceAfterFiveChangesInARow(t *testing.T) {
	t.Parallel()
	live := Look{Finding: Live, Since: lookAt.Add(-59 * 24 * time.Hour)}
	old := Look{Finding: Live, Since: lookAt.Add(-61 * 24 * time.Hour)}
	restless := Look{Finding: Restless, Since: lookAt}
	for _, c := range []struct {
		name   string
		before Look
		states string
		wait   time.Duration
		look   bool
	}{
		{"four changes", Look{}, "cccc", time.Hour, false},
		{"five changes", Look{}, "ccccc", time.Hour, true},
		{"an unchanged visit begins again", Look{}, "ccccucccc", time.Hour, false},
		{"an unknown state changes nothing", Look{}, "cccc??c", time.Hour, true},
		{"visited every two hours", Look{}, "ccccc", 2 * time.Hour, false},
		{"live for less than sixty days", live, "ccccc", time.Hour, false},
		{"live for more", old, "ccccc", time.Hour, true},
		{"restless: each visit", restless, "c", 24 * time.Hour, true},
		{"restless until its rules changed", SecondLook{}.Dropped(restless), "c", time.Hour, true},
	} {
		l, look := seen(c.before, c.states, c.wait)
		last := lookAt.Add(time.Duration(len(c.states)-1) * time.Hour)
		if look != c.look || look && (l.Open != 1 || !l.Planned.Equal(last.Add(c.wait))) {
			t.Errorf("%s: look = %v, %+v", c.name, look, l)
		}
	}
	restless.Row = 9
	if l, look := seen(restless, "u", 24*time.Hour); look || l.Finding != NoFinding || l.Row != 0 {
		t.Errorf("a restless page that stays the same: look = %v, %+v", look, l)
	}
	l, look := (SecondLook{Early: true}).Due(Look{Row: 1}, Changed, Wait{Interval: time.Hour}, lookAt)
	if !look || !(SecondLook{}).IsEarly(l) {
		t.Errorf("a page whose kin has rules is not looked at twice before its time: %v, %+v", look, l)
	}
	// The budget of a host stretches waits. That does not make a page quiet.
	w := Wait{Interval: 50 * time.Hour, Estimate: Estimate{Stretch: 100}}
	if _, look := (SecondLook{}).Due(Look{Row: 4}, Changed, w, lookAt); !look {
		t.Error("a page that would be visited every half hour is not looked at twice")
	}
}

func TestAPageIsRestlessIfTwoSecondLooksDiffer(t *testing.T) {
	t.Parallel()
	open := Look{Row: 5, Open: 1, Planned: lookAt.Add(time.Hour)}
	silenced := open
	silenced.View, silenced.Silencer = SeenSilenced, "s#clock"
	recheck := Look{
		Row: 250, Open: 1, Finding: Restless, Since: lookAt.Add(-240 * time.Hour), Planned: lookAt,
	}
	for _, c := range []struct {
		name    string
		before  Look
		found   []Outcome
		finding Finding
		row     int
		again   bool
	}{
		{"the same", open, []Outcome{LookSame}, Live, 0, false},
		{"one look differs", open, []Outcome{LookDiffers}, NoFinding, 5, true},
		{"the second is the same", open, []Outcome{LookDiffers, LookSame}, Live, 0, false},
		{"both differ", open, []Outcome{LookDiffers, LookDiffers}, Restless, 5, false},
		{"both differ before its time", Look{Row: 2, Open: 1, Planned: open.Planned}, []Outcome{LookDiffers, LookDiffers}, NoFinding, 2, false},
		{"a reader sees the same", open, []Outcome{LookNoisy}, Live, 0, false},
		{"a reader sees the same under rules", silenced, []Outcome{LookNoisy}, NoFinding, 0, false},
		{"no answer", open, []Outcome{LookFailed}, NoFinding, 0, false},
		{"still restless", recheck, []Outcome{LookDiffers}, Restless, 250, false},
		{"not restless any more", recheck, []Outcome{LookSame}, Live, 0, false},
	} {
		l, again := c.before, false
		for _, o := range c.found {
			l, again = SecondLook{}.Closed(l, o, lookAt)
		}
		if l.Finding != c.finding || l.Row != c.row || again != c.again || again != (l.Open > 0) {
			t.Errorf("%s: %+v, another look: %v", c.name, l, again)
		}
	}
}

// A page that shows the time is the same at a second look, and different a minute later.
func TestAPageThatShowsTheTimeIsFetchedOnceMore(t *testing.T) {
	t.Parallel()
	clock := SecondLook{Clock: ClockLook}
	planned := lookAt.Add(time.Hour)
	silenced := Look{Row: 5, Open: 3, Planned: planned, View: SeenSilenced, Silencer: "s#clock"}
	look, again := clock.Closed(Look{Row: 5, Open: 1, Planned: planned}, LookSame, lookAt)
	if !again || !look.IsForClock() || look.Finding != NoFinding {
		t.Errorf("the same at the second look: %+v, another look: %v", look, again)
	}
	for _, c := range []struct {
		name    string
		before  Look
		found   Outcome
		finding Finding
	}{
		{"the same", look, LookSame, Live},
		{"more than the time differs", look, LookDiffers, Live},
		{"no answer", look, LookFailed, Live},
		{"nothing but the time differs", silenced, LookNoisy, NoFinding},
	} {
		l, again := clock.Closed(c.before, c.found, lookAt.Add(clock.Clock))
		if again || l.Open != 0 || l.Finding != c.finding || l.Row != 0 {
			t.Errorf("%s: %+v, another look: %v", c.name, l, again)
		}
	}
	restless := Look{Finding: Restless, Open: 1, Planned: planned}
	if l, again := clock.Closed(restless, LookSame, lookAt); again || l.Finding != Live {
		t.Errorf("a restless page that stays the same: %+v, another look: %v", l, again)
	}
}

// A curator's longest wait is kept. A crowded host visits restless pages less often, as all others.
func TestRestlessPagesAreVisitedDailyUnlessACuratorSaysOtherwise(t *testing.T) {
	t.Parallel()
	entry := func(longest time.Duration) WaitEvaluator {
		return WaitEvaluator{Name: "all", Rule: Learned{Max: longest}}
	}
	for _, c := range []struct {
		name    string
		second  SecondLook
		entry   WaitEvaluator
		stretch float64
		want    string // the wait, the factor by which it is stretched, and the reason
	}{
		{"by default", SecondLook{}, entry(0), 0, "24h0m0s 0 24h"},
		{"a setting", SecondLook{Every: 6 * hour}, entry(0), 0, "6h0m0s 0 6h"},
		{"a shorter max", SecondLook{}, entry(5 * hour), 0, "5h0m0s 0 24h (max 5h)"},
		{"a host that is not crowded", SecondLook{}, entry(0), 1, "24h0m0s 0 24h"},
		{"a crowded host", SecondLook{}, entry(0), 3, "72h0m0s 3 24h, stretched × 3 as the host cannot carry more"},
		{"a crowded host with a max", SecondLook{}, entry(2 * day), 3, "48h0m0s 2 24h, stretched × 3 as the host cannot carry more"},
		{"a crowded host with a shorter max", SecondLook{}, entry(5 * hour), 3, "5h0m0s 1 24h, stretched × 3 as the host cannot carry more (max 5h)"},
		{"an entry without a rule", SecondLook{Every: 100 * day}, WaitEvaluator{}, 0, "2160h0m0s 0 100d (max 90d)"},
	} {
		w := c.second.RestlessWait(c.entry, c.stretch)
		reason, ok := strings.CutPrefix(w.Reason, "differs at each fetch, so it is visited once in ")
		if got := fmt.Sprintf("%s %g %s", w.Interval, w.Stretch, reason); got != c.want || !ok || w.PerDay != 0 {
			t.Errorf("%s: %s, want %s: %+v", c.name, got, c.want, w)
		}
	}
}

func TestSecondLooksApplyToRulesWithATarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule Rule
		want bool
	}{
		{Learned{}, true},
		{Target{}, true},
		{Classic{}, false},
		{Fixed{}, false},
	} {
		entry := WaitEvaluator{Rule: c.rule}
		off := SecondLook{Off: true}
		if got := (SecondLook{}).Applies(entry); got != c.want || off.Applies(entry) {
			t.Errorf("%T: %v", c.rule, got)
		}
	}
}

func TestALookIsReadAsItWasStored(t *testing.T) {
	t.Parallel()
	back := func(row, open, finding, view uint8, since, planned, rules uint32, sums [2]uint64) bool {
		l := Look{
			Row: int(row), Open: int(open), Since: time.Unix(int64(since)+1, 0).UTC(), Sums: sums,
			Finding: Finding(finding % 3), View: View(view % 3), Calm: row%2 == 1,
		}
		if open > 0 {
			l.Planned = time.Unix(int64(planned)+1, 0).UTC()
		}
		l.Rules = rules
		if view%4 == 3 {
			l.View, l.Silencer = SeenSilenced, "s#clock"+strings.Repeat("x", int(row))
		}
		stored := l.Bytes()
		got, err := LookOf(stored)
		for n := range len(stored) {
			_, _ = LookOf(stored[:n]) // must not panic
		}
		return err == nil && len(stored) <= 42+len(l.Silencer) && cmp.Equal(got, l)
	}
	if err := quick.Check(back, nil); err != nil {
		t.Error(err)
	}
	if (Look{}).Bytes() != "" {
		t.Error("the zero value takes room")
	}
	zeros := strings.Repeat("\x00", 4)
	for _, damaged := range []string{"x", "\x01", "\x01\x07\x00\x00" + zeros, "\x01\x00\x00\x02" + zeros, "\x01\x00\x00\x01" + zeros, "\x01\x00\x03\x04" + zeros + "\x09s#a"} {
		if l, err := LookOf(damaged); err == nil {
			t.Errorf("%q is read as %+v", damaged, l)
		}
	}
}

func TestRestlessReadsTheLastDigests(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, visits, want string }{
		{"another content each time", "abcdefghij", "changed at each of the last 8 visits"},
		{"five visits are enough", "abcde", "changed at each of the last 5 visits"},
		{"four are not", "abcd", ""},
		{"two versions in turn", "abababab", "goes back and forth between 2 versions"},
		{"two versions without order", "abbaabab", "goes back and forth between 2 versions"},
		{"an occasional edit", "aaabbbcc", ""},
		{"a page that was moved back once", "aabbbbaa", ""},
		{"the same always", "aaaaaaaa", ""},
		{"restless once, quiet now", "abcdefghhhhhhhh", ""},
		{"unread visits between the changes", "a-b--c-d--e-f-g-h", ""}, // as a 304 is
	} {
		var r Ring
		for _, c := range row.visits {
			if c == '-' {
				r = r.Repeat()
				continue
			}
			r = r.Push(digest.Of([]byte(string(c))))
		}
		if got := r.Restless(); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if RingOf(r.Bytes()) != r {
			t.Errorf("%s: %v is not read back", row.name, r)
		}
	}
	if r := (Ring{}).Push(digest.Digest{}); r != (Ring{}) || len(r.Bytes()) != 0 {
		t.Errorf("no digest fills the ring: %v", r)
	}
	if r := RingOf([]byte{1, 2, 3}); r != (Ring{}) {
		t.Errorf("a cut ring is read: %v", r)
	}
}

func sum(content string) digest.Comparison { return digest.Comparison{Sum: digest.Of([]byte(content))} }

func scrubbed(content string, rules uint64) digest.Comparison {
	return digest.Comparison{Sum: digest.Of([]byte(content)), Rules: rules}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const unknown, unchanged, changed = Unknown, Unchanged, Changed
	stranger, bare := Before{}, Before{Known: true, Status: 200}
	page := Before{Known: true, Status: 200, Comparison: sum("news")}
	other := Before{Known: true, Status: 200, Comparison: scrubbed("news", 7)}
	moved := Before{Known: true, Status: 301, Location: "/new", Comparison: sum("")}
	whole := func(status int, c digest.Comparison) Seen {
		return Seen{Status: status, Comparison: c, Complete: true}
	}
	broken := func(status int, c digest.Comparison) Seen {
		return Seen{Status: status, Comparison: c}
	}
	unread := func(status int) Seen { return Seen{Status: status, Unread: true} }
	for _, c := range []struct {
		name   string
		before Before
		seen   Seen
		state  State
		reason string
	}{
		{"the first complete capture is version 1", stranger, whole(200, sum("news")), changed, "first capture"},
		{"a first body that breaks off makes no version", stranger, broken(200, sum("ne")), unknown, "body incomplete"},
		{
			"a 304 cannot vouch for a body that nobody has",
			stranger, unread(304), unknown, "body not read and no earlier capture",
		},
		{"an equal digest is unchanged", page, whole(200, sum("news")), unchanged, "same digest"},
		{"another digest is changed", page, whole(200, sum("newer")), changed, "digest differs"},
		{
			"another status is changed even with the same body",
			page, whole(404, sum("news")), changed, "status 200 → 404",
		},
		{"a mid-fetch abort that overlooked another status is changed", page, unread(404), changed, "status 200 → 404"},
		{
			"a redirect to elsewhere is changed behind its empty body",
			moved,
			Seen{Status: 301, Location: "/newer", Comparison: sum(""), Complete: true},
			changed, "redirect target differs",
		},
		{
			"a redirect to the same place is unchanged",
			moved,
			Seen{Status: 301, Location: "/new", Comparison: sum(""), Complete: true},
			unchanged, "same digest",
		},
		{
			"a Location on an ordinary page means nothing",
			page,
			Seen{Status: 200, Location: "/token-77", Comparison: sum("news"), Complete: true},
			unchanged, "same digest",
		},
		{"a mid-fetch abort is unchanged", page, unread(200), unchanged, "headers unchanged, body not read"},
		{"a 304 without Location leaves a redirect unchanged", moved, unread(304), unchanged, "not modified (304)"},
		{"a body that breaks off says nothing", page, broken(200, sum("ne")), unknown, "body incomplete"},
		{
			"a body that breaks off says nothing with another status either",
			page, broken(503, sum("ba")), unknown, "body incomplete",
		},
		{
			"other scrubbing rules re-base without a version",
			page, whole(200, scrubbed("news", 7)), unknown, "other scrubbing rules, re-based",
		},
		{
			"another status is changed under other rules too",
			page, whole(410, scrubbed("gone", 7)), changed, "status 200 → 410",
		},
		{"headers vouch whatever the scrubbing rules are now", other, unread(304), unchanged, "not modified (304)"},
		{
			"a remembered capture without digest gets one",
			bare, whole(200, sum("news")), unknown, "no digest to compare with, re-based",
		},
		{
			"a visit without digest says nothing",
			page,
			Seen{Status: 200, Complete: true},
			unknown, "no digest of this visit",
		},
	} {
		got := ChangeEvaluator{}.Judge(c.before, c.seen)
		want := Verdict{State: c.state, First: !c.before.Known, Reason: c.reason}
		want.Rebased = strings.HasSuffix(c.reason, "re-based")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: Judge(%+v, %+v), -want +got:\n%s", c.name, c.before, c.seen, diff)
		}
	}
}

func TestNearDuplicatesAreUnchangedWithinTheTolerance(t *testing.T) {
	t.Parallel()
	before := Before{
		Known: true, Status: 200, Comparison: digest.Comparison{Sum: digest.Of([]byte("a")), Rules: 7, Sketch: 0b1111},
	}
	seen := func(sketch, rules uint64) Seen {
		return Seen{
			Status: 200, Complete: true, Comparison: digest.Comparison{
				Sum: digest.Of([]byte("b")), Rules: rules, Sketch: sketch,
			},
		}
	}
	for _, row := range []struct {
		name      string
		tolerance int
		seen      Seen
		state     State
		near      bool
	}{
		{"two bits of three that are forgiven", 3, seen(0b1100, 7), Unchanged, true},
		{"four bits of three that are forgiven", 3, seen(0b110000<<4|0b1100, 7), Changed, false},
		{"no tolerance forgives nothing", 0, seen(0b1111, 7), Changed, false},
		{"no sketch is near to nothing", 16, seen(0, 7), Changed, false},
		{"other rules are re-based all the same", 3, seen(0b1111, 8), Unknown, false},
	} {
		v := ChangeEvaluator{Tolerance: row.tolerance}.Judge(before, row.seen)
		if v.State != row.state || v.Near != row.near {
			t.Errorf("%s: %+v", row.name, v)
		}
	}
}

func TestDayWritesItsCounts(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]Day{
		"412 changes captured of some 503 (82 %, probably 69 to 91 %), 2.3 requests each": {
			Requests: 950, Seen: 412, Versions: 503.2, Spread: 800,
		},
		"3 changes captured of some 3 (100 %, probably 65 to 100 %), 1.0 requests each":                            {Requests: 3, Seen: 3, Versions: 1},
		"1 change captured of some 1 (100 %, probably 38 to 100 %), 2.0 requests each":                             {Requests: 2, Seen: 1, Versions: 1},
		"captured share not known yet: every visit found a change; at least 1 change":                              {Requests: 1, Seen: 1, Versions: 1, Blind: 1},
		"captured share not known yet: every visit found a change; at least 9 changes":                             {Requests: 9, Seen: 9, Versions: 12, Blind: 9},
		"captured share not known yet: 5 of 9 changes are of URIs that changed at every visit; at least 9 changes": {Requests: 40, Seen: 9, Versions: 12, Blind: 5},
		"no change captured with 7 requests":                                                                       {Requests: 7},
	} {
		if got := d.Captured().String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A host missed 100 of 500 versions by the model. The bounds are closer if many pages missed them.
func TestTheBoundsAreFarApartIfOnePageMissedAll(t *testing.T) {
	t.Parallel()
	before := 1.0
	for _, pages := range []float64{1, 4, 25, 100} {
		c := Day{Requests: 1000, Seen: 400, Versions: 500, Spread: pages * math.Pow(100/pages, 2)}.Captured()
		low, high := c.Range()
		if !(low < c.Share() && c.Share() < high) || high-low >= before || c.Missed != 100 {
			t.Errorf("%g pages: %.3f, between %.3f and %.3f", pages, c.Share(), low, high)
		}
		before = high - low
	}
	sum := Day{}
	for n := range 10 {
		sum = sum.Plus(Found(0.5, n+1, 0))
	}
	if sum.Spread != 25 || sum.Versions != 15 || sum.Seen != 10 {
		t.Errorf("ten visits of one page that missed 5 count as %+v", sum)
	}
	far := Day{Requests: 9, Seen: 2, Versions: 4, Spread: 4}.Captured()
	if said := far.Unknown(); said != "not known yet: between 13 and 100 %; at least 2 changes" {
		t.Errorf("of bounds that say nothing: %q", said)
	}
}

func TestTheBoundsOfManyHostsAreCloser(t *testing.T) {
	t.Parallel()
	one := Day{Seen: 400, Versions: 500}
	var all Captured
	for range 25 {
		all = all.Plus(one.Captured())
	}
	low, high := one.Captured().Range()
	lowest, highest := all.Range()
	if highest-lowest > (high-low)/2.5 || !(lowest < all.Share() && all.Share() < highest) {
		t.Errorf("one host %.3f to %.3f, 25 hosts %.3f to %.3f", low, high, lowest, highest)
	}
}
