package hostile_test

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// attack is a row: what a stranger does, and what must hold.
type attack struct {
	name string
	// stranger starts the servers of the attack and returns what the crawl needs in order to meet them.
	stranger func(c *crawl) crawlOptions
	// lasts is how long the daemon crawls. Zero means crawlTime.
	lasts time.Duration
	// bound limits what the attack may add to the usage of a crawl without strangers. A zero field has the default.
	bound usage
	// check fails the test for what else must not happen.
	check func(t *testing.T, c *crawl)
	// oddArchive says that the archive holds answers that warccheck does not understand; only references are checked.
	oddArchive bool
	// quick says that the row belongs to the everyday tests.
	quick bool
	// awaited is why the row is known to fail. Rows are skipped while it is set.
	awaited string
}

// defaultBound limits the rows that have no bound of their own. The crawler keeps up to 256 idle connections.
var defaultBound = usage{goroutines: 60, heap: 32 << 20, descriptors: 300, disk: 64 << 20}

// rows returns all attacks.
func rows() []attack {
	var all []attack
	for _, some := range [][]attack{
		answers(), waits(), quotas(), costs(), partners(), shares(), reaching(), behind(), floods(), escapes(),
	} {
		all = append(all, some...)
	}
	return all
}

// everything reports whether all rows run.
func everything() bool { return os.Getenv("ARCRAWL_HOSTILE") != "" }

// baseline is a crawl of the healthy site alone, with the settings of a row.
type baseline struct {
	lasts   time.Duration
	healthy int64
	used    usage
}

// without measures a crawl without strangers that lasts as long as the crawl of a row.
func without(t *testing.T, lasts time.Duration) (b baseline) {
	t.Run("without", func(t *testing.T) {
		c := newCrawl(t)
		c.run(crawlOptions{lasts: lasts})
		b = baseline{lasts, c.counted.Load(), c.used()}
	})
	return b
}

// TestHostile runs the quick rows, or all rows if ARCRAWL_HOSTILE is set. Rows that are awaited run only if it is
// "awaited".
func TestHostile(t *testing.T) {
	slow.Test(t)
	base := map[time.Duration]baseline{}
	for _, row := range rows() {
		if row.quick && !everything() {
			row.lasts = 3 * time.Second
		}
		t.Run(strings.ReplaceAll(row.name, " ", "-"), func(t *testing.T) {
			switch {
			case row.awaited != "" && os.Getenv("ARCRAWL_HOSTILE") != "awaited":
				t.Skip("awaited: " + row.awaited)
			case !row.quick && !everything():
				t.Skip("one of the long rows; run make hostile")
			}
			row.run(t, base)
		})
	}
}

// run crawls with the strangers of a row, and compares with a crawl without them.
func (row attack) run(t *testing.T, base map[time.Duration]baseline) {
	lasts := cmp.Or(row.lasts, crawlTime)
	before, ok := base[lasts]
	if !ok {
		before = without(t, lasts)
		base[lasts] = before
	}
	c := newCrawl(t)
	o := row.stranger(c)
	o.lasts = lasts
	c.run(o)
	healthy, used := c.counted.Load(), c.used()
	if healthy*10 < before.healthy*9 { // perhaps the machine has become busier: measure again
		before = without(t, lasts)
	}
	t.Logf("the healthy site had %d visits, %d without the attack; at most %s, without the attack %s",
		healthy, before.healthy, used, before.used)
	if healthy*10 < before.healthy*9 {
		t.Errorf("the healthy site had %d visits, less than 90 %% of the %d without the attack", healthy, before.healthy)
	}
	row.compare(t, used, before.used)
	if text := c.text(); strings.Contains(text, "pausing crawl") || strings.Contains(text, `"level":"panic"`) {
		t.Errorf("the crawl was paused:\n%s", text)
	}
	row.references(t, c)
	if row.check != nil {
		row.check(t, c)
	}
}

// compare fails the test if the attack added more than its bound to what is in use.
func (row attack) compare(t *testing.T, used, before usage) {
	t.Helper()
	b := usage{
		cmp.Or(row.bound.goroutines, defaultBound.goroutines), cmp.Or(row.bound.heap, defaultBound.heap),
		cmp.Or(row.bound.descriptors, defaultBound.descriptors), cmp.Or(row.bound.disk, defaultBound.disk),
	}
	for _, m := range []struct {
		what             string
		used, before, by int64
	}{
		{"goroutines", int64(used.goroutines), int64(before.goroutines), int64(b.goroutines)},
		{"bytes of heap", used.heap, before.heap, b.heap},
		{"descriptors", int64(used.descriptors), int64(before.descriptors), int64(b.descriptors)},
		{"bytes on disk", used.disk, before.disk, b.disk},
	} {
		if m.used > m.before+m.by {
			t.Errorf("the attack took %d %s, without it %d; want at most %d more", m.used, m.what, m.before, m.by)
		}
	}
}

// references fails the test if a revisit record refers to anything but a response record.
func (row attack) references(t *testing.T, c *crawl) {
	t.Helper()
	var all []archivetest.CheckedRecord
	if row.oddArchive {
		files, _ := filepath.Glob(filepath.Join(c.dir, "warc", "*.warc.gz"))
		for _, f := range files {
			some, err := archivetest.CheckFile(f)
			if err != nil {
				t.Error(err)
			}
			all = append(all, some...)
		}
	} else {
		all = archivetest.CheckDir(t, filepath.Join(c.dir, "warc"))
	}
	responses := map[string]bool{}
	for _, r := range all {
		if r.Type() == "response" {
			responses[r.Target()+" "+r.Header.Get("WARC-Date")] = true
		}
	}
	for _, r := range all {
		to := r.Header.Get("WARC-Refers-To-Target-URI") + " " + r.Header.Get("WARC-Refers-To-Date")
		if r.Type() == "revisit" && !responses[to] {
			t.Errorf("the revisit of %s refers to %s, which is no response record", r.Target(), to)
		}
	}
}

const root = "../.."

// TestDocumentsNameAllAttacksAndTargets compares docs/safety.md with the attacks and with the tests of the
// repository, and docs/benchmarks.md with its fuzz targets.
func TestDocumentsNameAllAttacksAndTargets(t *testing.T) {
	t.Parallel()
	safety, benchmarks := read(t, "docs/safety.md"), read(t, "docs/benchmarks.md")
	for _, row := range rows() {
		if row.awaited == "" && !strings.Contains(safety, "`"+row.name+"`") {
			t.Errorf("docs/safety.md does not name the attack %q", row.name)
		}
	}
	tests, targets := declared(t)
	for _, name := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(safety, -1) {
		if !tests[name[1]] {
			t.Errorf("docs/safety.md names %s, which does not exist", name[1])
		}
	}
	for name := range targets {
		if !strings.Contains(benchmarks, "`"+name+"`") {
			t.Errorf("docs/benchmarks.md does not name the fuzz target %s", name)
		}
	}
	for _, name := range regexp.MustCompile("`(Fuzz\\w+)`").FindAllStringSubmatch(benchmarks, -1) {
		if !targets[name[1]] {
			t.Errorf("docs/benchmarks.md names %s, which does not exist", name[1])
		}
	}
}

// Each line of a table in docs/safety.md names what proves it: attacks, tests, fuzz targets or stories that exist.
func TestEachLineOfTheSafetyPageNamesItsTests(t *testing.T) {
	t.Parallel()
	proofs, targets := declared(t)
	maps.Copy(proofs, targets)
	for _, row := range rows() {
		proofs[row.name] = true
	}
	stories, err := filepath.Glob(filepath.Join(root, "crawler/testdata/stories/*.txt"))
	must(t, err)
	for _, story := range stories {
		proofs[strings.TrimSuffix(filepath.Base(story), ".txt")] = true
	}
	name, lines := regexp.MustCompile("`([^`]+)`"), 0
	for line := range strings.Lines(read(t, "docs/safety.md")) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		last := cells[len(cells)-1]
		if !strings.HasPrefix(line, "| ") || last == "tested by" {
			continue
		}
		lines++
		named := name.FindAllStringSubmatch(last, -1)
		if len(named) == 0 {
			t.Errorf("no test in the line %s", line)
		}
		for _, n := range named {
			if !proofs[n[1]] {
				t.Errorf("%q does not exist, in the line %s", n[1], line)
			}
		}
	}
	if lines < 90 {
		t.Errorf("only %d lines in tables", lines)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	must(t, err)
	return string(text)
}

// declared returns the names of all tests and fuzz targets of the repository.
func declared(t *testing.T) (tests, targets map[string]bool) {
	t.Helper()
	tests, targets = map[string]bool{}, map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			if m[2] == "Test" {
				tests[m[1]] = true
			} else {
				targets[m[1]] = true
			}
		}
		return err
	})
	must(t, err)
	return tests, targets
}

// answers are attacks with the bytes of single answers.
func answers() []attack {
	return []attack{
		{
			name: "status line in lower case", quick: true, oddArchive: true,
			stranger: func(c *crawl) crawlOptions {
				c.town.speak(func(w net.Conn, r *http.Request) {
					say(w, r, "http/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>always the same</title>")
				}, "www.stranger.example")
				return crawlOptions{
					seeds: pagesOf(c, "www.stranger.example", 5),
					until: func() bool { return len(c.visits("stranger.example")) >= 10 },
				}
			},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "stranger.example", 10) },
		},
		{
			name: "common payload from an answer that is no response record", oddArchive: true,
			stranger: func(c *crawl) crawlOptions {
				const script = "console.log('a script that many sites have')\n"
				var first atomic.Bool
				c.town.speak(func(w net.Conn, r *http.Request) {
					say(w, r, "http/1.1 200 OK\r\nContent-Type: text/javascript\r\n\r\n"+script)
					first.Store(first.Load() || r.URL.Path != "/robots.txt")
				}, "www.stranger.example")
				c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if !first.Load() {
						http.Error(w, "not yet", http.StatusServiceUnavailable)
						return
					}
					w.Header().Set("Content-Type", "text/javascript")
					_, _ = io.WriteString(w, script)
				}), "www.victim.example")
				return crawlOptions{seeds: append(
					pagesOf(c, "www.stranger.example", 1), pagesOf(c, "www.victim.example", 3)...)}
			},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "victim.example", 3) },
		},
		{
			name: "folded header lines of 4 MB", oddArchive: true,
			stranger: func(c *crawl) crawlOptions {
				head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Long: a" + strings.Repeat("\r\n b", 1<<20) + "\r\n\r\nhello"
				c.town.speak(func(w net.Conn, r *http.Request) { say(w, r, head) }, "www.stranger.example")
				return crawlOptions{
					fetch: `max_head = "8MiB"`,
					seeds: pagesOf(c, "www.stranger.example", 4),
				}
			},
			bound: usage{disk: 256 << 20, heap: 128 << 20},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "stranger.example", 4) },
		},
		{
			name: "control byte in a header value", oddArchive: true,
			stranger: func(c *crawl) crawlOptions {
				c.town.speak(func(w net.Conn, r *http.Request) {
					say(w, r, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Odd: a\x01b\r\n\r\n<title>a page</title>")
				}, "www.stranger.example")
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 3)}
			},
			check: func(t *testing.T, c *crawl) {
				for _, r := range c.visits("stranger.example") {
					if r.Status != http.StatusOK && !strings.HasSuffix(r.URI.Path(), "robots.txt") {
						t.Errorf("the visit of %s has status %d, want 200", r.URI, r.Status)
						return
					}
				}
				atLeast(t, c, "stranger.example", 5)
			},
		},
		{
			name: "Content-Type of 1 MB, and a second start", oddArchive: true,
			stranger: func(c *crawl) crawlOptions {
				head := "HTTP/1.1 200 OK\r\nContent-Type: text/" + strings.Repeat("x", 1100<<10) + "\r\n\r\nhello"
				c.town.speak(func(w net.Conn, r *http.Request) { say(w, r, head) }, "www.stranger.example")
				return crawlOptions{
					fetch: `max_head = "4MiB"`,
					seeds: pagesOf(c, "www.stranger.example", 1),
				}
			},
			bound: usage{heap: 128 << 20},
			check: func(t *testing.T, c *crawl) {
				atLeast(t, c, "stranger.example", 2)
				before := c.healthy.Load()
				c.run(crawlOptions{fetch: `max_head = "4MiB"`, lasts: 3 * time.Second})
				if c.healthy.Load() == before {
					t.Error("after a restart nothing was crawled")
				}
			},
		},
	}
}

// say writes an answer to a request for a page. There is no robots.txt.
func say(w net.Conn, r *http.Request, answer string) {
	if r.URL.Path == "/robots.txt" {
		answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	}
	_, _ = io.WriteString(w, answer)
}

// pagesOf returns the addresses of the pages /0, /1 … of a host.
func pagesOf(c *crawl, host string, n int) []string {
	var list []string
	for i := range n {
		list = append(list, c.town.url(host, fmt.Sprintf("/%d", i)))
	}
	return list
}

// atLeast fails the test if there are fewer visits to URIs that contain a text.
func atLeast(t *testing.T, c *crawl, part string, want int) {
	t.Helper()
	if got := len(c.visits(part)); got < want {
		t.Errorf("%d visits to %s, want at least %d", got, part, want)
	}
}
