package evaluators_test

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/arcrawl/arcrawl/evaluators"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

func pattern(t testing.TB, expr string) *regexp.Regexp {
	t.Helper()
	re, err := evaluators.Pattern(expr)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

func TestNext(t *testing.T) {
	t.Parallel()
	overdue := evaluators.Default()
	for i := range overdue {
		rule := overdue[i].Rule.(evaluators.Classic)
		rule.UseOverdue = true
		overdue[i].Rule = rule
	}
	standard := evaluators.Default()
	for _, c := range []struct {
		name  string
		stack evaluators.Stack
		in    evaluators.WaitInput
		want  evaluators.Wait
	}{
		{
			"a first text waits 12h", standard,
			evaluators.WaitInput{MIME: "text/html; charset=utf-8", State: evaluators.Changed, First: true},
			evaluators.Wait{Interval: 12 * hour, Evaluator: "text", Reason: "first capture: initial 12h"},
		},
		{
			"a first image waits 48h", standard,
			evaluators.WaitInput{MIME: "image/png", State: evaluators.Changed, First: true},
			evaluators.Wait{Interval: 48 * hour, Evaluator: "image", Reason: "first capture: initial 48h"},
		},
		{
			"anything else waits 24h", standard,
			evaluators.WaitInput{MIME: "application/pdf", State: evaluators.Changed, First: true},
			evaluators.Wait{Interval: 24 * hour, Evaluator: "plain", Reason: "first capture: initial 24h"},
		},
		{
			"no type is plain", standard,
			evaluators.WaitInput{State: evaluators.Changed, First: true},
			evaluators.Wait{Interval: 24 * hour, Evaluator: "plain", Reason: "first capture: initial 24h"},
		},
		{
			"the case of a type does not matter", standard,
			evaluators.WaitInput{MIME: "Text/HTML", State: evaluators.Changed, First: true},
			evaluators.Wait{Interval: 12 * hour, Evaluator: "text", Reason: "first capture: initial 12h"},
		},
		{
			"unchanged multiplies", standard,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Unchanged, Previous: 12 * hour},
			evaluators.Wait{Interval: 18 * hour, Evaluator: "text", Reason: "unchanged: 12h × 1.5 = 18h"},
		},
		{
			"changed divides", standard,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, Previous: 18 * hour},
			evaluators.Wait{Interval: 12 * hour, Evaluator: "text", Reason: "changed: 18h ÷ 1.5 = 12h"},
		},
		{
			"the minimum is said when it is reached", standard,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, Previous: 90 * time.Minute},
			evaluators.Wait{Interval: hour, Evaluator: "text", Reason: "changed: 1h30m ÷ 1.5 = 1h (min 1h)"},
		},
		{
			"nothing is shorter than the minimum", standard,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, Previous: hour},
			evaluators.Wait{Interval: hour, Evaluator: "text", Reason: "changed: 1h ÷ 1.5 = 1h (min 1h)"},
		},
		{
			"nothing is longer than the maximum", standard,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Unchanged, Previous: 20 * day},
			evaluators.Wait{Interval: 28 * day, Evaluator: "text", Reason: "unchanged: 20d × 1.5 = 28d (max 28d)"},
		},
		{
			"milliseconds are cut off, not rounded", standard,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, Previous: 2*hour + 2*time.Millisecond + 999},
			evaluators.Wait{
				Interval: 80*time.Minute + time.Millisecond, Evaluator: "text", Reason: "changed: 2h0m0.002s ÷ 1.5 = 1h20m0.001s",
			},
		},
		{
			"unknown keeps what was learned", standard,
			evaluators.WaitInput{MIME: "text/html", Previous: 18 * hour},
			evaluators.Wait{Interval: 18 * hour, Evaluator: "text", Reason: "unknown: kept at 18h"},
		},
		{
			"unknown with nothing learned waits three days", standard,
			evaluators.WaitInput{MIME: "text/html"},
			evaluators.Wait{Interval: 72 * hour, Evaluator: "text", Reason: "unknown, nothing learned: 72h"},
		},
		{
			"a first capture after an unknown one begins again", standard,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, First: true, Previous: 72 * hour},
			evaluators.Wait{Interval: 12 * hour, Evaluator: "text", Reason: "first capture: initial 12h"},
		},
		{
			"without a learned interval the state does not count", standard,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Unchanged},
			evaluators.Wait{Interval: 12 * hour, Evaluator: "text", Reason: "unchanged, nothing learned: initial 12h"},
		},
		{
			"overdue time is left out by default", standard,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, Previous: 9 * hour, Overdue: 3 * hour},
			evaluators.Wait{Interval: 6 * hour, Evaluator: "text", Reason: "changed: 9h ÷ 1.5 = 6h"},
		},
		{
			"overdue time is added to the base where asked for", overdue,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, Previous: 9 * hour, Overdue: 3 * hour},
			evaluators.Wait{Interval: 8 * hour, Evaluator: "text", Reason: "changed: (9h + 3h overdue) ÷ 1.5 = 8h"},
		},
		{
			"a visit before its time has no overdue time", overdue,
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, Previous: 9 * hour, Overdue: -3 * hour},
			evaluators.Wait{Interval: 6 * hour, Evaluator: "text", Reason: "changed: 9h ÷ 1.5 = 6h"},
		},
		{
			"a stack without match says so",
			evaluators.Stack{{Name: "pdf", MIME: pattern(t, "application/pdf"), Rule: evaluators.Classic{Initial: 7 * day}}},
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, First: true},
			evaluators.Wait{Interval: day, Evaluator: "built-in plain", Reason: "first capture: initial 24h; no evaluator is set for this type"},
		},
		{
			"the empty stack has the plain defaults", nil,
			evaluators.WaitInput{State: evaluators.Unchanged, Previous: day},
			evaluators.Wait{Interval: 36 * hour, Evaluator: "built-in plain", Reason: "unchanged: 24h × 1.5 = 36h; no evaluator is set for this type"},
		},
		{
			"the first match wins",
			evaluators.Stack{
				{Name: "front", MIME: pattern(t, "text/.*"), Rule: evaluators.Classic{Initial: 2 * hour}},
				{Name: "never", MIME: pattern(t, "text/html"), Rule: evaluators.Classic{Initial: 3 * hour}},
			},
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, First: true},
			evaluators.Wait{Interval: 2 * hour, Evaluator: "front", Reason: "first capture: initial 2h"},
		},
		{
			"an entry without a name is called by its pattern",
			evaluators.Stack{{MIME: pattern(t, "text/.*")}},
			evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, First: true},
			evaluators.Wait{Interval: day, Evaluator: "text/.*", Reason: "first capture: initial 24h"},
		},
		{
			"the minimum wins over a smaller maximum",
			evaluators.Stack{{Name: "odd", Rule: evaluators.Classic{Min: 3 * hour, Max: 2 * hour}}},
			evaluators.WaitInput{State: evaluators.Unchanged, Previous: 10 * hour},
			evaluators.Wait{Interval: 3 * hour, Evaluator: "odd", Reason: "unchanged: 10h × 1.5 = 3h (min 3h)"},
		},
		{
			"an infinite factor is held by the minimum",
			evaluators.Stack{{Name: "odd", Rule: evaluators.Classic{ChangedFactor: math.Inf(1)}}},
			evaluators.WaitInput{State: evaluators.Changed, Previous: 10 * hour},
			evaluators.Wait{Interval: hour, Evaluator: "odd", Reason: "changed: 10h ÷ +Inf = 1h (min 1h)"},
		},
		{
			"and by the maximum",
			evaluators.Stack{{Name: "odd", Rule: evaluators.Classic{UnchangedFactor: math.Inf(1)}}},
			evaluators.WaitInput{State: evaluators.Unchanged, Previous: 10 * hour},
			evaluators.Wait{Interval: 28 * day, Evaluator: "odd", Reason: "unchanged: 10h × +Inf = 28d (max 28d)"},
		},
		{
			"a factor that is no number is the default",
			evaluators.Stack{{Name: "odd", Rule: evaluators.Classic{UnchangedFactor: math.NaN(), ChangedFactor: math.NaN()}}},
			evaluators.WaitInput{State: evaluators.Unchanged, Previous: 10 * hour},
			evaluators.Wait{Interval: 15 * hour, Evaluator: "odd", Reason: "unchanged: 10h × 1.5 = 15h"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, c.stack.Next(c.in)); diff != "" {
				t.Errorf("Next(%+v), -want +got:\n%s", c.in, diff)
			}
		})
	}
}

// The wanted figures were worked out by hand from the ancestors' formula, not by this program.
func TestIntervalsOfAURIThatNeverChanges(t *testing.T) {
	t.Parallel()
	stack := evaluators.Stack{{Name: "all", Rule: evaluators.Classic{Initial: 24 * hour, Max: 10 * day}}}
	want := []time.Duration{
		24 * hour, 36 * hour, 54 * hour, 81 * hour, 121*hour + 30*time.Minute,
		182*hour + 15*time.Minute, 240 * hour, 240 * hour,
	}
	var got []time.Duration
	in := evaluators.WaitInput{State: evaluators.Changed, First: true}
	for range want {
		in.Previous = stack.Next(in).Interval
		in.State, in.First = evaluators.Unchanged, false
		got = append(got, in.Previous)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("intervals, -want +got:\n%s", diff)
	}
}

func TestPatternMatchesTheWholeTypeWithoutRegardToCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, expr, mime string
		want             bool
	}{
		{"the ancestors' text pattern takes parameters", `^text/.*$`, "text/html; charset=UTF-8", true},
		{"a pattern without .* does not", `text/html`, "text/html; charset=UTF-8", false},
		{"it takes exactly its type", `text/html`, "text/html", true},
		{"something before is no match", `html`, "text/html", false},
		{"upper case is the same", `^image/.*$`, "IMAGE/JPEG", true},
		{"an upper-case pattern is the same", `^IMAGE/.*$`, "image/jpeg", true},
		{"an alternative is anchored on both sides", `text/html|application/xhtml`, "application/xhtml+xml", false},
		{"a shorter alternative does not hide a longer one", `text|text/html`, "text/html", true},
		{"a catch-all takes no type at all", `.*`, "", true},
		{"the text pattern does not", `^text/.*$`, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for kind, re := range map[string]*regexp.Regexp{
				"Pattern": pattern(t, c.expr), "regexp.Compile": regexp.MustCompile(c.expr),
			} {
				stack := evaluators.Stack{{Name: "it", MIME: re}}
				got := stack.Next(evaluators.WaitInput{MIME: c.mime}).Evaluator == "it"
				if got != c.want {
					t.Errorf("%s(%q) matches %q: %t, want %t", kind, c.expr, c.mime, got, c.want)
				}
			}
		})
	}
}

func TestPatternRefuses(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{"text/(", "a)|(?:b", strings.Repeat("(", 1000) + strings.Repeat(")", 1000)} {
		if re, err := evaluators.Pattern(expr); err == nil {
			t.Errorf("Pattern(%.20q) = %.40s, want an error", expr, re)
		}
	}
}

func TestDefaultGivesEachCallerItsOwnStack(t *testing.T) {
	t.Parallel()
	want := evaluators.Default()
	evaluators.Default()[0].Rule = evaluators.Fixed{}
	if got := evaluators.Default()[0].Rule; got != want[0].Rule {
		t.Errorf("the rule for texts is %+v after another caller changed its own, want %+v", got, want[0].Rule)
	}
}

// anyRule draws settings that no configuration would let pass, too.
func anyRule(t *rapid.T) evaluators.Classic {
	d := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, int64(60*day)))
	factor := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 3), rapid.SampledFrom([]float64{
		0, math.NaN(), math.Inf(1), math.Inf(-1),
	}))
	return evaluators.Classic{
		Initial:         time.Duration(d.Draw(t, "initial")),
		Min:             time.Duration(d.Draw(t, "min")),
		Max:             time.Duration(d.Draw(t, "max")),
		Unknown:         time.Duration(d.Draw(t, "unknown")),
		ChangedFactor:   factor.Draw(t, "changed factor"),
		UnchangedFactor: factor.Draw(t, "unchanged factor"),
		UseOverdue:      rapid.Bool().Draw(t, "use overdue"),
	}
}

func anyInput(t *rapid.T) evaluators.WaitInput {
	d := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, int64(60*day)))
	return evaluators.WaitInput{
		State:    evaluators.State(rapid.IntRange(0, 2).Draw(t, "state")),
		First:    rapid.Bool().Draw(t, "first"),
		Previous: time.Duration(d.Draw(t, "previous")),
		Overdue:  time.Duration(d.Draw(t, "overdue")),
	}
}

func TestIntervalIsAlwaysBetweenTheBoundsAndPositive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule, in := anyRule(t), anyInput(t)
		w := evaluators.Stack{{Rule: rule}}.Next(in)
		lowest, highest := rule.Min, rule.Max
		if lowest <= 0 {
			lowest = hour
		}
		if highest <= 0 {
			highest = 28 * day
		}
		if w.Interval < lowest || w.Interval > max(lowest, highest) {
			t.Fatalf("interval %s is not between %s and %s", w.Interval, lowest, highest)
		}
		if w.Reason == "" || w.Evaluator == "" {
			t.Fatalf("%+v does not explain itself", w)
		}
	})
}
