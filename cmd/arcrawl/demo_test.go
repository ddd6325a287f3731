package main

import (
	"bufio"
	"context"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestDashboardOfTheDemoOpensWithOneClick opens the address that the demo prints in a browser, without a password, and
// looks at the charts of the first seconds. It saves a screenshot in the folder that ARCRAWL_SCREENSHOTS names.
func TestDashboardOfTheDemoOpensWithOneClick(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	p := browser.Open(t, 1280, 1500)
	out, in := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() {
		done <- demo(ctx, in, filepath.Join(t.TempDir(), "demo"), "", 0)
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	address := ""
	for address == "" && lines.Scan() {
		address = regexp.MustCompile(`http://\S+/\?token=\S+`).FindString(lines.Text())
	}
	lines.Scan() // the terminal's command
	lines.Scan()
	if !lines.Scan() || !strings.Contains(lines.Text(), " again ") {
		t.Fatalf("the demo prints %q after %q, want a visit", lines.Text(), address)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	p.Go(address)
	p.Wait(`document.getElementById("view")?.dataset.ready === "new"`)
	const menu = `"What is new, Front pages, Sites, Pages, Capture, Packages, Reports, Operations, Configuration"`
	if got := p.Eval(`[...document.querySelectorAll("header nav a")].map((a) => a.textContent).join(", ")`); got != menu {
		t.Errorf("the menu is %s, want %s: the collection first, the machine last", got, menu)
	}
	p.Eval(`location.hash = "#/operations"`)
	p.Wait(`document.getElementById("view")?.dataset.ready === "operations"`)
	if got := p.Eval(`location.search + document.querySelector("button[aria-pressed=true]").textContent`); got != `"10 minutes"` {
		t.Errorf("the page is %s, want the last ten minutes, and no token in the address", got)
	}
	if got := p.Eval(`document.querySelectorAll(".chart canvas").length`); got != "6" {
		t.Errorf("%s charts in the first seconds, want 6", got)
	}
	const points = `document.querySelectorAll(".chart")[2].querySelectorAll("tbody tr").length`
	p.Wait(points + " > " + p.Eval(points)) // the charts move
	if dir := os.Getenv("ARCRAWL_SCREENSHOTS"); dir != "" {
		file, err := os.Create(filepath.Join(dir, "demo.png"))
		if err == nil {
			err = png.Encode(file, p.Screenshot())
		}
		if err != nil {
			t.Error(err)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("the demo ends with %v", err)
	}
}

// TestVisitsOfTheDemoFit prints long and short visits for terminals of different widths.
func TestVisitsOfTheDemoFit(t *testing.T) {
	t.Parallel()
	const path, reason = "/archive/2026/november/überlange-überschrift-einer-meldung.html", "unchanged: 10s × 1.5 = 15s, stretched × 2.5"
	for _, width := range []int{60, 80, 100, 200} {
		for _, c := range []struct {
			path, result, reason string
			wait                 time.Duration
		}{
			{path, "unchanged", reason, 6666 * time.Millisecond},
			{path, "some long state", reason, 12345 * time.Hour},
			{"/", "first", "x", time.Minute},
		} {
			line := visitLine(width, "13:19:34", -9998, c.path, c.result, c.wait, c.reason)
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("on %d columns a line has %d: %s", width, n, line)
			}
		}
	}
	for _, c := range []struct {
		width int
		want  string
	}{
		{80, "13:19:34   200  /sport/                unchanged  again 15s     unchanged: 10s …"},
		{120, "13:19:34   200  /sport/                                      unchanged  again 15s     unchanged: 10s × 1.5 = 15s, stret…"},
	} {
		if got := visitLine(c.width, "13:19:34", 200, "/sport/", "unchanged", 15*time.Second, reason); got != c.want {
			t.Errorf("on %d columns:\n%q, want\n%q", c.width, got, c.want)
		}
	}
}

// TestTheDemoShowsVersionsIfTheEngineIsInstalled writes the configuration of the demo with and without the engine.
func TestTheDemoShowsVersionsIfTheEngineIsInstalled(t *testing.T) {
	t.Parallel()
	engine := t.TempDir()
	daemontest.WriteFile(t, filepath.Join(engine, "sw.js"), "// the engine")
	with, err := demoConfig(t.TempDir(), "127.0.0.1:80", engine)
	if err != nil || with.Admin.ReplayListen == "" || with.Admin.ReplayAssets != engine || with.Admin.ReplayListen == with.Admin.Listen {
		t.Errorf("with the engine: %+v, %v", with, err)
	}
	without, err := demoConfig(t.TempDir(), "127.0.0.1:80", "")
	if err != nil || (without.Admin.ReplayListen != "") != hasPlayer(without.Admin.ReplayAssets) {
		t.Errorf("by default: %+v, %v", without, err)
	}
	if _, err := demoConfig(t.TempDir(), "127.0.0.1:80", t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no sw.js") {
		t.Errorf("with an empty folder: %v", err)
	}
}
