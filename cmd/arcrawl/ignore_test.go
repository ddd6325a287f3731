package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestADifferenceBecomesARuleInTheDashboard compares two versions of a page that curators see, ignores a number of
// readers, and saves the rule, which needs a second look at a host file that somebody else has changed. Then the list
// of pages that differ at each fetch is opened. Both pages are accessible.
func TestADifferenceBecomesARuleInTheDashboard(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	axe, visits := foreign.Axe(t), 0
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		visits++
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<title>Harbour news</title>\n<h1>The ferry leaves at %d:30</h1>\n<p class=readers>Now %d readers</p>\n%s", 6+visits, 40+visits,
			strings.Repeat("<p>Tickets are sold on board. The crossing takes twenty minutes.</p>\n", 12))
	}))
	t.Cleanup(site.Close)
	l := daemontest.StartIn(t, t.TempDir(), daemonWings(), func(_, main string) string {
		main = regexp.MustCompile(`uris = \[.*\]`).ReplaceAllString(main, fmt.Sprintf("uris = [%q]", site.URL+"/"))
		return main + "[[wait]]\nmime = \".*\"\nrule = \"classic\"\ninitial = \"1s\"\nmin = \"1s\"\nmax = \"1s\"\n"
	})
	l.WaitFor(t, "serving the admin API")
	for n := 0; n < 2; {
		if r := <-l.Visits; r.URI.String() == site.URL+"/" && r.Status == http.StatusOK {
			n++
		}
	}
	origin := regexp.MustCompile(`"at":"(http://[^"]+)","tokens"`).FindStringSubmatch(l.Text())[1]
	token, err := os.ReadFile(filepath.Join(l.Dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(token))
	b := browser.Open(t, 1100, 800)
	b.Go(origin + "?token=" + fields[len(fields)-1])
	accessible := func() {
		t.Helper()
		b.Eval(axe + "; 0")
		faults := b.Eval(`axe.run(document).then((r) => r.violations.map((v) => v.help + ": " + v.nodes.map((n) => n.html).join()))`)
		if faults != "[]" {
			t.Error(faults)
		}
	}
	b.Go(origin + "#/uri?u=" + url.QueryEscape(site.URL+"/"))
	b.ClickOn(`[...document.querySelectorAll("a")].findLast(a => a.textContent === "compare")`)
	b.Wait(`document.getElementById("view").innerText.includes("unchanged lines")`)
	b.Eval(`[...document.querySelectorAll("tr")].find(r => r.innerText.includes("readers")).querySelector("button").click()`)
	b.Wait(`document.querySelector("pre.diff")?.textContent.includes("readers")`)
	browser.Keep(t, "ignore-light", b.Screenshot())
	hidden := regexp.MustCompile(`1 part hidden: Now \d+ readers`) // of the last ten versions
	if got := b.Eval(`document.querySelector("section.panel").innerText`); !hidden.MatchString(got) || !strings.Contains(got, "with the rule") {
		t.Errorf("the preview says %s", got)
	}
	host := filepath.Join(l.Dir, "hosts.d", strings.NewReplacer(":", "_").Replace(site.Listener.Addr().String())+".toml")
	save := `[...document.querySelectorAll("section.panel button")].find(b => b.textContent.startsWith("Save to")).click()`
	daemontest.Write(t, host, "host = \""+site.Listener.Addr().String()+"\"\n# a note of somebody else\n")
	b.Eval(save)
	b.Wait(`document.querySelector("section.panel .notice.bad")?.textContent.includes("was changed since the preview; nothing was written")`)
	if text, err := os.ReadFile(host); err != nil || strings.Contains(string(text), "scrub") {
		t.Errorf("the file of somebody else became %q, %v", text, err)
	}
	b.Eval(`[...document.querySelectorAll("section.panel button")].find(b => b.textContent === "Show the effect").click()`)
	b.Wait(`document.querySelector("pre.diff")?.textContent.includes("somebody else")`)
	b.Eval(save)
	b.Wait(`document.querySelector("section.panel .notice.good")`)
	if text, err := os.ReadFile(host); err != nil || !strings.Contains(string(text), "readers") || !strings.Contains(string(text), "# a note of somebody else") {
		t.Errorf("the host file became %q, %v", text, err)
	}
	l.WaitFor(t, "\"order\":\"ignore\"")
	b.Wait(`document.getElementById("view").innerText.includes("hidden by the rules of the site")`)
	b.Wait(`fetch("/api/v1/audit?days=1").then(r => r.text()).then(s => s.includes("ignore"))`)
	accessible()
	b.Wait(`fetch("/api/v1/noise").then(r => r.text()).then(s => s.includes("changed at each"))`)
	b.Go(origin + "#/noise?host=" + url.QueryEscape(site.Listener.Addr().String()))
	b.Wait(`document.querySelector("h1").textContent.startsWith("Pages that differ at each fetch: ") && document.querySelector("main table") !== null`)
	if got := b.Eval(`document.body.innerText`); !strings.Contains(got, "changed at each of the last ") {
		t.Errorf("the list of pages is %s", got)
	}
	accessible()
}
