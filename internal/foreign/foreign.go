// Package foreign reads what arcrawl writes with programs that are not ours, in tests: npm's warcio reads WARC files, its
// datapackage the descriptors of packages, and wabac.js and ReplayWeb.page play archives in a browser. What our own reader and writer agree on
// may still be wrong; what a stranger reads is right.
//
// It needs node, and what `npm ci` puts into this folder. Without them the tests that want it are skipped, or fail
// when the environment has ARCRAWL_REQUIRE_FOREIGN=1. Only test code imports this package.
package foreign

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// limit ends a reader that does not end by itself, as warcio does on some damaged files.
const limit = 2 * time.Minute

// maxLine is the longest line that the script may print: a record with a block of some 48 MiB.
const maxLine = 64 << 20

// Record is what warcio saw of one record. Record ids keep their angle brackets.
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
	Errors []string `json:"errors"` // what does not fit; empty when all is well
}

// Records reads the files, in the order given, and fails the test when warcio cannot read one to its end, warns, or reads
// nothing in it. Faults of single records are in Record.Errors.
func Records(t testing.TB, files ...string) []Record {
	t.Helper()
	node, script := find(t)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, node, append([]string{script}, files...)...)
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("warcio on %q: %v\n%s", files, err, stderr.Bytes())
	}
	records, ends := parse(t, out)
	if ends != len(files) {
		t.Fatalf("warcio ended %d of %d files\n%s", ends, len(files), stderr.Bytes())
	}
	return records
}

// parse reads what the script printed.
func parse(t testing.TB, out []byte) (records []Record, ends int) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(out))
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

// find tells where node and the script are, or skips the test.
func find(t testing.TB) (node, script string) {
	t.Helper()
	return Node(t), filepath.Join(installed(t, "warcio"), "check.mjs")
}

// Node is the program that runs JavaScript, or the test is skipped.
func Node(t testing.TB) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "node", err)
	}
	return node
}

// installed is this folder, once a module of npm is in it, or skips the test.
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

// ReplayWorker is the file of wabac.js's service worker, the heart of ReplayWeb.page, or the test is skipped.
func ReplayWorker(t testing.TB) string {
	t.Helper()
	return filepath.Join(installed(t, "@webrecorder/wabac"), "node_modules", "@webrecorder", "wabac", "dist", "sw.js")
}

// DataPackage has npm's datapackage validate the descriptor of a data package, and gives what it finds wrong.
func DataPackage(t testing.TB, descriptor string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, Node(t), filepath.Join(installed(t, "datapackage"), "datapackage.mjs"), descriptor)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("datapackage on %s: %v\n%s", descriptor, err, stderr.Bytes())
	}
	var faults []string
	if err := json.Unmarshal(out, &faults); err != nil {
		t.Fatalf("datapackage printed %q: %v", out, err)
	}
	return faults
}

// moduleRoot is found from the folder of the package under test, which tests run in.
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

// ReplayApp is the folder of ReplayWeb.page as it is published: its ui.js and sw.js are all that a page needs to show an archive. The test
// is skipped without it.
func ReplayApp(t testing.TB) string {
	t.Helper()
	return filepath.Join(installed(t, "replaywebpage"), "node_modules", "replaywebpage")
}
