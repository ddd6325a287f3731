package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// fill opens a frontier with the given number of hosts and of URIs on each host. The URIs are due one millisecond
// apart.
func fill(b *testing.B, hosts, each int) *world {
	b.Helper()
	w := newWorld(b, func(o *frontier.Options) { o.Compactors = 0 })
	var cs []frontier.Candidate
	for i := range hosts {
		for j := range each {
			cs = append(cs, frontier.Candidate{
				URI:  parse(b, fmt.Sprintf("https://www.host-%d.example/section/%d/article.html", i, j)),
				Hops: "LL", Via: fmt.Sprintf("https://www.host-%d.example/section/", i),
				Seed: fmt.Sprintf("https://www.host-%d.example/", i), Due: day.Add(time.Duration(j) * time.Millisecond),
			})
		}
	}
	w.addAll(cs...)
	return w
}

// step claims one URI and settles it, and advances the clock if it must.
func step(b *testing.B, w *world, now time.Time, found []frontier.Candidate) time.Time {
	next, ok := w.NextReady()
	if !ok {
		b.Fatal("nothing waits")
	}
	if next.After(now) {
		now = next
	}
	c := w.claimAny(now)
	o := visited(c, now, 12*time.Hour)
	o.Found = found
	w.settle(c, o)
	return now
}

// BenchmarkClaimSettle measures claiming a URI and settling it, in a store of 100,000 URIs on 1,000 hosts.
func BenchmarkClaimSettle(b *testing.B) {
	w := fill(b, 1000, 100)
	now := day
	for b.Loop() {
		now = step(b, w, now, nil)
	}
}
