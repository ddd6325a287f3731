package crawler

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// stretchOf returns the factor by which the waits of a host are stretched.
func stretchOf(e *estimates, h uri.Host) float64 {
	page := frontier.Record{URI: uri.FromCanonical("http://" + string(h) + "/page/1"), Hops: "LL"}
	return e.factorsOf(page, config.DefaultSettings().Politeness).Stretch
}

// A stranger invents 150,000 hosts that never answer. An overloaded host is not forgotten for that.
func TestTheEstimatesAreBounded(t *testing.T) {
	t.Parallel()
	var e estimates
	s := config.DefaultSettings()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for range 2_000 { // URIs that are due every hour: more than the host can carry
		after := frontier.History{LastVisit: now, Due: now.Add(time.Hour), Wait: time.Hour, Rate: 24}
		e.add(demandVisit{
			Host: "busy.example", Hops: "L", Started: now, Took: 3 * time.Second, After: after, Reached: true, First: true,
		}, s)
	}
	for range 2_000 { // restless pages on another host ask for as many visits, which follow from no target
		after := frontier.History{LastVisit: now, Due: now.Add(time.Hour), Wait: time.Hour, Rate: 0.01, Restless: true}
		e.add(demandVisit{
			Host: "restless.example", Hops: "L", Started: now, Took: 3 * time.Second, After: after, Reached: true, First: true,
		}, s)
	}
	for host, want := range map[uri.Host]time.Duration{"busy.example": 3 * time.Second, "new.example": 6 * time.Second} {
		if got := e.cycle(host, s.Politeness); got.Round(time.Millisecond) != want {
			t.Errorf("the time between two requests to %s is %s, want %s", host, got, want)
		}
	}
	if got := stretchOf(&e, "restless.example"); got != 1 {
		t.Errorf("restless pages stretch the waits of their host by %g", got)
	}
	stretch := stretchOf(&e, "busy.example")
	if stretch < 2 {
		t.Fatalf("the waits of an overloaded host are stretched by %g", stretch)
	}
	for n := range 150_000 {
		h := uri.Host(fmt.Sprintf("h%d.invented.example", n))
		e.add(demandVisit{Host: h, Started: now, Failed: true}, s)
		if n%1000 > 0 {
			continue
		}
		if got := stretchOf(&e, h); got != 1 {
			t.Fatalf("the waits of %s are stretched by %g", h, got)
		}
	}
	if n := e.bytes(); n > 20e6 {
		t.Errorf("the estimates take %d bytes", n)
	}
	if got := stretchOf(&e, "busy.example"); got != stretch {
		t.Errorf("the waits of the overloaded host are stretched by %g, want %g as before", got, stretch)
	}
}
