package whatif_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/fetch"
)

// player requests URIs as a page would, and shows two links. It ends before the last request.
type player struct {
	asks     []string
	requests int // the bound of the last job
}

func (p *player) Load(ctx context.Context, j whatif.Page) (whatif.Shown, error) {
	p.requests = j.MaxRequests
	main := j.Answer(ctx, j.URI, true)
	text := string(main.Body)
	for _, u := range p.asks {
		text += " " + string(j.Answer(ctx, u, false).Body)
	}
	over, end := context.WithCancel(ctx)
	end()
	_ = j.Answer(over, strings.TrimSuffix(j.URI, "/")+"/over", false)
	return whatif.Shown{Title: "news", Text: text, DOM: []byte("<a href=/1>1</a><a href=/2>2</a>")}, nil
}

// TestATrialShowsWhatABrowserWouldRequest renders a page behind a wall with the cookie that opens it. Its requests have
// the cookie too, rest, obey robots.txt, stay on the host and have a bound.
func TestATrialShowsWhatABrowserWouldRequest(t *testing.T) {
	t.Parallel()
	var asked []string
	w := newTrialWorld(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
			return
		}
		if c, err := r.Cookie("consent"); err != nil || c.Value != "yes" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		asked = append(asked, r.URL.Path)
		if r.URL.Path == "/broken.html" {
			w.Header().Set("Content-Encoding", "gzip")
		}
		if strings.HasPrefix(r.URL.Path, "/large") {
			_, _ = w.Write(make([]byte, 25<<20))
			return
		}
		w.Header().Set("Content-Type", map[bool]string{true: "Text/HTML", false: "text/plain"}[r.URL.Path == "/" || r.URL.Path == "/broken.html"])
		_, _ = fmt.Fprint(w, "<a href=/1>", strings.TrimPrefix(r.URL.Path, "/"))
	}, "", nil)
	site := w.site
	asks := []string{
		site + "/a.json", site + "/a.json", site + "/private/b.json", "https://other.example/c.json", "file:///etc/passwd",
	}
	for i := range 40 {
		asks = append(asks, fmt.Sprintf("%s/n%d", site, i))
	}
	p := &player{asks: asks}
	w.trial.Other, w.trial.Browser = []fetch.Field{{Name: "cookie", Value: "consent=yes"}}, p
	u := w.uri(t, "/")
	all, err := w.trial.Run(t.Context(), w.client, u, time.Now())
	if err != nil || len(all) != 3 || all[2].Name != whatif.Rendered || all[2].Rendering == nil {
		t.Fatalf("%+v, %v", all, err)
	}
	r := all[2].Rendering
	if r.Title != "news" || r.Links != 2 || r.SourceLinks != 1 || len(asked) != 31 || len(w.rests) != 32 {
		t.Errorf("%+v; %d requests had the cookie, %d rests", r, len(asked), len(w.rests))
	}
	got := map[string]string{}
	for _, q := range r.Requests {
		got[strings.TrimPrefix(q.URI, site)] = fmt.Sprint(q.Status, " ", q.Why)
	}
	for uri, want := range map[string]string{
		"/a.json": "200 ", "/private/b.json": "0 robots.txt forbids it", "https://other.example/c.json": "0 it is on another host",
		"/n28": "200 ", "/n29": "0 30 requests were made",
		"/over": "0 the rendering ended before; see render.limit",
	} {
		if got[uri] != want {
			t.Errorf("%s: %q, want %q", uri, got[uri], want)
		}
	}
	if got["file:///etc/passwd"] == "" || len(r.Requests) != len(asks) || p.requests != 500 {
		t.Errorf("%d requests are listed, want each URI once, and at most %d are answered: %v", len(r.Requests), p.requests, got)
	}
	p.asks = []string{site + "/large1", site + "/large1", site + "/large2", site + "/large3", site + "/small"}
	all, err = w.trial.Run(t.Context(), w.client, u, time.Now())
	if err != nil || len(all) != 3 || all[2].Rendering == nil {
		t.Fatalf("a page of many bytes: %+v, %v", all, err)
	}
	statuses := ""
	for _, q := range all[2].Rendering.Requests {
		statuses += fmt.Sprint(q.Status, " ", q.Why, "\n")
	}
	if want := "200 \n200 \n0 the answers of the page are longer than 67108864 bytes\n200 \n"; !strings.HasPrefix(statuses, want) {
		t.Errorf("a page of many bytes:\n%s", statuses)
	}
	if all, err = w.trial.Run(t.Context(), w.client, w.uri(t, "/broken.html"), time.Now()); err != nil || len(all) != 3 || all[2].Error == "" || all[1].Status != 200 {
		t.Errorf("a page whose compression is broken: %+v, %v", all, err)
	}
	w.trial.Other = nil
	if all, err = w.trial.Run(t.Context(), w.client, u, time.Now()); err != nil || len(all) != 2 || all[1].Rendering != nil || all[1].Error == "" {
		t.Errorf("a page that is refused: %+v, %v", all, err)
	}
}
