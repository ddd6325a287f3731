package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// newcomer is somebody who uses the program for the first time.
type newcomer struct {
	*testing.T
	arcrawl, conf, host string // the program, the main file, the host's file
	dashboard           string // address
}

// says runs a command and returns its output. The test fails if the exit code is not want.
func (n newcomer) says(want int, args ...string) string {
	n.Helper()
	out, errs := ending(n.T, want, append(args, "--config", n.conf)...)
	return out + errs
}

func (n newcomer) write(name, text string) {
	n.Helper()
	daemontest.WriteFile(n.T, name, text)
}

// until waits until a condition holds.
func (n newcomer) until(what string, so func() bool) {
	n.Helper()
	for giveUp := time.Now().Add(daemontest.Patience); time.Now().Before(giveUp); time.Sleep(100 * time.Millisecond) {
		if so() {
			return
		}
	}
	n.Fatalf("after %s it is still not so that %s", daemontest.Patience, what)
}

func (n newcomer) status() (s api.Status) {
	n.Helper()
	if err := json.Unmarshal([]byte(n.says(cli.ExitOK, "status", "--json")), &s); err != nil {
		n.Fatal(err)
	}
	return s
}

func mustContain(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in:\n%s", w, text)
		}
	}
}

// TestANewcomerFollowsTheCuratorsGuide follows docs/curators.md. A mistake in a host file is reported, fixed, and
// applied without a restart. The dashboard shows the versions of the front page, and why explains a wait.
func TestANewcomerFollowsTheCuratorsGuide(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	var asked atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		headline := "About us"
		if r.URL.Path == "/" {
			headline = fmt.Sprintf("Headline %d", asked.Add(1)/2) // however seldom a busy machine visits the page
		}
		fmt.Fprintf(w, `<title>News</title><span class="clock">%d</span><h1>%s</h1><a href="/about">about</a>`, time.Now().UnixNano(), headline)
	}))
	t.Cleanup(site.Close)
	host := strings.TrimPrefix(site.URL, "http://")
	address, err := demosite.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	n := newcomer{
		T: t, arcrawl: built.In(t, dir), conf: filepath.Join(dir, "arcrawl.toml"), dashboard: "http://" + address,
		host: filepath.Join(dir, "hosts.d", strings.ReplaceAll(host, ":", "_")+".toml"),
	}

	// The main file, and a host file with two mistakes: both are reported at once, with their places and remedies.
	ending(t, cli.ExitOK, "init", dir)
	n.write(n.conf, fmt.Sprintf("[operator]\nname = \"National Library\"\ncontact = \"https://library.example/crawler\"\n[storage]\nmin_free = \"1MB\"\n"+
		"[fetch]\nallow_networks = [\"127.0.0.0/8\"]\n[admin]\nlisten = %q\n", address))
	mustContain(t, n.says(cli.ExitOK, "seeds", "add", site.URL+"/"), n.host)
	good := fmt.Sprintf("host = %q\n[seeds]\nuris = [%q]\n[politeness]\nmin_delay = \"50ms\"\n[[wait]]\nmime = \"^text/html.*\"\ninitial = \"1s\"\nmin = \"500ms\"\nmax = \"2s\"\n"+
		"[change]\nmode = \"scrubbed\"\nscrub_css = [\"span.clock\"]\n", host, site.URL+"/")
	bad := strings.Replace(strings.Replace(good, "initial", "inital", 1), `"2s"`, `"2 seconds"`, 1)
	n.write(n.host, bad)
	mustContain(t, n.says(cli.ExitConfig, "check"), n.host+`:8:1: wait.inital: unknown key; did you mean "initial"?`, n.host+":10:7: wait.max:", "write")
	n.write(n.host, good)
	mustContain(t, n.says(cli.ExitOK, "check"), "is valid: 1 seed,")

	d := daemontest.StartProcess(t, n.arcrawl, n.conf)
	n.until("the daemon answers", func() bool {
		return realMain([]string{"status", "--config", n.conf}, io.Discard, io.Discard) == cli.ExitOK
	})
	n.until("the front page was captured some times", func() bool { return n.status().LastDay.Versions >= 6 })
	if f := n.status().Archive.Files; len(f) != 1 || f[0].Size < 1000 {
		t.Errorf("the files of the archive that grow: %+v, want one", f)
	}

	// A mistake while the crawl runs changes only the status. When it is fixed, the file is in force without a restart.
	n.write(n.host, strings.Replace(good, `"500ms"`, `"500"`, 1))
	n.until("the status shows the fault", func() bool { return len(n.status().Config.Faults) == 1 })
	mustContain(t, n.says(cli.ExitOK, "status"), "crawling", n.host, "wait.min", "has 1 fault and is not in force")
	before := n.status().LastDay.Visits
	n.until("the crawl continues with the last good configuration", func() bool { return n.status().LastDay.Visits > before })
	n.write(n.host, strings.Replace(good, `"500ms"`, `"400ms"`, 1))
	n.until("the fixed file is in force", func() bool { s := n.status(); return len(s.Config.Faults) == 0 && s.Started.Before(s.Config.Loaded) })
	if text := n.says(cli.ExitOK, "status"); strings.Contains(text, "not in force") {
		t.Errorf("the status still shows a fault:\n%s", text)
	}
	mustContain(t, n.says(cli.ExitOK, "effective", host, "--set"), `"400ms"`, filepath.Base(n.host)+":9")

	// why explains that a page without changes is visited less often, and that another URI is not crawled.
	mustContain(t, n.says(cli.ExitOK, "why", site.URL+"/about"), "because", "unchanged:", "by the path L", "robots.txt")
	mustContain(t, n.says(cli.ExitOK, "why", "http://other.example/"), "other.example is not a host of the seeds")

	n.seeVersions(site.URL + "/")
	d.Terminate(t)
}

// seeVersions waits until the dashboard shows three versions of a page.
func (n newcomer) seeVersions(page string) {
	n.Helper()
	tokens, err := access.List(filepath.Join(filepath.Dir(n.conf), "state", "admin.token"))
	if err != nil || len(tokens) != 1 {
		n.Fatalf("tokens %v, %v; want one", tokens, err)
	}
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.pass(w, r, tokens[0].Secret)
	}))
	n.Cleanup(open.Close)
	p := browser.Open(n.T, 1280, 1000)
	p.Go(open.URL + "/#/uri?u=" + strings.NewReplacer(":", "%3A", "/", "%2F").Replace(page))
	p.Wait(`document.querySelectorAll("svg.timeline rect.k1").length >= 3`)
	text, err := strconv.Unquote(p.Eval(`document.body.innerText`))
	if err != nil {
		n.Fatal(err)
	}
	mustContain(n.T, text, page, "as a seed", "Visit now", "changed", "unchanged")
}

// pass sends a request to the dashboard with the token, as a browser does after a login.
func (n newcomer) pass(w http.ResponseWriter, r *http.Request, token string) {
	ask, err := http.NewRequestWithContext(r.Context(), r.Method, n.dashboard+r.URL.RequestURI(), r.Body)
	if err != nil {
		n.Error(err)
		return
	}
	ask.SetBasicAuth("curator", token)
	got, err := http.DefaultClient.Do(ask)
	if err != nil {
		return // the browser has left
	}
	defer got.Body.Close()
	w.Header().Set("Content-Type", got.Header.Get("Content-Type"))
	w.WriteHeader(got.StatusCode)
	_, _ = io.Copy(w, got.Body)
}
