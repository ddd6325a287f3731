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
	if err != nil {
		t.Fatal(err)
	}
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
	if active, all := h.s.Active(pushDay); active != 1 || all != 1 {
		t.Errorf("%d of %d active, want 1 of 1", active, all)
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
	h.verify(pushDay)
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
	if _, all := h.s.Active(pushDay); all != 3 {
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
	if _, all := h.s.Active(pushDay); all != 2 {
		t.Errorf("%d subscriptions, want 2", all)
	}
}
