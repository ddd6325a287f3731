package evaluators_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
)

func sum(content string) digest.Comparison { return digest.Comparison{Sum: digest.Of([]byte(content))} }

func scrubbed(content string, rules uint64) digest.Comparison {
	return digest.Comparison{Sum: digest.Of([]byte(content)), Rules: rules}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	page := evaluators.Before{Known: true, Status: 200, Comparison: sum("news")}
	moved := evaluators.Before{Known: true, Status: 301, Location: "/new", Comparison: sum("")}
	for _, c := range []struct {
		name   string
		before evaluators.Before
		seen   evaluators.Seen
		want   evaluators.Verdict
	}{
		{
			"the first complete capture is version 1",
			evaluators.Before{},
			evaluators.Seen{Status: 200, Comparison: sum("news"), Complete: true},
			evaluators.Verdict{State: evaluators.Changed, First: true, Reason: "first capture"},
		},
		{
			"a first body that breaks off makes no version",
			evaluators.Before{},
			evaluators.Seen{Status: 200, Comparison: sum("ne")},
			evaluators.Verdict{First: true, Reason: "body incomplete"},
		},
		{
			"a 304 cannot vouch for a body that nobody has",
			evaluators.Before{},
			evaluators.Seen{Status: 304, Unread: true},
			evaluators.Verdict{First: true, Reason: "body not read and no earlier capture"},
		},
		{
			"an equal digest is unchanged",
			page,
			evaluators.Seen{Status: 200, Comparison: sum("news"), Complete: true},
			evaluators.Verdict{State: evaluators.Unchanged, Reason: "same digest"},
		},
		{
			"another digest is changed",
			page,
			evaluators.Seen{Status: 200, Comparison: sum("newer"), Complete: true},
			evaluators.Verdict{State: evaluators.Changed, Reason: "digest differs"},
		},
		{
			"another status is changed even with the same body",
			page,
			evaluators.Seen{Status: 404, Comparison: sum("news"), Complete: true},
			evaluators.Verdict{State: evaluators.Changed, Reason: "status 200 → 404"},
		},
		{
			"a mid-fetch abort that overlooked another status is changed",
			page,
			evaluators.Seen{Status: 404, Unread: true},
			evaluators.Verdict{State: evaluators.Changed, Reason: "status 200 → 404"},
		},
		{
			"a redirect to elsewhere is changed behind its empty body",
			moved,
			evaluators.Seen{Status: 301, Location: "/newer", Comparison: sum(""), Complete: true},
			evaluators.Verdict{State: evaluators.Changed, Reason: "redirect target differs"},
		},
		{
			"a redirect to the same place is unchanged",
			moved,
			evaluators.Seen{Status: 301, Location: "/new", Comparison: sum(""), Complete: true},
			evaluators.Verdict{State: evaluators.Unchanged, Reason: "same digest"},
		},
		{
			"a Location on an ordinary page means nothing",
			page,
			evaluators.Seen{Status: 200, Location: "/token-77", Comparison: sum("news"), Complete: true},
			evaluators.Verdict{State: evaluators.Unchanged, Reason: "same digest"},
		},
		{
			"a mid-fetch abort is unchanged",
			page,
			evaluators.Seen{Status: 200, Unread: true},
			evaluators.Verdict{State: evaluators.Unchanged, Reason: "headers unchanged, body not read"},
		},
		{
			"a 304 without Location leaves a redirect unchanged",
			moved,
			evaluators.Seen{Status: 304, Unread: true},
			evaluators.Verdict{State: evaluators.Unchanged, Reason: "not modified (304)"},
		},
		{
			"a body that breaks off says nothing",
			page,
			evaluators.Seen{Status: 200, Comparison: sum("ne")},
			evaluators.Verdict{Reason: "body incomplete"},
		},
		{
			"a body that breaks off says nothing with another status either",
			page,
			evaluators.Seen{Status: 503, Comparison: sum("ba")},
			evaluators.Verdict{Reason: "body incomplete"},
		},
		{
			"other scrubbing rules re-base without a version",
			page,
			evaluators.Seen{Status: 200, Comparison: scrubbed("news", 7), Complete: true},
			evaluators.Verdict{Rebased: true, Reason: "other scrubbing rules, re-based"},
		},
		{
			"another status is changed under other rules too",
			page,
			evaluators.Seen{Status: 410, Comparison: scrubbed("gone", 7), Complete: true},
			evaluators.Verdict{State: evaluators.Changed, Reason: "status 200 → 410"},
		},
		{
			"headers vouch whatever the scrubbing rules are now",
			evaluators.Before{Known: true, Status: 200, Comparison: scrubbed("news", 7)},
			evaluators.Seen{Status: 304, Unread: true},
			evaluators.Verdict{State: evaluators.Unchanged, Reason: "not modified (304)"},
		},
		{
			"a remembered capture without digest gets one",
			evaluators.Before{Known: true, Status: 200},
			evaluators.Seen{Status: 200, Comparison: sum("news"), Complete: true},
			evaluators.Verdict{Rebased: true, Reason: "no digest to compare with, re-based"},
		},
		{
			"a visit without digest says nothing",
			page,
			evaluators.Seen{Status: 200, Complete: true},
			evaluators.Verdict{Reason: "no digest of this visit"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := evaluators.ChangeEvaluator{}.Judge(c.before, c.seen)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Judge(%+v, %+v), -want +got:\n%s", c.before, c.seen, diff)
			}
		})
	}
}

// What was not read whole never makes a version out of nothing, and an unread or broken body never looks re-based.
func TestVerdictsAreConsistent(t *testing.T) {
	t.Parallel()
	statuses := rapid.SampledFrom([]int{200, 301, 304, 404, 503})
	contents := rapid.SampledFrom([]string{"a", "b"})
	rules := rapid.Uint64Range(0, 1)
	places := rapid.SampledFrom([]string{"", "/a"})
	rapid.Check(t, func(t *rapid.T) {
		b := evaluators.Before{
			Known: rapid.Bool().Draw(t, "known"), Status: statuses.Draw(t, "was"), Location: places.Draw(t, "there"),
			Comparison: scrubbed(contents.Draw(t, "before"), rules.Draw(t, "rules before")),
		}
		s := evaluators.Seen{
			Status: statuses.Draw(t, "is"), Location: places.Draw(t, "here"),
			Comparison: scrubbed(contents.Draw(t, "now"), rules.Draw(t, "rules now")),
			Unread:     rapid.Bool().Draw(t, "unread"), Complete: rapid.Bool().Draw(t, "complete"),
		}
		v := evaluators.ChangeEvaluator{}.Judge(b, s)
		if v.First == b.Known {
			t.Fatalf("%+v: First %t with Known %t", v, v.First, b.Known)
		}
		if v.Rebased && (v.State != evaluators.Unknown || v.First || s.Unread || !s.Complete) {
			t.Fatalf("%+v is re-based for %+v", v, s)
		}
		if v.State == evaluators.Changed && !s.Complete && !s.Unread {
			t.Fatalf("%+v for a broken body", v)
		}
		if v.State == evaluators.Unchanged && !b.Known {
			t.Fatalf("%+v with nothing known", v)
		}
		if v.Reason == "" {
			t.Fatalf("%+v has no reason", v)
		}
	})
}

func TestStateNames(t *testing.T) {
	t.Parallel()
	for state, want := range map[evaluators.State]string{0: "unknown", 1: "unchanged", 2: "changed", 9: "state(9)"} {
		if state.String() != want {
			t.Errorf("state %d is %q, want %q", uint8(state), state, want)
		}
	}
}
