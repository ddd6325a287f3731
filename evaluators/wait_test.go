package evaluators

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

func pattern(t testing.TB, expr string) *regexp.Regexp {
	t.Helper()
	re, err := digest.TypePattern(expr)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// heritrix returns the stack of Heritrix.
func heritrix(t testing.TB) Stack {
	return Stack{
		{Name: "text", MIME: pattern(t, `^text/.*$`), Rule: Classic{Initial: 12 * hour}.withDefaults()},
		{Name: "image", MIME: pattern(t, `^image/.*$`), Rule: Classic{Initial: 48 * hour}.withDefaults()},
		{Name: "plain", MIME: pattern(t, ".*"), Rule: Classic{}.withDefaults()},
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	const unknown, unchanged, changed = Unknown, Unchanged, Changed
	overdue := heritrix(t)
	for i := range overdue {
		rule := overdue[i].Rule.(Classic)
		rule.UseOverdue = true
		overdue[i].Rule = rule
	}
	standard := heritrix(t)
	one := func(name, mime string, rule Rule) WaitEvaluator {
		return WaitEvaluator{Name: name, MIME: pattern(t, mime), Rule: rule}
	}
	odd := func(rule Classic) Stack { return Stack{one("odd", ".*", rule)} }
	first := func(mime string) WaitInput {
		return WaitInput{MIME: mime, State: changed, First: true}
	}
	page := func(state State, previous, late time.Duration) WaitInput {
		return WaitInput{MIME: "text/html", State: state, Previous: previous, Overdue: late}
	}
	second := first("text/html")
	second.Previous = 72 * hour
	for _, c := range []struct {
		name  string
		stack Stack
		in    WaitInput
		want  string // interval, evaluator and reason
	}{
		{"a first text waits 12h", standard, first("text/html; charset=utf-8"), "12h0m0s text: first capture: initial 12h"},
		{"a first image waits 48h", standard, first("image/png"), "48h0m0s image: first capture: initial 48h"},
		{"anything else waits 24h", standard, first("application/pdf"), "24h0m0s plain: first capture: initial 24h"},
		{"no type is plain", standard, first(""), "24h0m0s plain: first capture: initial 24h"},
		{"the case of a type does not matter", standard, first("Text/HTML"), "12h0m0s text: first capture: initial 12h"},
		{"unchanged multiplies", standard, page(unchanged, 12*hour, 0), "18h0m0s text: unchanged: 12h × 1.5 = 18h"},
		{"changed divides", standard, page(changed, 18*hour, 0), "12h0m0s text: changed: 18h ÷ 1.5 = 12h"},
		{
			"the minimum is said when it is reached", standard, page(changed, 90*time.Minute, 0),
			"1h0m0s text: changed: 1h30m ÷ 1.5 = 1h (min 1h)",
		},
		{
			"nothing is shorter than the minimum", standard, page(changed, hour, 0),
			"1h0m0s text: changed: 1h ÷ 1.5 = 1h (min 1h)",
		},
		{
			"nothing is longer than the maximum", standard, page(unchanged, 20*day, 0),
			"672h0m0s text: unchanged: 20d × 1.5 = 28d (max 28d)",
		},
		{
			"milliseconds are cut off, not rounded", standard, page(changed, 2*hour+2*time.Millisecond+999, 0),
			"1h20m0.001s text: changed: 2h0m0.002s ÷ 1.5 = 1h20m0.001s",
		},
		{"unknown keeps what was learned", standard, page(unknown, 18*hour, 0), "18h0m0s text: unknown: kept at 18h"},
		{
			"unknown with nothing learned waits three days", standard, page(unknown, 0, 0),
			"72h0m0s text: unknown, nothing learned: 72h",
		},
		{
			"a first capture after an unknown one begins again", standard, second,
			"12h0m0s text: first capture: initial 12h",
		},
		{
			"without a learned interval the state does not count", standard, page(unchanged, 0, 0),
			"12h0m0s text: unchanged, nothing learned: initial 12h",
		},
		{
			"overdue time is left out by default", standard, page(changed, 9*hour, 3*hour),
			"6h0m0s text: changed: 9h ÷ 1.5 = 6h",
		},
		{
			"overdue time is added to the base where asked for", overdue, page(changed, 9*hour, 3*hour),
			"8h0m0s text: changed: (9h + 3h overdue) ÷ 1.5 = 8h",
		},
		{
			// diffengine used the part of an elapsed time below one day.
			"overdue time of more than a day is added as a whole", overdue, page(unchanged, 10*hour, 50*hour),
			"90h0m0s text: unchanged: (10h + 50h overdue) × 1.5 = 90h",
		},
		{
			"a visit before its time has no overdue time", overdue, page(changed, 9*hour, -3*hour),
			"6h0m0s text: changed: 9h ÷ 1.5 = 6h",
		},
		{
			"a stack without match says so",
			Stack{one("pdf", "application/pdf", Classic{Initial: 7 * day})},
			first("text/html"),
			"24h0m0s built-in plain: first capture: initial 24h; no evaluator is set for this type",
		},
		{
			"the empty stack has the plain defaults", nil, page(unchanged, day, 0),
			"36h0m0s built-in plain: unchanged: 24h × 1.5 = 36h; no evaluator is set for this type",
		},
		{
			"the first match wins",
			Stack{
				one("front", "text/.*", Classic{Initial: 2 * hour}),
				one("never", "text/html", Classic{Initial: 3 * hour}),
			},
			first("text/html"), "2h0m0s front: first capture: initial 2h",
		},
		{
			"an entry without a name is called by its pattern",
			Stack{one("", "text/.*", nil)},
			first("text/html"),
			"24h0m0s text/.*: first capture: initial 24h",
		},
		{
			"the minimum wins over a smaller maximum",
			odd(Classic{Min: 3 * hour, Max: 2 * hour}), page(unchanged, 10*hour, 0),
			"3h0m0s odd: unchanged: 10h × 1.5 = 3h (min 3h)",
		},
		{
			"an infinite factor is held by the minimum",
			odd(Classic{ChangedFactor: math.Inf(1)}), page(changed, 10*hour, 0),
			"1h0m0s odd: changed: 10h ÷ +Inf = 1h (min 1h)",
		},
		{
			"and by the maximum", odd(Classic{UnchangedFactor: math.Inf(1)}), page(unchanged, 10*hour, 0),
			"672h0m0s odd: unchanged: 10h × +Inf = 28d (max 28d)",
		},
		{
			"a factor that is no number is the default",
			odd(Classic{UnchangedFactor: math.NaN(), ChangedFactor: math.NaN()}), page(unchanged, 10*hour, 0),
			"15h0m0s odd: unchanged: 10h × 1.5 = 15h",
		},
		{
			// Heritrix used a factor of zero to divide by, and jumped to the maximum when a page changed.
			"a factor of zero is the default", odd(Classic{}), page(changed, 12*hour, 0),
			"8h0m0s odd: changed: 12h ÷ 1.5 = 8h",
		},
		{
			"the factor follows from the target",
			Stack{{Rule: Target{CaptureTarget: 0.9}}},
			page(unchanged, 10*hour, 0),
			"11h1m8.4s any type: unchanged: 10h × 1.1019 = 11h1m8.4s",
		},
		{
			"a fixed wait skips visits that came due meanwhile",
			Stack{{Rule: Fixed{Every: hour}}},
			page(changed, 0, 2*hour+20*time.Minute),
			"40m0s any type: every 1h, less 20m overdue",
		},
	} {
		w := c.stack.Next(c.in)
		if got := fmt.Sprintf("%s %s: %s", w.Interval, w.Evaluator, w.Reason); got != c.want {
			t.Errorf("%s: Next(%+v) = %s, want %s", c.name, c.in, got, c.want)
		}
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
		stack := Stack{{Name: "it", MIME: pattern(t, c.expr)}}
		if got := stack.Next(WaitInput{MIME: c.mime}).Evaluator == "it"; got != c.want {
			t.Errorf("%s: %q matches %q: %t, want %t", c.name, c.expr, c.mime, got, c.want)
		}
	}
}

func TestDefaultGivesEachCallerItsOwnStack(t *testing.T) {
	t.Parallel()
	want := Default()
	Default()[0].Rule = Fixed{}
	if got := Default()[0].Rule; got != want[0].Rule {
		t.Errorf("the rule for texts is %+v after another caller changed its own, want %+v", got, want[0].Rule)
	}
}

// anyRule draws settings that no configuration would let pass, too.
func anyRule(t *rapid.T) Classic {
	d := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, int64(60*day)))
	factor := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 3), rapid.SampledFrom([]float64{
		0, math.NaN(), math.Inf(1), math.Inf(-1),
	}))
	return Classic{
		Initial:         time.Duration(d.Draw(t, "initial")),
		Min:             time.Duration(d.Draw(t, "min")),
		Max:             time.Duration(d.Draw(t, "max")),
		Unknown:         time.Duration(d.Draw(t, "unknown")),
		ChangedFactor:   factor.Draw(t, "changed factor"),
		UnchangedFactor: factor.Draw(t, "unchanged factor"),
		UseOverdue:      rapid.Bool().Draw(t, "use overdue"),
	}
}

func anyInput(t *rapid.T) WaitInput {
	d := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, int64(60*day)))
	return WaitInput{
		State:    State(rapid.IntRange(0, 2).Draw(t, "state")),
		First:    rapid.Bool().Draw(t, "first"),
		Previous: time.Duration(d.Draw(t, "previous")),
		Overdue:  time.Duration(d.Draw(t, "overdue")),
	}
}

func TestIntervalIsAlwaysBetweenTheBoundsAndPositive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule, in := anyRule(t), anyInput(t)
		w := Stack{{Rule: rule}}.Next(in)
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

func TestAHighTargetAllowsForShortLivedVersions(t *testing.T) {
	t.Parallel()
	at := func(target float64) float64 {
		e := WaitEvaluator{Rule: Learned{CaptureTarget: target, Min: time.Second}}
		return Stack{e}.Next(WaitInput{
			First: true, State: Changed, Evidence: Evidence{At: january},
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
	for name, want := range map[string]Rule{
		"": Learned{}, "classic": Classic{}, "fixed": Fixed{}, "target": Target{}, "learned": Learned{},
	} {
		got, err := Options{Rule: name}.New()
		if err != nil || reflect.TypeOf(got) != reflect.TypeOf(want) {
			t.Errorf("%q is %T, %v; want %T", name, got, err, want)
		}
	}
	if _, err := (Options{Rule: "clever"}).New(); err == nil {
		t.Error("a rule that does not exist was made")
	}
}

func TestLadder(t *testing.T) {
	t.Parallel()
	hosts := Ladder{First: time.Minute, Max: time.Hour, Factor: 2}
	for _, c := range []struct {
		name     string
		ladder   Ladder
		failures int
		want     time.Duration
	}{
		{"the first failure waits the first step", hosts, 1, time.Minute},
		{"the second twice as long", hosts, 2, 2 * time.Minute},
		{"the sixth 32 times", hosts, 6, 32 * time.Minute},
		{"the seventh is held by the maximum", hosts, 7, time.Hour},
		{"the billionth too", hosts, 1_000_000_000, time.Hour},
		{"no number of failures overflows", Ladder{
			First: time.Hour, Max: math.MaxInt64, Factor: 1e300,
		}, math.MaxInt, math.MaxInt64},
		{"no failure counts as one", hosts, 0, time.Minute},
		{"less than none too", hosts, math.MinInt, time.Minute},
		{"a first step over the maximum is cut", Ladder{
			First: 2 * time.Hour, Max: time.Hour, Factor: 2,
		}, 1, time.Hour},
		{"a factor below one never shortens", Ladder{First: time.Hour, Max: day, Factor: 0.5}, 5, time.Hour},
		{"an infinite factor goes to the maximum", Ladder{
			First: time.Hour, Max: day, Factor: math.Inf(1),
		}, 2, day},
		{"a factor that is no number is two", Ladder{
			First: time.Hour, Max: day, Factor: math.NaN(),
		}, 2, 2 * time.Hour},
		{"the zero ladder doubles from a minute", Ladder{}, 4, 8 * time.Minute},
		{"the zero ladder ends at 28 days", Ladder{}, 40, 28 * day},
		{"a step has whole milliseconds", Ladder{
			First: time.Second, Max: day, Factor: 1.1,
		}, 4, 1331 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.ladder.Wait(c.failures); got != c.want {
				t.Errorf("%+v.Wait(%d) = %s, want %s", c.ladder, c.failures, got, c.want)
			}
		})
	}
}

// BenchmarkDecision measures judging a visit and finding its next interval. It should be negligible next to the fetch.
func BenchmarkDecision(b *testing.B) {
	stack := heritrix(b)
	before := Before{Known: true, Status: 200, Comparison: sum("a")}
	seen := Seen{Status: 200, Comparison: sum("b"), Complete: true}
	b.ReportAllocs()
	for b.Loop() {
		v := ChangeEvaluator{}.Judge(before, seen)
		stack.Next(WaitInput{MIME: "application/pdf", State: v.State, First: v.First, Previous: 90 * hour})
	}
}

func TestIntervalsCanBeFollowed(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                               "0s",
		time.Microsecond:                "0s",
		250 * time.Millisecond:          "250ms",
		4230 * time.Millisecond:         "4.23s",
		9970 * time.Millisecond:         "9.97s",
		12300 * time.Millisecond:        "12.3s",
		90 * time.Second:                "1m30s",
		time.Hour - time.Second:         "59m59s",
		90*time.Minute + 10*time.Second: "1h30m10s",
		day - time.Minute:               "23h59m",
		36 * time.Hour:                  "36h",
		54*time.Hour + 20*time.Minute:   "54h20m",
		4 * day:                         "4d",
		121*time.Hour + 30*time.Minute:  "5d1h30m",
		28 * day:                        "28d",
		-90 * time.Second:               "-1m30s",
		-4200 * time.Millisecond:        "-4.2s",
	} {
		if got := Interval(d); got != want {
			t.Errorf("Interval(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestWhyNamesWhoDecidedOnce(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"gone, 1 of 4 visits that confirm it": "gone, 1 of 4 visits that confirm it", "unchanged": "gone: unchanged", "gone": "gone: gone",
	} {
		if got := (Wait{Evaluator: "gone", Reason: reason}).Why(); got != want {
			t.Errorf("a wait that gone decided, because of %q, reads %q, want %q", reason, got, want)
		}
	}
}

func TestDefaultPatternsAreOnesOfAConfiguration(t *testing.T) {
	t.Parallel()
	for _, e := range Default() {
		if want := pattern(t, digest.TypeExpression(e.MIME)); e.MIME.String() != want.String() {
			t.Errorf("the pattern of %s is %s, want %s", e.Name, e.MIME, want)
		}
	}
}
