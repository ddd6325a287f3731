package frontier_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// The writes of one transaction fit even if all texts have their maximum length.
func TestTextsAtTheirLimitFitIntoTransactions(t *testing.T) {
	t.Parallel()
	const n = 60
	w := newWorld(t)
	long := func(i int) string {
		return fmt.Sprintf("http://a.example/%04d", i) + strings.Repeat("x", frontier.MaxText-len("http://a.example/0000"))
	}
	text := strings.Repeat("t", frontier.MaxText)
	var cs []frontier.Candidate
	for i := range 2 * n {
		cs = append(cs, frontier.Candidate{
			URI: parse(t, long(i)), Via: text, Seed: text, Source: text,
			Due: at(time.Duration(i) * time.Second),
		})
	}
	if added, err := w.Add(day, cs...); err != nil || added.New != 2*n {
		t.Fatal(added, err)
	}
	now := at(time.Hour)
	for range n {
		c := w.claimAny(now)
		o := visited(c, now, 30*24*time.Hour)
		r := &o.Record
		r.ContentType, r.Location, r.Validators.ETag, r.Validators.LastModified = text, text, text, text
		r.Origin.URI, r.Origin.File, r.Origin.RecordID, r.Memory = text, text, text, text
		o.Politeness, o.Forbidden = frontier.Politeness{}, true
		w.settle(c, o)
	}
	w.steerAt(now, frontier.Selection{}, frontier.Action{Verb: frontier.Hold})
	w.steerAt(now, frontier.Selection{}, frontier.Action{Verb: frontier.Release})
	var entries []frontier.Entry
	for next := frontier.Cursor(""); ; {
		list, then, err := w.List(now, frontier.Selection{}, next, 100)
		must(t, err)
		if entries, next = append(entries, list...), then; next == "" {
			break
		}
	}
	if done, err := w.Import(now, true, entries...); err != nil || done.Replaced != 2*n {
		t.Fatal(done, err)
	}
	r, err := w.Divert(w.claimAny(now), parse(t, "http://a.example/robots.txt"), now)
	must(t, err)
	w.settle(r, frontier.Settlement{
		Record: r.Record, Finished: now, Reopen: true, Robots: &frontier.RobotsCopy{
			Status: 200,
			Body:   make([]byte, frontier.MaxRobots),
		},
	})
	if got := w.Counts(now).Forbidden; got != 0 {
		t.Errorf("%d URIs are still forbidden", got)
	}
}
