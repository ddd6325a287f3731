package captures_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/captures"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// TestTheLatestCapturesAreKeptAndSelected adds more captures than are kept.
func TestTheLatestCapturesAreKeptAndSelected(t *testing.T) {
	t.Parallel()
	var r captures.Ring
	report := func(i int) crawler.Report {
		return crawler.Report{
			URI: uri.FromCanonical(fmt.Sprintf("http://h%d.example/%d", i%2, i)), Status: 200, Finished: time.Unix(int64(i), 0),
			Verdict: evaluators.Verdict{State: evaluators.Changed, First: i%3 == 0}, Versions: 2, Type: "text/html; charset=utf-8",
			Title: fmt.Sprintf("Überschrift %d", i),
		}
	}
	const extra = 7
	for i := range captures.Max + extra {
		r.Add(report(i))
	}
	for _, change := range []func(*crawler.Report){
		func(v *crawler.Report) { v.Verdict.State = evaluators.Unchanged }, func(v *crawler.Report) { v.Failed = true },
		func(v *crawler.Report) { v.Status = 404 }, func(v *crawler.Report) { v.URI = v.URI.Robots() },
	} {
		v := report(0)
		if change(&v); r.Add(v) {
			t.Errorf("%+v counts as a capture", v)
		}
	}
	var again captures.Ring
	again.Restore(r.All())
	for name, ring := range map[string]*captures.Ring{"the ring": &r, "the restored ring": &again} {
		list, more := ring.Select(captures.Filter{Limit: 10})
		const newest = captures.Max + extra - 1
		if len(list) != 10 || more != captures.Max-10 || list[0].At.Unix() != newest || list[9].At.Unix() != newest-9 {
			t.Errorf("%s has %d captures and %d more, beginning with %+v", name, len(list), more, list[0])
		}
	}
	for want, f := range map[int]captures.Filter{
		1: {Text: "überschrift 5006"}, 2500: {Host: "h1.example"}, captures.Max / 3: {Kind: captures.First}, 0: {Type: "image/"},
		captures.Max: {Type: "text/html"}, 2499: {Sites: func(h string) bool { return h == "h0.example" }, Kind: "", Text: "http"},
	} {
		f.Limit = captures.Max
		list, _ := r.Select(f)
		if d := len(list) - want; d < -1 || d > 1 {
			t.Errorf("%+v selects %d captures, want about %d", f, len(list), want)
		}
	}
}
