package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/lab/sim"
	"github.com/arcrawl/arcrawl/uri"
)

const tunedPage = "http://random.example/random1"

// visitedLog writes the log of a crawl that visited the pages of a source of the invented histories every six hours. It
// returns the time of its last visit.
func visitedLog(t *testing.T, path string) (last time.Time) {
	t.Helper()
	all, err := sim.ReadFile(inventedHistories)
	must(t, err)
	var log []byte
	for _, h := range all {
		if h.Source != "random" {
			continue
		}
		passed, version := 0, 0
		for after := time.Duration(0); after <= h.Watched; after += 6 * time.Hour {
			for passed < len(h.Changes) && h.Changes[passed] <= after {
				passed++
			}
			e := crawllog.Entry{
				Logged: h.Start.Add(after), Status: 200, Size: 7, URI: "http://" + h.Host + "/" + h.ID, MIME: "text/html", Started: h.Start.Add(after),
				Took: time.Second, Digest: digest.Of(fmt.Append(nil, h.ID, passed)),
			}
			if after > 0 && passed == version {
				e.Annotations = []string{crawllog.Unchanged}
			}
			version = passed
			log = e.AppendTo(log, false)
			log = append(log, '\n')
			last = h.Start.Add(after)
		}
	}
	log = append(log, "a line of something else\n"...)
	must(t, os.WriteFile(path, log, 0o600))
	return last
}

func TestSimReportsWhatACrawlLogLacks(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "crawl.log")
	visitedLog(t, log)
	for file, said := range map[string]bool{log: true, inventedHistories: false} {
		if code, out, errs := simulated("--policies", "classic", "--draws", "5", file); code != cli.ExitOK || strings.Contains(out, "no visit saw") != said {
			t.Errorf("%s: exit code %d, %s\n%s", file, code, errs, out)
		}
	}
}

func TestSimPlaysACrawlLogAndWholeConfigurations(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	log := filepath.Join(dir, "crawl.log")
	visitedLog(t, log)
	often, seldom := filepath.Join(dir, "often.toml"), filepath.Join(dir, "seldom.toml")
	daemontest.WriteFile(t, often, daemontest.Settled+"[[wait]]\nmime = \".*\"\nrule = \"fixed\"\nevery = \"1h\"\n")
	daemontest.WriteFile(t, seldom, daemontest.Settled+"[[wait]]\nmime = \".*\"\nrule = \"fixed\"\nevery = \"12h\"\n")
	for _, more := range [][]string{nil, {"--polite"}} {
		code, out, errs := simulated(append(more, "--config", often, "--config", seldom, "--json", log)...)
		var results []sim.Result
		if err := json.Unmarshal([]byte(out), &results); code != cli.ExitOK || err != nil || len(results) != 2 {
			t.Fatalf("%v: exit code %d, %v, %s\n%s", more, code, err, errs, out)
		}
		a, b := results[0].Total, results[1].Total
		if results[0].Policy != often || a.Requests < 10*b.Requests || a.Captured <= b.Captured {
			t.Errorf("%v: hourly %+v, each 12 hours %+v", more, a, b)
		}
	}
	code, out, errs := simulated("--explain", tunedPage, "--config", seldom, log)
	if code != cli.ExitOK || strings.Count(out, "every 12h") < 70 {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	if code, _, errs := simulated("--explain", "http://else.example/", log); code != cli.ExitFailure || !strings.Contains(errs, "no history has this id") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

func TestTuneRecommendsMoreCapturesForTheSameRequests(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	log, path := filepath.Join(dir, "crawl.log"), filepath.Join(dir, "arcrawl.toml")
	visitedLog(t, log)
	daemontest.WriteFile(t, path, daemontest.Settled+"[[wait]]\nmime = \".*\"\nrule = \"fixed\"\nevery = \"12h\"\n")
	code, out, errs := command("tune", "-c", path, "--cost", "1.2", "random.example", log)
	if code != cli.ExitOK || !strings.Contains(out, "\n[[wait]]\nmime = '.*'\nrule = \"") || !strings.Contains(out, "→") || !strings.Contains(out, "hosts.d") && !strings.Contains(out, "random.example.toml") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	if code, _, errs := command("tune", "-c", path, "else.example", log); code != cli.ExitFailure || !strings.Contains(errs, "none of its URIs has two visits") {
		t.Errorf("a host that is not in the log: exit code %d, %s", code, errs)
	}
}

func TestPrimeLearnsFromTheFrontier(t *testing.T) {
	dir := t.TempDir()
	log, path := filepath.Join(dir, "old.log"), filepath.Join(dir, "arcrawl.toml")
	last := visitedLog(t, log)
	daemontest.WriteFile(t, path, daemontest.Settled+"[[wait]]\nmime = \".*\"\nrule = \"learned\"\n")
	state := filepath.Join(dir, "state")
	f, err := frontier.Open(frontier.Options{Dir: state, Now: last})
	must(t, err)
	page, err := uri.Parse(tunedPage)
	must(t, err)
	_, err = f.Add(last, frontier.Candidate{URI: page, Seed: page.String()})
	must(t, f.Close())
	must(t, err)
	for _, run := range []struct {
		args []string
		want string
	}{
		{[]string{"--dry-run"}, "1 URI would be primed, 0 unchanged because of a later visit, 7 unknown"},
		{nil, "1 URI primed, 0 unchanged because of a later visit, 7 unknown"},
		{[]string{"--add"}, "1 URI primed, 0 unchanged because of a later visit, 7 unknown, 7 added"},
	} {
		code, out, errs := command(append([]string{"prime", "-c", path, log}, run.args...)...)
		if code != cli.ExitOK || !strings.Contains(out, run.want) || !strings.Contains(out, "1 line skipped") {
			t.Fatalf("%v: exit code %d, %s\n%s", run.args, code, errs, out)
		}
	}
	if f, err = frontier.Open(frontier.Options{Dir: state, Now: last}); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, ok, err := f.Get(page)
	if err != nil || !ok || r.Rate < 2 || r.Rate > 40 || new(rate.Estimator).Open(rate.Memory(r.Memory)) != nil ||
		len(r.Memory) == 0 || r.Wait <= 0 || r.Wait > 12*time.Hour {
		t.Errorf("a page that changes some 16 times a day: %v, %v, %+v", ok, err, r)
	}
}

// The archive of an earlier crawl needs no index.
func TestPrimeReadsAFolderOfWARCFiles(t *testing.T) {
	t.Parallel()
	path, dir := daemontest.Configure(t, daemontest.Settled)
	a := archivetest.Small(t)
	code, out, errs := command("prime", "--add", a.Dir, "-c", path)
	if code != cli.ExitOK || !strings.Contains(out, "6 visits of 3 URIs read") || !strings.Contains(out, "3 added") {
		t.Errorf("prime --add with a folder: exit code %d, %s%s", code, out, errs)
	}
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: time.Now()})
	must(t, err)
	defer f.Close()
	page, err := uri.Parse("http://www.a.example/")
	must(t, err)
	if _, ok, err := f.Get(page); !ok || err != nil {
		t.Errorf("%s is not in the store: %v", page, err)
	}
}

// An OutbackCDX answers with a CDX without a header, pywb with a CDXJ. What it says of other hosts is not believed.
func TestPrimeAsksACDXServer(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.Path+" "+q.Get("url")+" "+q.Get("matchType"))
		switch {
		case q.Get("limit") == "":
			http.Error(w, "no limit", http.StatusBadRequest)
		case r.URL.Path == "/outback":
			fmt.Fprint(w, "com,example)/ 20260101000000 http://example.com/ text/html 200 AAAA - - 100 0 a.warc.gz\n"+
				"com,else)/ 20260101000000 http://else.com/ text/html 200 AAAA - - 100 0 a.warc.gz\n")
		case r.URL.Path == "/pywb/cdx":
			fmt.Fprintln(w, `com,example)/a 20260101000000 {"url":"http://example.com/a","status":"200","digest":"sha1:A","mime":"text/html"}`)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/outback", http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--from", s.URL + "/outback", "--host", "example.com"}, cli.ExitOK, "1 visit of 1 URI read"},
		{[]string{"--from", s.URL + "/pywb/cdx", "--host", "EXAMPLE.com"}, cli.ExitOK, "1 visit of 1 URI read"},
		{[]string{"--from", s.URL + "/empty", "--host", "example.com"}, cli.ExitOK, "example.com: the CDX server has no capture"},
		{[]string{"--from", s.URL + "/moved", "--host", "example.com"}, cli.ExitFailure, "status 302"},
		{[]string{"--from", s.URL + "/outback"}, cli.ExitUsage, "--from needs --host"},
		{[]string{"--from", s.URL, "--host", "example.com"}, cli.ExitUsage, "want the address of a CDX server"},
		{[]string{"--host", "example.com/a", "file"}, cli.ExitUsage, "want the name of a host"},
		{nil, cli.ExitUsage, "there is nothing to read"},
	} {
		path, _ := daemontest.Configure(t, daemontest.Settled)
		code, out, errs := command(append([]string{"prime", "--add", "-c", path}, test.args...)...)
		if code != test.code || !strings.Contains(out+errs, test.want) {
			t.Errorf("prime %q: exit code %d, %s%s, want %d and %q", test.args, code, out, errs, test.code, test.want)
		}
	}
	want := []string{
		"GET /outback http://example.com/ host", "GET /pywb/cdx http://EXAMPLE.com/ host",
		"GET /empty http://example.com/ host", "GET /moved http://example.com/ host",
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(asked, want) {
		t.Errorf("the server was asked for %q, want %q", asked, want)
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheAnswerOfAServerOfTheOperatorIsBounded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want error
	}{{"", nil}, {"12345678", nil}, {"123456789", errAnswerTooLarge}, {strings.Repeat("x", 1000), errAnswerTooLarge}} {
		got := 0
		err := readBounded(strings.NewReader(test.text), 8, func(in io.Reader) error {
			all, err := io.ReadAll(in)
			got = len(all)
			return err
		})
		if !errors.Is(err, test.want) || got > 9 {
			t.Errorf("%d bytes of at most 8: %d read, error %v, want %v", len(test.text), got, err, test.want)
		}
	}
}
