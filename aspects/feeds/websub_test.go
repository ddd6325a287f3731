package feeds

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

var (
	pushDay = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	feed    = uri.FromCanonical("http://news.example/rss.xml")
	hubAt   = uri.FromCanonical("https://hub.example/")
)

// hub is a scripted hub.
type hub struct {
	t         *testing.T
	s         *Subscriber
	status    int // status of its answers to requests for subscriptions
	err       error
	asked     []url.Values
	triggered []uri.URI
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{t: t, status: http.StatusAccepted}
	n := 0
	s, err := NewSubscriber(PushOptions{
		Callback: "https://crawler.example/websub/", Max: 3, Log: zerolog.Nop(),
		Post: func(_ context.Context, to uri.URI, form url.Values) (int, error) {
			if to != hubAt {
				t.Errorf("request to %s, want %s", to, hubAt)
			}
			h.asked = append(h.asked, form)
			return h.status, h.err
		},
		Notify: func(u uri.URI) { h.triggered = append(h.triggered, u) },
		Random: func() string { n++; return fmt.Sprintf("random%d", n) },
	})
	must(t, err)
	h.s = s
	return h
}

// send sends a request to the subscriber.
func (h *hub) send(now time.Time, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.s.Serve(w, r, now)
	return w
}

// verify asks the subscriber to confirm its last request. changes are pairs of parameters and values that differ.
func (h *hub) verify(now time.Time, changes ...string) *httptest.ResponseRecorder {
	last := h.asked[len(h.asked)-1]
	q := url.Values{
		"hub.mode": {"subscribe"}, "hub.topic": {last.Get("hub.topic")}, "hub.challenge": {"a<b"}, "hub.lease_seconds": {"86400"},
	}
	for i := 0; i < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
	}
	return h.send(now, httptest.NewRequest(http.MethodGet, last.Get("hub.callback")+"?"+q.Encode(), nil))
}

// sign returns the signature of a body.
func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// notify sends a notification with a signature, and returns the status of the answer.
func (h *hub) notify(now time.Time, signature string) int {
	r := httptest.NewRequest(http.MethodPost, h.asked[len(h.asked)-1].Get("hub.callback"), strings.NewReader("<rss/>"))
	r.Header.Set("X-Hub-Signature", signature)
	return h.send(now, r).Code
}

func TestSubscriptionLifeCycle(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	if !h.s.Offer(pushDay, feed, uri.URI{}, hubAt) || h.s.Offer(pushDay, feed, uri.URI{}, hubAt) {
		t.Error("want true for the first offer and false for the second")
	}
	next := h.s.Step(t.Context(), pushDay)
	if len(h.asked) != 1 || !next.Equal(pushDay.Add(verifyTimeout)) {
		t.Fatalf("%d requests, next step at %s", len(h.asked), next)
	}
	want := "hub.callback=https%3A%2F%2Fcrawler.example%2Fwebsub%2Frandom1&hub.lease_seconds=864000&hub.mode=subscribe&hub.secret=random2&hub.topic=http%3A%2F%2Fnews.example%2Frss.xml"
	if got := h.asked[0].Encode(); got != want {
		t.Errorf("request %s, want %s", got, want)
	}
	if w := h.verify(pushDay); w.Code != http.StatusOK || w.Body.String() != "a<b" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("verification: %d %q", w.Code, w.Body)
	}
	if sub := h.s.byFeed[feed]; len(h.s.subs) != 1 || !sub.until.After(pushDay) {
		t.Errorf("%d subscriptions, with a lease until %s", len(h.s.subs), sub.until)
	}
	if code := h.notify(pushDay, sign("random2", "<rss/>")); code != http.StatusAccepted || len(h.triggered) != 1 || h.triggered[0] != feed {
		t.Errorf("notification: %d, triggered %v", code, h.triggered)
	}
	next = h.s.Step(t.Context(), pushDay.Add(time.Hour))
	if len(h.asked) != 1 || !next.Equal(pushDay.Add(24*time.Hour*4/5)) {
		t.Errorf("%d requests, next step at %s", len(h.asked), next)
	}
	h.s.Step(t.Context(), next.Add(24*time.Hour))
	if len(h.asked) != 2 || h.asked[1].Encode() != want {
		t.Errorf("renewed %d times, want once with the same request", len(h.asked)-1)
	}
}

func TestServeIgnoresWrongSignatures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, signature string
		want            int
	}{
		{"signed", sign("random2", "<rss/>"), 1},
		{"not signed", "", 0},
		{"signed with another secret", sign("random3", "<rss/>"), 0},
		{"signed for another body", sign("random2", "<rss> </rss>"), 0},
		{"signed by an unknown method", "md5=00", 0},
		{"not hexadecimal", "sha256=xx", 0},
	} {
		h := newHub(t)
		h.s.Offer(pushDay, feed, uri.URI{}, hubAt)
		h.s.Step(t.Context(), pushDay)
		h.verify(pushDay)
		if code := h.notify(pushDay, c.signature); code != http.StatusAccepted || len(h.triggered) != c.want {
			t.Errorf("%s: %d, %d triggers, want %d", c.name, code, len(h.triggered), c.want)
		}
	}
}

func TestServeTriggersAtMostOncePerMinute(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.s.Offer(pushDay, feed, uri.URI{}, hubAt)
	h.s.Step(t.Context(), pushDay)
	h.verify(pushDay)
	for i := range 120 {
		h.notify(pushDay.Add(time.Duration(i)*time.Second), sign("random2", "<rss/>"))
	}
	if len(h.triggered) != 2 {
		t.Errorf("%d triggers, want 2", len(h.triggered))
	}
}

func TestServeConfirmsOnlyItsOwnRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		changes []string
	}{
		{"another topic", []string{"hub.topic", "http://evil.example/"}},
		{"an unsubscription", []string{"hub.mode", "unsubscribe"}},
		{"no challenge", []string{"hub.challenge", ""}},
		{"a giant challenge", []string{"hub.challenge", strings.Repeat("x", maxChallenge+1)}},
	} {
		h := newHub(t)
		h.s.Offer(pushDay, feed, uri.URI{}, hubAt)
		h.s.Step(t.Context(), pushDay)
		if w := h.verify(pushDay, c.changes...); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", c.name, w.Code)
		}
	}
	h := newHub(t)
	h.s.Offer(pushDay, feed, uri.URI{}, hubAt)
	h.s.Step(t.Context(), pushDay)
	h.verify(pushDay, "hub.challenge", strings.Repeat("x", maxChallenge))
	if w := h.verify(pushDay); w.Code != http.StatusNotFound {
		t.Errorf("a second verification: %d, want 404", w.Code)
	}
	for method, want := range map[string]int{
		http.MethodGet: http.StatusNotFound, http.MethodPost: http.StatusGone, http.MethodPut: http.StatusMethodNotAllowed,
	} {
		if w := h.send(pushDay, httptest.NewRequest(method, "https://crawler.example/websub/nobody", nil)); w.Code != want {
			t.Errorf("%s to an unknown callback: %d, want %d", method, w.Code, want)
		}
	}
}

func TestStepWaitsLongerForFailingHubs(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.status, h.err = 0, errors.New("no route to host")
	h.s.Offer(pushDay, feed, uri.URI{}, hubAt)
	now := pushDay
	var waits []time.Duration
	for range 14 {
		next := h.s.Step(t.Context(), now)
		waits = append(waits, next.Sub(now))
		now = next
	}
	if waits[0] != time.Minute || waits[1] != 2*time.Minute || waits[13] != 24*time.Hour {
		t.Errorf("waits %v, want 1m, 2m … 24h", waits)
	}
	h.status, h.err = http.StatusAccepted, nil
	h.s.Step(t.Context(), now)
	if w := h.verify(now, "hub.mode", "denied"); w.Code != http.StatusOK {
		t.Errorf("a refusal: %d, want 200", w.Code)
	}
	if next := h.s.Step(t.Context(), now); !next.Equal(now.Add(24 * time.Hour)) {
		t.Errorf("after a refusal the next step is at %s, want 24h later", next)
	}
}

func TestOfferBoundsAndReplacesSubscriptions(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	for i := range 5 {
		h.s.Offer(pushDay, uri.FromCanonical(fmt.Sprintf("http://news.example/%d", i)), uri.URI{}, hubAt)
	}
	if all := len(h.s.subs); all != 3 {
		t.Errorf("%d subscriptions, want 3", all)
	}
	first := uri.FromCanonical("http://news.example/0")
	h.s.Step(t.Context(), pushDay)
	if !h.s.Offer(pushDay, first, feed, hubAt) {
		t.Error("offering another topic: want true")
	}
	if h.s.Offer(pushDay, first, feed, uri.URI{}) {
		t.Error("offering no hub: want false")
	}
	if all := len(h.s.subs); all != 2 {
		t.Errorf("%d subscriptions, want 2", all)
	}
}

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
	must(t, err)
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
		if y.now = later(y.now, next); steps > 100_000 {
			t.Fatal("the subscriber never comes to rest")
		}
	}
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
	if all := len(y.subs); all != 1 {
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

// FuzzServe sends requests as a hub. Only a request with the right signature may trigger a visit, and only the topic of
// a subscription that was asked for may be confirmed.
func FuzzServe(f *testing.F) {
	f.Add("GET", "/websub/random1", "hub.mode=subscribe&hub.topic=http%3A%2F%2Fnews.example%2Frss.xml&hub.challenge=c&hub.lease_seconds=9", "", "")
	f.Add("POST", "/websub/random1", "", "sha256=00", "<rss/>")
	f.Add("POST", "/websub/random1", "", "sha1=zz", "")
	f.Add("GET", "/", "hub.mode=denied&hub.topic=http%3A%2F%2Fnews.example%2Frss.xml&hub.reason=%00", "", "")
	f.Add("GET", "/websub/random1", "hub.lease_seconds=99999999999999999999", "md5=", "")
	f.Fuzz(func(t *testing.T, method, path, query, signature, body string) {
		r, err := http.NewRequest(method, "http://crawler.example/", strings.NewReader(body))
		if err != nil {
			t.Skip("no method of HTTP")
		}
		h := newHub(t)
		if !h.s.Offer(pushDay, feed, feed, hubAt) {
			t.Fatal("the subscription was not accepted")
		}
		h.s.Step(t.Context(), pushDay)
		r.URL.Path, r.URL.RawQuery = path, query
		r.Header.Set("X-Hub-Signature", signature)
		w := httptest.NewRecorder()
		h.s.Serve(w, r, pushDay.Add(time.Second))
		if len(h.triggered) > 0 {
			t.Errorf("a notification with the signature %q was believed", signature)
		}
		if w.Code == http.StatusOK && w.Body.Len() > 0 && !strings.Contains(r.URL.Query().Get("hub.topic"), "news.example") {
			t.Errorf("the topic %q was confirmed", r.URL.Query().Get("hub.topic"))
		}
		if due := h.s.Step(t.Context(), pushDay.Add(2*time.Second)); due.Sub(pushDay) > 366*24*time.Hour {
			t.Errorf("the next step is due at %s", due)
		}
	})
}

func TestWorkOfRequestsGrowsWithTheirSize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(n int) string
		set  func(r *http.Request, text string)
	}{
		"query": {
			func(n int) string { return strings.Repeat("hub.topic=a&", n/12) },
			func(r *http.Request, text string) { r.URL.RawQuery = text },
		},
		"signature": {
			func(n int) string { return "sha256=" + strings.Repeat("0", n) },
			func(r *http.Request, text string) { r.Header.Set("X-Hub-Signature", text) },
		},
		"path": {
			func(n int) string { return strings.Repeat("/a", n/2) },
			func(r *http.Request, text string) { r.URL.Path = text },
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			slow.Linear(t, c.make, func(text string) {
				for _, method := range []string{http.MethodGet, http.MethodPost} {
					r := httptest.NewRequest(method, "/websub/random1", nil)
					c.set(r, text)
					h.s.Serve(httptest.NewRecorder(), r, pushDay)
				}
			})
		})
	}
}
