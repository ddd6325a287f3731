package feeds

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/uri"
)

// yard is a subscriber with scripted hubs.
type yard struct {
	*Subscriber
	asked map[uri.URI][]time.Time // by hub
	now   time.Time
	fails map[uri.URI]bool
}

func newYard(t *testing.T, anyHub bool) *yard {
	t.Helper()
	y := &yard{asked: map[uri.URI][]time.Time{}, now: pushDay, fails: map[uri.URI]bool{}}
	n := 0
	s, err := NewSubscriber(PushOptions{
		Callback: "https://crawler.example/websub", AnyHub: anyHub, Log: zerolog.Nop(),
		Post: func(_ context.Context, to uri.URI, _ url.Values) (int, error) {
			y.asked[to] = append(y.asked[to], y.now)
			if y.fails[to] {
				return http.StatusInternalServerError, nil
			}
			return http.StatusAccepted, nil
		},
		Notify: func(uri.URI) {}, Random: func() string { n++; return fmt.Sprint("random", n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	y.Subscriber = s
	return y
}

// offer offers n feeds of a domain, and returns how many were taken.
func (y *yard) offer(domain string, n int, hub uri.URI) (taken int) {
	for i := range n {
		feed := uri.FromCanonical(fmt.Sprintf("http://h%d.%s/rss.xml", i, domain))
		if y.Offer(y.now, feed, uri.URI{}, hub) {
			taken++
		}
	}
	return taken
}

// run makes the steps that are due until a time.
func (y *yard) run(t *testing.T, until time.Time) {
	t.Helper()
	for steps := 0; ; steps++ {
		next := y.Step(t.Context(), y.now)
		if next.IsZero() || next.After(until) {
			y.now = until
			return
		}
		if y.now = laterPush(y.now, next); steps > 100_000 {
			t.Fatal("the subscriber never comes to rest")
		}
	}
}

func laterPush(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func TestOneDomainDoesNotTakeAllPlaces(t *testing.T) {
	t.Parallel()
	y := newYard(t, false)
	if n := y.offer("greedy.example", 12_000, hubAt); n != maxPerDomain {
		t.Errorf("%d feeds of one domain were taken, want %d", n, maxPerDomain)
	}
	if n := y.offer("healthy.example", 50, hubAt); n != 50 {
		t.Errorf("%d of 50 feeds of a healthy site were taken", n)
	}
	// A place that becomes free is used again.
	y.Offer(y.now, uri.FromCanonical("http://h0.greedy.example/rss.xml"), uri.URI{}, uri.URI{})
	if n := y.offer("greedy.example", 5, hubAt); n != 1 {
		t.Errorf("%d feeds were taken for one free place", n)
	}
}

func TestHubsHaveHTTPSAndItsPort(t *testing.T) {
	t.Parallel()
	for hub, standard := range map[string]bool{
		"https://hub.example/": true, "http://hub.example/": false, "https://hub.example:8443/": false,
		"http://hub.example:6379/": false, "https://hub.example/x?y": true,
	} {
		for _, anyHub := range []bool{false, true} {
			if got := newYard(t, anyHub).Offer(pushDay, feed, uri.URI{}, uri.FromCanonical(hub)); got != (standard || anyHub) {
				t.Errorf("%s was taken: %v; any_hub is %v", hub, got, anyHub)
			}
		}
	}
}

func TestAHubIsAskedAtABoundedRate(t *testing.T) {
	t.Parallel()
	y := newYard(t, false)
	other := uri.FromCanonical("https://other.example/")
	y.offer("a.example", 100, hubAt)
	y.offer("b.example", 1, other)
	y.run(t, pushDay.Add(5*time.Minute))
	asked := y.asked[hubAt]
	if len(asked) != 100 {
		t.Fatalf("%d requests, want 100", len(asked))
	}
	for i := range asked[1:] {
		if gap := asked[i+1].Sub(asked[i]); gap < hubEvery {
			t.Fatalf("two requests to a hub are %s apart", gap)
		}
	}
	if got := y.asked[other]; len(got) == 0 || got[0].Sub(pushDay) > time.Second {
		t.Errorf("another hub was asked at %v, want at once", got)
	}
}

func TestAHubThatFailsIsDropped(t *testing.T) {
	t.Parallel()
	y := newYard(t, false)
	y.fails[hubAt] = true
	healthy := uri.FromCanonical("https://healthy.example/")
	y.offer("a.example", 100, hubAt)
	y.offer("b.example", 1, healthy)
	y.run(t, pushDay.Add(24*time.Hour))
	if n := len(y.asked[hubAt]); n > 12 {
		t.Errorf("a dead hub was asked %d times in a day for 100 feeds", n)
	}
	y.run(t, pushDay.Add(7*24*time.Hour))
	if n := len(y.asked[hubAt]); n != maxFailures {
		t.Errorf("a dead hub was asked %d times in a week for 100 feeds, want %d", n, maxFailures)
	}
	if _, all := y.Active(y.now); all != 1 {
		t.Errorf("%d subscriptions are left, want the one at the other hub", all)
	}
	if y.offer("a.example", 1, hubAt) != 0 {
		t.Error("a dropped hub was taken again")
	}
	y.now = y.now.Add(dropTime)
	y.fails[hubAt] = false
	if y.offer("a.example", 1, hubAt) != 1 {
		t.Error("the hub is dropped forever")
	}
}

// A hub that accepts every request and verifies none is asked less and less.
func TestAHubThatVerifiesNothingIsAskedSeldom(t *testing.T) {
	t.Parallel()
	y := newYard(t, false)
	y.offer("a.example", 1, hubAt)
	y.run(t, pushDay.Add(30*24*time.Hour))
	if n := len(y.asked[hubAt]); n > 45 {
		t.Errorf("%d requests in 30 days", n)
	}
}

func TestNoLeaseOutlastsTheRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		granted string
		want    time.Duration // until the subscription is renewed
	}{
		{"86400", 24 * time.Hour * 4 / 5},
		{"2147483647", DefaultLease * 4 / 5}, // 68 years
		{"99999999999999999999", DefaultLease * 4 / 5},
		{"-5", DefaultLease * 4 / 5},
		{"soon", DefaultLease * 4 / 5},
		{"1", minLease},
	} {
		h := newHub(t)
		h.s.Offer(pushDay, feed, uri.URI{}, hubAt)
		h.s.Step(t.Context(), pushDay)
		h.verify(pushDay, "hub.lease_seconds", c.granted)
		if next := h.s.Step(t.Context(), pushDay.Add(3*time.Second)); !next.Equal(pushDay.Add(c.want)) {
			t.Errorf("granted %s: renewed after %s, want %s", c.granted, next.Sub(pushDay), c.want)
		}
	}
}
