package render_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/render"
	"github.com/arcrawl/arcrawl/render/chromium"
)

// match is a site with a liveblog: a page with the newest five entries, and a button that loads five older ones.
type match struct {
	mu      sync.Mutex
	entries int
	edition int      // of the page; it is rendered when this changes
	asked   []string // for older entries, since they were last taken
}

func (m *match) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r.URL.Path {
	case "/live.html":
		w.Header().Set("Content-Type", "text/html")
		list, next := m.older(m.entries)
		fmt.Fprintf(w, `<!DOCTYPE html><title>Match</title><!-- %d --><main><ol>%s</ol></main>
			<button class="more" data-next="%s">Load more</button><script>
			const more = document.querySelector(".more"), ol = document.querySelector("ol");
			more.onclick = async () => {
				const got = await (await fetch("/older.json?before=" + more.dataset.next)).json();
				ol.insertAdjacentHTML("beforeend", got.list);
				more.dataset.next = got.next;
				if (!got.next) more.remove();
			}</script>`, m.edition, list, next)
	case "/older.json":
		w.Header().Set("Content-Type", "application/json")
		m.asked = append(m.asked, r.URL.RawQuery)
		before, _ := strconv.Atoi(r.URL.Query().Get("before"))
		list, next := m.older(before - 1)
		_ = json.NewEncoder(w).Encode(map[string]string{"list": list, "next": next})
	default:
		http.NotFound(w, r)
	}
}

// older returns the five entries up to one, and where the next ones begin.
func (m *match) older(from int) (list, next string) {
	last := max(from-5, 0)
	for i := from; i > last; i-- {
		list += fmt.Sprintf("<li><time>%d minutes ago</time> Minute %d: this happened on the pitch then.</li>", m.entries-i, i)
	}
	if last > 0 {
		next = strconv.Itoa(last + 1)
	}
	return list, next
}

// take returns what was asked for since it was last called, and adds entries.
func (m *match) take(more int) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked := m.asked
	m.entries, m.asked = m.entries+more, nil
	return asked
}

// publish makes another edition of the page.
func (m *match) publish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.edition++
}

// TestACrawlClicksThroughALiveblog crawls a liveblog that grows. The first rendering captures all entries; the later
// ones ask the site only for entries that the crawl does not have.
func TestACrawlClicksThroughALiveblog(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	if _, err := chromium.Find(""); err != nil {
		if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") == "1" {
			t.Fatal(err)
		}
		t.Skipf("run scripts/test-deps: %v", err)
	}
	m := &match{entries: 13}
	site := httptest.NewServer(m)
	defer site.Close()
	l := daemontest.StartIn(t, t.TempDir(), []func() daemon.Wing{render.Wing}, func(dir, main string) string {
		daemontest.Write(t, filepath.Join(dir, "hosts.d", "site.toml"), "host = \""+strings.TrimPrefix(site.URL, "http://")+`"
[scope]
speculative = false
[[when]]
uri = '/live\.html$'
wait = [{ mime = ".*", rule = "classic", initial = "1s", min = "1s", max = "1s" }]
[when.render]
pages = "changed"
limit = "5m"
keep = "text"
[[when.render.do]]
wait = "ol"
[[when.render.do]]
preset = "load-more"
`)
		return regexp.MustCompile(`uris = \[.*\]`).ReplaceAllString(main, fmt.Sprintf("uris = [%q]", site.URL+"/live.html"))
	})
	failed := 0
	for i, c := range []struct {
		more  int
		asked []string
	}{
		{2, []string{"before=9", "before=4"}},
		{10, nil},
		{0, []string{"before=21", "before=16"}},
	} {
		for end := time.Now().Add(5 * time.Minute); strings.Count(l.Text(), "did a step of a rendering") < 2*(i+1); {
			if time.Now().After(end) {
				t.Fatalf("rendering %d did not come in time:\n%s", i+1, l.Text())
			}
			if n := strings.Count(l.Text(), "could not render a page"); n > failed { // a browser may not start under load
				failed = n
				m.publish()
			}
			time.Sleep(20 * time.Millisecond)
		}
		if got := m.take(c.more); !slices.Equal(got, c.asked) {
			t.Errorf("rendering %d asked for %q, want %q\n%s", i+1, got, c.asked, l.Text())
		}
	}
}
