// Package pictures_test makes the pictures of the documentation: a browser looks at the dashboard of the demo.
package pictures_test

import (
	"bufio"
	"fmt"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/browser"
)

// watched is how long the demo crawls before the pictures are made, so that pages have versions and charts have lines.
const watched = 100 * time.Second

// TestPictures writes the pictures to the folder that ARCRAWL_PICTURES names.
func TestPictures(t *testing.T) {
	folder := os.Getenv("ARCRAWL_PICTURES")
	if folder == "" {
		t.Skip("this writes the pictures of the documentation; run make pictures")
	}
	dashboard, site := demo(t)
	time.Sleep(watched)
	const height = 860
	p := browser.Open(t, 1280, height)
	for _, picture := range []struct {
		name, page, ready string
		height            int64
	}{
		{"new", "/", "a[href^='#/uri?u=']", height},
		{"host", "/host/" + url.PathEscape(site), "table", height + 140},
		{"uri", "/uri?u=" + url.QueryEscape("http://"+site+"/ticker.html"), "a[href*='#/compare']", height},
		{"compare", "", "td", height},
		{"operations", "/operations", "canvas", height},
	} {
		if picture.page == "" { // from the page before: its latest version and the one before
			p.Eval("document.querySelector(\"a[href*='#/compare']\").click()")
		} else {
			p.Go(dashboard + "#" + picture.page)
		}
		p.Wait(fmt.Sprintf("document.querySelector(%q) !== null", picture.ready))
		p.Resize(1280, picture.height)
		time.Sleep(2 * time.Second) // charts and answers
		file, err := os.Create(filepath.Join(folder, picture.name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		if err = png.Encode(file, p.Screenshot()); err != nil {
			t.Fatal(err)
		}
		if err = file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// demo starts the demo and returns the address of its dashboard and the host of its site.
func demo(t *testing.T) (dashboard, site string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "arcrawl")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/arcrawl").CombinedOutput(); err != nil {
		t.Fatalf("build arcrawl: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, "demo", "--dir", t.TempDir())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for dashboard == "" && lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "news site at http://"); ok {
			site, _, _ = strings.Cut(rest, "/")
		}
		_, dashboard, _ = strings.Cut(lines.Text(), "Dashboard: ")
	}
	done := make(chan struct{})
	go func() {
		for lines.Scan() { // so that the demo never waits for its output to be read
		}
		close(done)
	}()
	t.Cleanup(func() {
		<-done
		if err := cmd.Wait(); err != nil {
			t.Logf("the demo ended: %v", err)
		}
	})
	if dashboard == "" {
		t.Fatal("the demo names no dashboard")
	}
	return dashboard, site
}
