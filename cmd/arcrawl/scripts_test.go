package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

var update = flag.Bool("update", false, "write the expected output in scripts again")

// TestScripts runs the scripts of this folder and of the wings. A script begins with what it shows. Its command "exits
// N arcrawl …" runs a command line and checks the exit code; "store DIR URI…" makes a store, "archive DIR URI
// TIME=FILE…" an archive with versions of a page. A script begins with a valid arcrawl.toml, unless it has one of its
// own.
func TestScripts(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"testdata/scripts/*.txtar", "../../*/testdata/scripts/*.txtar"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	testscript.Run(t, testscript.Params{
		Files: files, UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds:  map[string]func(*testscript.TestScript, bool, []string){"archive": archivePages, "exits": exits, "store": store},
		Setup: configure,
	})
}

// configure writes a main file for a script that has none, and the folder of the host files. ROOT is the folder of the
// module.
func configure(env *testscript.Env) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	env.Setenv("ROOT", root)
	main := filepath.Join(env.WorkDir, "arcrawl.toml")
	if _, err := os.Stat(main); err != nil {
		if err := os.WriteFile(main, []byte(daemontest.Settled), 0o600); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(env.WorkDir, "hosts.d"), 0o750)
}

// exits runs a command line and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// store adds URIs to the store in a folder.
func store(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: store DIR URI…")
	}
	ts.Check(addURIs(ts.MkAbs(args[0]), args[1:]))
}

// archivePages archives versions of a page.
func archivePages(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: archive DIR URI TIME=FILE…")
	}
	u, err := uri.Parse(args[1])
	ts.Check(err)
	var w *warcout.Writer
	var now time.Time
	for _, version := range args[2:] {
		at, file, _ := strings.Cut(version, "=")
		now, err = time.Parse(time.RFC3339, at)
		ts.Check(err)
		if w == nil {
			w, _, err = warcout.Open(warcout.Options{Dir: ts.MkAbs(args[0])}, now)
			ts.Check(err)
		}
		ts.Check(storePage(w, now, u, ts.ReadFile(file)))
	}
	ts.Check(w.Close(now))
}

// storePage archives a version of a page.
func storePage(w *warcout.Writer, now time.Time, u uri.URI, body string) error {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
	_, err := w.Write(now, warcout.Visit{URI: u, Date: now, Response: &warcout.Response{
		Block: strings.NewReader(block), Size: int64(len(block)), BlockDigest: digest.Of([]byte(block)),
		PayloadDigest: digest.Of([]byte(body)), PayloadSize: int64(len(body)),
	}})
	return err
}
