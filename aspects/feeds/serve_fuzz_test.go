package feeds

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
)

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
