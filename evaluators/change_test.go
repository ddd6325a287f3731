package evaluators_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
)

func sum(content string) digest.Comparison { return digest.Comparison{Sum: digest.Of([]byte(content))} }

func scrubbed(content string, rules uint64) digest.Comparison {
	return digest.Comparison{Sum: digest.Of([]byte(content)), Rules: rules}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const unknown, unchanged, changed = evaluators.Unknown, evaluators.Unchanged, evaluators.Changed
	stranger, bare := evaluators.Before{}, evaluators.Before{Known: true, Status: 200}
	page := evaluators.Before{Known: true, Status: 200, Comparison: sum("news")}
	other := evaluators.Before{Known: true, Status: 200, Comparison: scrubbed("news", 7)}
	moved := evaluators.Before{Known: true, Status: 301, Location: "/new", Comparison: sum("")}
	whole := func(status int, c digest.Comparison) evaluators.Seen {
		return evaluators.Seen{Status: status, Comparison: c, Complete: true}
	}
	broken := func(status int, c digest.Comparison) evaluators.Seen {
		return evaluators.Seen{Status: status, Comparison: c}
	}
	unread := func(status int) evaluators.Seen { return evaluators.Seen{Status: status, Unread: true} }
	for _, c := range []struct {
		name   string
		before evaluators.Before
		seen   evaluators.Seen
		state  evaluators.State
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
			evaluators.Seen{Status: 301, Location: "/newer", Comparison: sum(""), Complete: true},
			changed, "redirect target differs",
		},
		{
			"a redirect to the same place is unchanged",
			moved,
			evaluators.Seen{Status: 301, Location: "/new", Comparison: sum(""), Complete: true},
			unchanged, "same digest",
		},
		{
			"a Location on an ordinary page means nothing",
			page,
			evaluators.Seen{Status: 200, Location: "/token-77", Comparison: sum("news"), Complete: true},
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
			evaluators.Seen{Status: 200, Complete: true},
			unknown, "no digest of this visit",
		},
	} {
		got := evaluators.ChangeEvaluator{}.Judge(c.before, c.seen)
		want := evaluators.Verdict{State: c.state, First: !c.before.Known, Reason: c.reason}
		want.Rebased = strings.HasSuffix(c.reason, "re-based")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: Judge(%+v, %+v), -want +got:\n%s", c.name, c.before, c.seen, diff)
		}
	}
}

func TestStateNames(t *testing.T) {
	t.Parallel()
	for state, want := range map[evaluators.State]string{0: "unknown", 1: "unchanged", 2: "changed", 9: "state(9)"} {
		if state.String() != want {
			t.Errorf("state %d is %q, want %q", uint8(state), state, want)
		}
	}
}
