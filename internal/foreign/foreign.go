// Package foreign lets programs of other authors read the output of arcrawl, in tests. npm's warcio reads WARC files,
// its datapackage reads the descriptors of packages, and wabac.js and ReplayWeb.page replay archives in a browser. Our
// own reader and writer may share a mistake; these programs do not. promtool tests the alert rules.
//
// It needs promtool, node, and the modules that `npm ci` installs in this folder. Without them its tests are skipped,
// or fail if the environment has ARCRAWL_REQUIRE_FOREIGN=1. Only test code imports this package.
package foreign

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// limit ends a program that does not end by itself, as warcio on some damaged files.
const limit = 2 * time.Minute

// maxLine is the maximum length of a line of the script, in bytes: a record with a block of about 48 MiB.
const maxLine = 64 << 20

// Record is one record as warcio reads it. Record ids keep their angle brackets.
type Record struct {
	File           string   `json:"file"` // without folder
	Version        string   `json:"version"`
	Type           string   `json:"type"`
	ID             string   `json:"id"`
	Target         string   `json:"target"`
	Date           string   `json:"date"`
	ContentType    string   `json:"contentType"`
	ContentLength  int64    `json:"contentLength"`
	IP             string   `json:"ip"`
	Warcinfo       string   `json:"warcinfo"`
	ConcurrentTo   []string `json:"concurrentTo"`
	Profile        string   `json:"profile"`
	RefersTo       string   `json:"refersTo"`
	RefersToTarget string   `json:"refersToTarget"`
	RefersToDate   string   `json:"refersToDate"`
	Truncated      string   `json:"truncated"`

	BlockDigest     string `json:"blockDigest"`     // as the header says
	PayloadDigest   string `json:"payloadDigest"`   // as the header says
	ComputedBlock   string `json:"computedBlock"`   // of the bytes
	ComputedPayload string `json:"computedPayload"` // of the body with its transfer encoding undone; empty without HTTP
	PayloadLength   int64  `json:"payloadLength"`   // of the same

	Status string   `json:"status"` // first line of the HTTP head
	Block  []byte   `json:"block"`
	Offset int64    `json:"offset"` // of the compressed record
	Length int64    `json:"length"` // of the same
	Errors []string `json:"errors"` // faults of the record
}

// Records returns the records of the files, in the given order. It fails the test if warcio cannot read a file to its
// end, warns, or finds no record. Faults of single records are in Record.Errors.
func Records(t testing.TB, files ...string) []Record {
	t.Helper()
	script := filepath.Join(installed(t, "warcio"), "check.mjs")
	out, errs, err := run(t, Node(t), append([]string{script}, files...)...)
	if err != nil {
		t.Fatalf("warcio on %q: %v\n%s", files, err, errs)
	}
	records, ends := parse(t, out)
	if ends != len(files) {
		t.Fatalf("warcio ended %d of %d files\n%s", ends, len(files), errs)
	}
	return records
}

// run runs a program and returns what it prints.
func run(t testing.TB, program string, args ...string) (out, errs string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var o, e strings.Builder
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &o, &e, time.Second
	err = cmd.Run()
	return o.String(), e.String(), err
}

// parse parses the output of the script.
func parse(t testing.TB, out string) (records []Record, ends int) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var line struct {
			Record
			End      string   `json:"end"`
			Warnings []string `json:"warnings"`
			Count    int      `json:"count"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("warcio's line %.200q: %v", lines.Text(), err)
		}
		if line.End == "" {
			records = append(records, line.Record)
			continue
		}
		ends++
		if len(line.Warnings) > 0 || line.Count == 0 {
			t.Errorf("warcio read %d records of %s and warned %q", line.Count, line.End, line.Warnings)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("read what warcio printed: %v", err)
	}
	return records, ends
}

// Node returns the path of the program that runs JavaScript, or skips the test.
func Node(t testing.TB) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "node", err)
	}
	return node
}

// Promtool runs the program that checks rules of Prometheus, and returns what it printed. It skips the test if the
// program is not installed.
func Promtool(t testing.TB, args ...string) (printed string, err error) {
	t.Helper()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		missing(t, "promtool", err)
	}
	out, errs, err := run(t, tool, args...)
	return out + errs, err
}

// installed returns the path of this folder if an npm module is installed in it, or skips the test.
func installed(t testing.TB, module string) string {
	t.Helper()
	dir := filepath.Join(moduleRoot(t), "internal", "foreign")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", module, "package.json")); err != nil {
		missing(t, "npm's "+module, err)
	}
	return dir
}

func missing(t testing.TB, what string, err error) {
	t.Helper()
	say := t.Skipf
	if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") == "1" {
		say = t.Fatalf
	}
	say("%s is not installed (run scripts/test-deps): %v", what, err)
}

// ReplayWorker returns the path of the service worker of wabac.js, the engine of ReplayWeb.page, or skips the test.
func ReplayWorker(t testing.TB) string {
	t.Helper()
	return filepath.Join(installed(t, "@webrecorder/wabac"), "node_modules", "@webrecorder", "wabac", "dist", "sw.js")
}

// DataPackage validates the descriptor of a data package with npm's datapackage, and returns the faults.
func DataPackage(t testing.TB, descriptor string) []string {
	t.Helper()
	out, errs, err := run(t, Node(t), filepath.Join(installed(t, "datapackage"), "datapackage.mjs"), descriptor)
	if err != nil {
		t.Fatalf("datapackage on %s: %v\n%s", descriptor, err, errs)
	}
	var faults []string
	if err := json.Unmarshal([]byte(out), &faults); err != nil {
		t.Fatalf("datapackage printed %q: %v", out, err)
	}
	return faults
}

// WabacAnswer holds what wabac.js got for a URI.
type WabacAnswer struct {
	Status   int
	Date     time.Time
	To, Text string // the target of a redirect; the payload
}

// Wabac returns what wabac.js gets for captures, each as TIMESTAMP/URI, from an archive elsewhere. The archive has them
// under prefix and answers who sends a token.
func Wabac(t testing.TB, prefix, token string, captures ...string) (got []WabacAnswer) {
	t.Helper()
	script := filepath.Join(installed(t, "@webrecorder/wabac"), "wabac.mjs")
	out, errs, err := run(t, Node(t), append([]string{script, prefix, token}, captures...)...)
	if err != nil {
		t.Fatalf("wabac.js: %v\n%s", err, errs)
	}
	for line := range strings.Lines(out) {
		var a WabacAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("wabac.js printed %q: %v", line, err)
		}
		got = append(got, a)
	}
	return got
}

// DuckDB returns what DuckDB answers to a query: rows of texts, numbers and nil. Files of the query are named as paths.
func DuckDB(t testing.TB, query string) (rows [][]any) {
	t.Helper()
	out, errs, err := run(t, Node(t), filepath.Join(installed(t, "@duckdb/node-api"), "duckdb.mjs"), query)
	if err != nil {
		t.Fatalf("DuckDB: %v\n%s\n%s", err, errs, query)
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatalf("DuckDB printed %q: %v", out, err)
	}
	return rows
}

// moduleRoot returns the root of the module. It starts at the folder of the package under test, in which tests run.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the folder of the test")
		}
		dir = parent
	}
}

// ReplayApp returns the folder of ReplayWeb.page as published, or skips the test. A page needs only its ui.js and sw.js
// to show an archive.
func ReplayApp(t testing.TB) string {
	t.Helper()
	return filepath.Join(installed(t, "replaywebpage"), "node_modules", "replaywebpage")
}

// Replayed is a script for a page with ReplayWeb.page's own element. Its function replayed returns the document that
// the element shows. The frames of the element are inside shadow roots, and those are inside frames. On a busy machine
// its service worker sometimes waits forever, without a request for the archive; then the element is made again.
const Replayed = `<script>
function replayed(root = document) {
	for (const e of root.querySelectorAll("*")) {
		if (e.shadowRoot) {
			const found = replayed(e.shadowRoot);
			if (found) return found;
		}
		if (e.tagName == "IFRAME" && e.contentDocument) {
			if (e.contentDocument.location.href.includes("mp_/")) return e.contentDocument;
			const found = replayed(e.contentDocument);
			if (found) return found;
		}
	}
}
setInterval(() => {
	const element = document.querySelector("replay-web-page");
	if (!replayed()?.body?.firstElementChild) element.replaceWith(element.cloneNode(true));
}, 30000);
</script>`

// embedded is a page with ReplayWeb.page's own element, which shows only the replay.
const embedded = `<!doctype html><body style="margin:0"><script src="/ui.js"></script>
<replay-web-page source="/%s" url="%s" ts="%s" replaybase="/replay/" embed="replayonly" nosandbox
	style="%s"></replay-web-page>
` + Replayed

// Replay serves the user interface of ReplayWeb.page with an archive, and returns the address of a page that shows the
// capture of a URI at a time in it.
func Replay(t testing.TB, file, uri, stamp, style string) (address string) {
	t.Helper()
	app, name := ReplayApp(t), filepath.Base(file)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, embedded, name, uri, stamp, style)
		case "/ui.js", "/replay/ui.js":
			http.ServeFile(w, r, filepath.Join(app, "ui.js"))
		case "/replay/sw.js":
			http.ServeFile(w, r, filepath.Join(app, "sw.js"))
		case "/" + name:
			http.ServeFile(w, r, file)
		default:
			http.NotFound(w, r) // archived URIs are never requested from this server
		}
	}))
	t.Cleanup(site.Close)
	return site.URL
}

// Axe returns the script of axe-core, which finds what keeps people from using a page, or skips the test.
func Axe(t testing.TB) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(installed(t, "axe-core"), "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// Program runs a program that reads archives, and returns what it prints. The error says why it ended, as an
// [exec.ExitError] does. The test is skipped without the program, even where foreign readers are required, because no
// package of npm has it. docs/archive.md says where to get it.
func Program(t testing.TB, name string, args ...string) (out, errs string, err error) {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("NOT RUN: %s is not installed, and npm does not have it; see \"Foreign readers\" in docs/archive.md: %v",
			name, err)
	}
	return run(t, program, args...)
}

// Pywb plays an archive with pywb, and returns the address below which it answers, for example
// http://127.0.0.1:40000/test/20261121090000id_/http://a.example/. warcs is the folder of the WARC files, and index an
// index of them, a folder of indexes, or the CDX server at an address: "cdx+http://…".
//
// pywb is the only foreign reader that no package of Debian or npm has, so the test is skipped without it even where
// foreign readers are required. Install it with `pip install pywb`; its program is called wayback.
func Pywb(t testing.TB, warcs, index string) (address string) {
	t.Helper()
	program, err := exec.LookPath("wayback")
	if err != nil {
		t.Skipf("NOT RUN: pywb is not installed, and neither Debian nor npm has it (pip install pywb): %v", err)
	}
	port := freePort(t)
	dir := t.TempDir()
	settings := fmt.Sprintf("collections:\n  test:\n    index_paths: %s\n    archive_paths: %s/\n", index, warcs)
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var says bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "-b", "127.0.0.1", "-p", strconv.Itoa(port), "-d", dir)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &says, &says, time.Second
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		<-ended // it was killed
		if t.Failed() {
			t.Logf("pywb says:\n%s", says.Bytes())
		}
	})
	address = fmt.Sprintf("http://127.0.0.1:%d/test/", port)
	for giveUp := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		answer, err := http.Get(address)
		if err == nil {
			_ = answer.Body.Close()
			return address
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("pywb ended: %v", err)
		default:
		}
		if time.Now().After(giveUp) {
			t.Fatalf("pywb does not answer: %v", err)
		}
	}
}

// freePort returns a port of loopback that nobody listens at, below those that Linux chooses for others.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 12_000 + rand.IntN(20_000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no free port was found")
	return 0
}
