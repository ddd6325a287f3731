package render_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/render"
)

var (
	epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	old   = digest.Comparison{Sum: digest.Of([]byte("old"))}
	other = digest.Comparison{Sum: digest.Of([]byte("other"))}
)

// settings let the rendered text decide, by the rule of Heritrix.
func settings() *config.Settings {
	s := &config.Settings{Own: []any{&noise.Options{Of: noise.OfRendered}}}
	s.Wait = evaluators.Stack{{Name: "all", Rule: evaluators.Classic{}}}
	return s
}

// factsOf returns the facts of a visit. before is the record as the visit found it.
func factsOf(
	before frontier.Record, source evaluators.State, in evaluators.WaitInput, w evaluators.Wait, from time.Time,
) *render.Facts {
	v := &aspects.Visit{Verdict: evaluators.Verdict{State: source}, Next: aspects.Next{Input: in, Wait: w}}
	v.Claim.Record = before
	return render.Aspect{}.After(v, from).(*render.Facts)
}

// after returns the record of a page that was visited ten days after it had changed, and the facts of that visit. It
// was rendered before, with the old text.
func after(s *config.Settings, source evaluators.State) (frontier.Record, *render.Facts) {
	before := frontier.Record{History: frontier.History{LastChange: epoch, Versions: 3, Wait: 12 * time.Hour}}
	var first *render.Facts
	first.Decide(&before, old, s)
	at := epoch.Add(240 * time.Hour)
	in := evaluators.WaitInput{State: source, Previous: before.Wait, Evidence: evaluators.Evidence{At: at}}
	w := s.Wait.Next(in)
	v := factsOf(before, source, in, w, at)
	r := before
	render.Aspect{}.Settle(&r)
	if r.LastVisit = at; source == evaluators.Changed {
		r.Versions, r.LastChange = 4, at
	}
	r.Wait, r.Due, r.Why = w.Interval, at.Add(w.Interval), w.Why()
	return r, v
}

func TestTheTextDecidesAgain(t *testing.T) {
	t.Parallel()
	at := epoch.Add(240 * time.Hour)
	for _, c := range []struct {
		name     string
		source   evaluators.State
		text     digest.Comparison
		change   func(*frontier.Record)
		state    evaluators.State
		wait     time.Duration // learned
		due      time.Duration // after the visit
		versions int
		changed  time.Time
	}{
		{"both changed", evaluators.Changed, other, nil, evaluators.Changed, 8 * time.Hour, 8 * time.Hour, 4, at},
		{"only the source changed", evaluators.Changed, old, nil, evaluators.Unchanged, 18 * time.Hour, 18 * time.Hour, 3, epoch},
		{"only the text changed", evaluators.Unchanged, other, nil, evaluators.Changed, 8 * time.Hour, 8 * time.Hour, 4, at},
		{"neither changed", evaluators.Unchanged, old, nil, evaluators.Unchanged, 18 * time.Hour, 18 * time.Hour, 3, epoch},
		{
			"a feed has named it meanwhile", evaluators.Changed, old,
			func(r *frontier.Record) { r.Due, r.Why = at.Add(time.Hour), frontier.WhySooner },
			evaluators.Unchanged, 18 * time.Hour, time.Hour, 3, epoch,
		},
		{
			"visited again meanwhile", evaluators.Changed, old,
			func(r *frontier.Record) { r.LastVisit = at.Add(time.Minute) },
			evaluators.Unchanged, 8 * time.Hour, 8 * time.Hour, 4, at,
		},
		{
			"other scrubbing rules", evaluators.Changed,
			digest.Comparison{Sum: other.Sum, Rules: 7},
			nil,
			evaluators.Unknown, 8 * time.Hour, 8 * time.Hour, 4, at,
		},
		{
			"the first rendering", evaluators.Changed, other,
			func(r *frontier.Record) { r.Rendered = "" },
			evaluators.Unknown, 8 * time.Hour, 8 * time.Hour, 4, at,
		},
		{
			"damaged bytes", evaluators.Changed, other,
			func(r *frontier.Record) { r.Rendered = "\x01\xff" + strings.Repeat("x", 50) },
			evaluators.Unknown, 8 * time.Hour, 8 * time.Hour, 4, at,
		},
	} {
		r, v := after(settings(), c.source)
		if c.change != nil {
			c.change(&r)
		}
		if got := v.Decide(&r, c.text, settings()); got != c.state {
			t.Errorf("%s: the text is %v, want %v", c.name, got, c.state)
		}
		if r.Wait != c.wait || r.Versions != c.versions || !r.LastChange.Equal(c.changed) || !r.Due.Equal(at.Add(c.due)) {
			t.Errorf("%s: wait %v, due after %v, %d versions, changed %v", c.name, r.Wait, r.Due.Sub(at), r.Versions, r.LastChange)
		}
		overruled := c.state != evaluators.Unknown && c.state != c.source && c.change == nil
		if got := strings.HasSuffix(r.Why, "the rendered text decided"); got != overruled {
			t.Errorf("%s: why is %q", c.name, r.Why)
		}
	}
}

// notes returns the annotations of the next visit.
func notes(r frontier.Record) []string {
	v := new(aspects.Visit)
	v.Claim.Record = r
	return render.Aspect{}.Note(v, nil)
}

func TestTheNextVisitLogsTheText(t *testing.T) {
	t.Parallel()
	s := settings()
	r, v := after(s, evaluators.Changed)
	if got := notes(r); len(got) != 0 {
		t.Errorf("before the rendering: %q", got)
	}
	v.Decide(&r, other, s)
	if got := strings.Join(notes(r), ","); got != "rendered:changed" {
		t.Errorf("after the rendering: %q", got)
	}
	render.Aspect{}.Settle(&r)
	if got := notes(r); len(got) != 0 {
		t.Errorf("at the second visit after the rendering: %q", got)
	}
	if got := v.Decide(&r, other, s); got != evaluators.Unchanged {
		t.Errorf("the text that was reported is forgotten: %v", got)
	}
}
