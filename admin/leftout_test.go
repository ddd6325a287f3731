package admin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestAPageSaysWhatItLeavesOut opens the list of hosts, whose answer leaves out a node, and the page without one.
func TestAPageSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	w := newWorld(t, t.TempDir(), everyHour, func(o *Options) { o.Now = time.Now })
	h := w.window.Handler(access.Options{})
	s := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		if from.URL.Path == api.Base+"/hosts" {
			to.Header().Set(api.MissingHeader, "not in this answer: node <b>c</b> cannot be asked")
		}
		h.ServeHTTP(to, from)
	}))
	t.Cleanup(s.Close)
	p := browser.Open(t, 1280, 900)
	p.Go(s.URL + "/#/hosts")
	p.Wait(`document.querySelector('#view[data-ready] .notice')`)
	want := "Not of the whole crawl (hosts): not in this answer: node <b>c</b> cannot be asked"
	if got := p.Eval(`document.querySelector('.notice').textContent`); !strings.Contains(got, want) {
		t.Errorf("the page says %q, want %q", got, want)
	}
	p.Go(s.URL + "/#/config")
	p.Wait(`document.querySelector('#view').dataset.ready === 'config'`)
	if got := p.Eval(`document.querySelector('#view').textContent`); strings.Contains(got, "Not of the whole crawl") {
		t.Errorf("another page says %q", got)
	}
}
