package evaluators

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/digest"
)

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
