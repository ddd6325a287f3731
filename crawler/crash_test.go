package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// These environment variables turn the test binary into a crawl that kills itself with SIGKILL.
const (
	crashDirEnv  = "ARCRAWL_TEST_CRASH_DIR"
	crashStepEnv = "ARCRAWL_TEST_CRASH_STEP"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDirEnv); dir != "" {
		os.Exit(crashingCrawl(dir, os.Getenv(crashStepEnv)))
	}
	os.Exit(m.Run())
}

// TestLaw1 kills the crawler at every step of the walk of one article, starts it again, and compares the result with
// the table in the package comment.
func TestLaw1(t *testing.T) {
	for _, row := range []struct {
		step      string
		name      string
		responses int // response records of the article at the end
		revisits  int // revisit records of all visits to the article at the end
		lines     int // lines of the article in crawl.log
	}{
		{"claimed", "killed before the fetch, nothing happened", 1, 0, 1},
		{"fetched", "killed after the fetch, nothing happened", 1, 0, 1},
		{"archived", "killed before the log, the capture is made once more", 2, 0, 1},
		{"logged", "killed after the log, the capture is logged and made once more", 2, 0, 2},
		{"indexed", "killed before the index and the frontier hear, which is at once, the same", 2, 0, 2},
		{"settled", "killed after the frontier, nothing is repeated", 1, 0, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w, _ := crashed(t, row.step, "text/html", "<p>The only article.</p>")
			responses, revisits := 0, 0
			for _, r := range testcrawl.CheckArchive(t, w.dir) {
				if strings.HasSuffix(r.Target(), "/article") {
					responses += count(r, "response")
					revisits += count(r, "revisit")
				}
			}
			lines := 0
			for _, e := range w.logLines() {
				if strings.HasSuffix(e.URI, "/article") {
					lines++
				}
			}
			if responses != row.responses || revisits != row.revisits || lines != row.lines {
				t.Errorf("killed when %s: %d responses, %d revisits, %d lines; want %d, %d, %d", row.step,
					responses, revisits, lines, row.responses, row.revisits, row.lines)
			}
		})
	}
}

// TestCrashForgetsNoItem kills the crawler at each step of the visit to a feed, and starts it again. At the end the
// item of the feed is known, because the entries of a feed are remembered only together with their candidates.
func TestCrashForgetsNoItem(t *testing.T) {
	for _, step := range []string{"claimed", "fetched", "archived", "logged", "indexed", "settled"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			const feed = "<rss version='2.0'><channel><item><link>/item</link></item></channel></rss>"
			w, site := crashed(t, step, "application/rss+xml", feed)
			parts, shut := w.openWith(dialLoopback)
			defer shut()
			if _, known, err := parts.Frontier.Get(uri.FromCanonical(site + "/item")); err != nil || !known {
				t.Errorf("killed when %s: the item is forgotten (%v)", step, err)
			}
		})
	}
}

func count(r archivetest.CheckedRecord, kind string) int {
	if r.Type() == kind {
		return 1
	}
	return 0
}

// crashed crawls a site of one page, /article, until the crawl kills itself at a step of the walk of that page. Then
// it crawls until the page is settled.
func crashed(t *testing.T, step, contentType, page string) (w *world, address string) {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/article" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, page)
	}))
	t.Cleanup(site.Close)
	w = newWorld(t, t.TempDir(), fmt.Sprintf(`[fetch]
allow_networks = ["127.0.0.0/8"]
[politeness]
min_delay = "0s"
max_delay = "0s"
[seeds]
uris = [%q]
`, site.URL+"/article"))
	crashAt(t, w, step)
	finish(t, w)
	return w, site.URL
}

// crashAt runs the crawl of w's folder in a child process until it kills itself.
func crashAt(t *testing.T, w *world, step string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashDirEnv+"="+w.dir, crashStepEnv+"="+step)
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("killed when %s: the child ended with %v, want SIGKILL\n%s", step, err, out)
	}
}

// crashingCrawl crawls until the walk of the article reaches the step, and kills the process there.
func crashingCrawl(dir, at string) int {
	w := &world{t: failer{}, dir: dir, free: 1 << 40}
	parts, _ := w.openWith(dialLoopback)
	c := crawler.New(parts)
	c.OnStep(dieAt(at))
	w.crawlWith(c, time.Minute)
	return 1
}

// dieAt kills the process when the walk of the article reaches the step. The first claim is spent on robots.txt, so
// that every step except the claim itself is reached twice.
func dieAt(at string) func(string) {
	seen := 0
	return func(step string) {
		if step != at {
			return
		}
		if seen++; seen == 2 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}

// finish crawls in this process until the article is settled.
func finish(t *testing.T, w *world) {
	t.Helper()
	parts, shut := w.openWith(dialLoopback)
	defer shut()
	if visited(t, parts.Frontier, "/article") {
		return
	}
	w.crawlUntil(parts, func(crawler.Report) bool { return true })
	if !visited(t, parts.Frontier, "/article") {
		t.Error("the article was not visited after the crash")
	}
}

func visited(t *testing.T, f *frontier.Frontier, suffix string) bool {
	t.Helper()
	done := false
	err := f.Each(func(r frontier.Record) error {
		done = done || strings.HasSuffix(r.URI.String(), suffix) && r.Visits > 0
		return nil
	})
	must(t, err)
	return done
}

func dialLoopback(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// failer replaces a test in the child process: a failure ends the process.
type failer struct{ testing.TB }

func (failer) Helper()           {}
func (failer) Fatal(args ...any) { fmt.Println(args...); os.Exit(1) }
func (failer) Error(args ...any) { fmt.Println(args...); os.Exit(1) }
