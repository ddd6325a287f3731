package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

func TestCandidatesArePagesThatAlwaysChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf := filepath.Join(dir, "arcrawl.toml")
	if err := os.WriteFile(conf, []byte("[operator]\nname = \"Test\"\ncontact = \"crawler@library.example\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now().Truncate(time.Millisecond) // as the store keeps due times
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	settle := func(address, visits string, look evaluators.Look) {
		u, err := uri.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Add(now, frontier.Candidate{URI: u}); err != nil {
			t.Fatal(err)
		}
		claim, ok, err := f.Claim(now)
		if err != nil || !ok {
			t.Fatal("nothing to claim", err)
		}
		r := claim.Record
		for _, c := range visits {
			r.Recent = r.Recent.Push(digest.Of([]byte(string(c))))
		}
		r.Due, r.Look = now.Add(time.Hour), look.Bytes()
		if _, err := f.Settle(claim, frontier.Settlement{Record: r, Finished: now}); err != nil {
			t.Fatal(err)
		}
	}
	settle("http://restless.example/", "abcdefgh", evaluators.Look{})
	settle("http://flapping.example/", "abababab", evaluators.Look{})
	settle("http://quiet.example/", "aaaabbbb", evaluators.Look{})
	settle("http://clock.example/", "abc", evaluators.Look{Finding: evaluators.Restless, Since: now})
	settle("http://token.example/", "abc", evaluators.Look{Finding: evaluators.Live, View: evaluators.SeenExact, Since: now})
	settle("http://silenced.example/", "abc", evaluators.Look{View: evaluators.SeenSilenced, Silencer: "s#clock", Since: now})
	settle("http://ticker.example/", "abcdefgh", evaluators.Look{Finding: evaluators.Live, Since: now})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out := succeed(t, "scrub", "suggest", "--config", conf)
	if !strings.Contains(out, "restless.example/  changed at each") || !strings.Contains(out, "flapping.example/  goes back and forth") || strings.Contains(out, "quiet") ||
		!strings.Contains(out, "clock.example/     restless: ") || !strings.Contains(out, "token.example/     noisy: ") ||
		!strings.Contains(out, "silenced.example/  noisy: ") || !strings.Contains(out, "match: scrub_css = ['#clock']  ") || strings.Contains(out, "ticker") {
		t.Errorf("candidates:\n%s", out)
	}

	// A running daemon has the store; it answers the same.
	c, err := config.Load(conf)
	if err != nil {
		t.Fatal(err)
	}
	d, err := daemon.Open(c, daemon.Options{
		Log: zerolog.Nop(), SharedProcess: true, Hangup: make(chan os.Signal), Notify: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if asked := succeed(t, "scrub", "suggest", "--config", conf); asked != out {
		t.Errorf("the running daemon answers\n%s\nwant\n%s", asked, out)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestSuggestFetchesTwiceIfRobotsAllow(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nDisallow: /closed\n")
			return
		}
		if r.Header.Get("Accept-Language") != "da" || r.Header.Get("Cookie") != "consent=yes" {
			http.Error(w, "a wall", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<h1>News</h1><p>A story.</p><b class="visits">%d</b>`, visits.Add(1))
	}))
	defer site.Close()
	dir := t.TempDir()
	conf := filepath.Join(dir, "arcrawl.toml")
	main := "[operator]\nname = \"Test\"\ncontact = \"crawler@library.example\"\n[fetch]\nallow_networks = [\"127.0.0.0/8\"]\n"
	host := strings.TrimPrefix(site.URL, "http://")
	own := "host = \"" + host + "\"\n[fetch]\ncookie = \"consent=yes\"\n[request]\nheaders = [{ name = \"Accept-Language\", value = \"da\" }]\n"
	if err := os.Mkdir(filepath.Join(dir, "hosts.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, conf, main)
	daemontest.WriteFile(t, filepath.Join(dir, "hosts.d", "site.toml"), own)
	if rules := succeed(t, "scrub", "suggest", "--fetch", "--pause", "1ms", "--config", conf, site.URL+"/"); !strings.Contains(rules, "b.visits") {
		t.Errorf("suggest says:\n%s", rules)
	}
	var out, errs bytes.Buffer
	code := realMain([]string{"scrub", "suggest", "--fetch", "--pause", "1ms", "--config", conf, site.URL + "/closed"}, &out, &errs)
	if code == cli.ExitOK || !strings.Contains(errs.String(), "forbids") || visits.Load() != 2 {
		t.Errorf("a page that robots.txt forbids: exit code %d, %s, %d visits", code, &errs, visits.Load())
	}
}

// A second look leaves two versions of one moment in the archive. That is enough to find the rule.
func TestCandidatesComeWithTheRuleThatSilencesThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	conf := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, conf, "[operator]\nname = \"Test\"\ncontact = \"crawler@library.example\"\n")
	w, _, err := warcout.Open(warcout.Options{Dir: filepath.Join(dir, "warc")}, now)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		at := now.Add(time.Duration(i) * 5 * time.Second)
		body := "<body><p>Council rejects ferry</p><span id=clock>" + at.Format(time.TimeOnly) + "</span>"
		if err := storePage(w, at, uri.FromCanonical("http://www.news.example/"), body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	r := frontier.Record{URI: uri.FromCanonical("http://www.news.example/")}
	r.Visits, r.Versions, r.Restless, r.Due = 9, 9, true, now.Add(time.Hour)
	r.Look = evaluators.Look{Finding: evaluators.Restless, Since: now}.Bytes()
	_, err = f.Import(now, false, frontier.Entry{Record: r})
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	out := succeed(t, "scrub", "suggest", "--rules", "--config", conf)
	for _, want := range []string{
		"http://www.news.example/  restless: ", "[0-9]+:[0-9]+:[0-9]+<', # ", "arcrawl scrub suggest --write http://www.news.example/",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("candidates do not say %q:\n%s", want, out)
		}
	}
}

// A damaged file is named, and the versions in the other files are read.
func TestScrubTestReadsBesideDamage(t *testing.T) {
	t.Parallel()
	dir, files := archivetest.TwoFiles(t)
	content, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, filepath.Join(dir, "torn.warc.gz"), string(content[:len(content)-20]))
	conf, _ := daemontest.Configure(t, daemontest.Settled+"[change]\nscrub = ['nothing']\n")
	code, out, errs := command("scrub", "test", "-c", conf, "--warcs", dir, "http://www.a.example/")
	if code != cli.ExitDamaged || !strings.Contains(out, " versions:") || !strings.Contains(errs, "torn.warc.gz:") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}
