package crawler_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

const (
	monthWeb    = "testdata/month/web.txt"
	monthDigest = "testdata/month/digest.txt.zst"
)

// TestAMonthIsTheSame plays a month of a varied web and compares the results with the recorded ones: each visit, each
// line of crawl.log, each record of the archive, and what is due when and why at the end. It does not use the inside of
// the crawler, so it proves that a change which only rearranges code changes nothing else. After a change that is
// meant, read the differences, and then run it with -update.
func TestAMonthIsTheSame(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	script, err := os.ReadFile(monthWeb)
	must(t, err)
	dir := t.TempDir()
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		w, acts := worldOf(t, dir, monthMembers+string(script))
		for _, words := range acts {
			w.act(words)
		}
		playMonth(t, w)
		tellVisits(&b, w)
		tellFrontier(&b, w)
	})
	tellLog(t, &b, dir)
	tellArchive(&b, testcrawl.CheckArchive(t, dir))
	got := b.String()
	if *update {
		writeDigest(t, got)
		return
	}
	want := readDigest(t)
	if got == want {
		return
	}
	path := filepath.Join(os.TempDir(), "month.got.txt")
	if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
		t.Error(err)
	}
	t.Errorf("the month differs from %s; all of it is in %s:\n%s", monthDigest, path, firstDifference(want, got))
}

// monthMembers are the settings of a site with a login, of a site with traps, and of a host that a file holds.
const monthMembers = `
seed http://members.example/
host members.example [request]
host members.example secrets_over_http = true
host members.example [login]
host members.example page = "http://members.example/login"
host members.example uri = "http://members.example/session"
host members.example fields = [{ name = "remember", value = "1" }]
host members.example secret_fields = [{ name = "user", secret = "file:user" }, { name = "pass", secret = "file:pass" }]
host members.example success = '(?m)^Set-Cookie: session='
seed http://maze.example/
host maze.example [[wait]]
host maze.example mime = ".*"
host maze.example rule = "fixed"
host maze.example every = "40d"
host maze.example [scope]
host maze.example rules = ['reject /forum/', 'reject /partners/', 'reject /1999/']
seed http://held.example/
`

// playMonth crawls for 30 days. Meanwhile the file of a host is broken for a time, an operator holds, forces and
// forgets URIs, the daemon stops twice, and the clock runs while it is down.
func playMonth(t *testing.T, w *world) {
	t.Helper()
	w.hostFiles(map[string]string{"secrets/user": "maria\n", "secrets/pass": `p&a=s s "\æ%` + "\n"})
	w.town.Serve("members.example", &members{t: t, sessions: map[string]time.Time{}})
	w.town.Serve("maze.example", testcrawl.NewMaze(time.Now()))
	w.set("http://held.example/", testcrawl.Page{Every: 10 * time.Hour, Links: []string{"/a"}})
	w.set("http://held.example/a", testcrawl.Page{})
	const day = 24 * time.Hour
	w.run(3 * day)
	parts, shut := w.open()
	w.duringWith(parts, 12*day, func(c *crawler.Crawler) {
		after := func(d time.Duration, what func()) { time.Sleep(d); what() }
		after(2*day+time.Minute, func() { w.host("held.example.toml", "[politeness\n"); w.reload(c) })
		after(3*day, func() { w.host("held.example.toml", "[politeness]\nmin_delay = \"9s\"\n"); w.reload(c) })
		after(day, func() { w.steer(parts.Frontier, "http://honest.example/", frontier.Hold) })
		after(day, func() { w.steer(parts.Frontier, "http://shaky.example/", frontier.Force) })
		after(day, func() { w.steer(parts.Frontier, "http://honest.example/", frontier.Release) })
		after(day, func() { w.steer(parts.Frontier, "http://liar.example/deny", frontier.Forget) })
	})
	shut()
	time.Sleep(20 * time.Hour)
	w.edit(`speculative = true`, `speculative = false`)
	w.host("daily.example.toml", "[scope]\nby = \"prefix\"\nprefixes = [\"http://daily.example/live/\"]\n")
	w.run(14*day + 4*time.Hour)
}

func tellVisits(b *strings.Builder, w *world) {
	b.WriteString("== visits\n")
	for _, r := range w.reports {
		b.WriteString(sentence(r, w.began, true))
	}
}

// tellFrontier writes what the frontier knows about each URI at the end.
func tellFrontier(b *strings.Builder, w *world) {
	parts, shut := w.open()
	defer shut()
	var lines []string
	err := parts.Frontier.Each(func(r frontier.Record) error {
		lines = append(lines, fmt.Sprintf("%s due %s wait %s why %q\n\thops %q via %q seed %q\n",
			r.URI, at(r.Due), r.Wait, r.Why, r.Hops, r.Via, r.Seed)+
			fmt.Sprintf("\tstatus %d %d error %q visits %d versions %d failures %d gone %d unread %d rate %.6g\n",
				r.LastStatus, r.Status, r.LastError, r.Visits, r.Versions, r.Failures, r.Gone, r.Unread, r.Rate)+
			fmt.Sprintf("\tseen %s visited %s captured %s read %s changed %s\n",
				at(r.FirstSeen), at(r.LastVisit), at(r.LastCapture), at(r.LastRead), at(r.LastChange))+
			fmt.Sprintf("\ttype %q size %d payload %s title %q to %q\n",
				r.ContentType, r.Size, short(r.Payload.String()), r.Title, r.Location))
		return nil
	})
	must(w.t, err)
	slices.Sort(lines)
	b.WriteString("== frontier\n" + strings.Join(lines, ""))
}

func at(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02T15:04:05.000")
}

var (
	// shortDigests cuts each digest to its first 40 bits: it still shows a difference, and the file stays small.
	shortDigests = regexp.MustCompile(`(sha1:[A-Z2-7]{8}|sha256:[0-9a-f]{10})[A-Z2-7a-f0-9]+`)
	recordIDs    = regexp.MustCompile(`urn:uuid:[0-9a-f-]+`)
	logPlaces    = regexp.MustCompile(`"warcFilename":"[^"]*","warcFileOffset":\d+,?`)
)

func short(text string) string { return shortDigests.ReplaceAllString(text, "$1") }

// tellLog writes crawl.log without the places in WARC files, which depend on how long a compressed record id is.
func tellLog(t *testing.T, b *strings.Builder, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "crawl.log"))
	must(t, err)
	b.WriteString("== crawl.log\n")
	b.WriteString(short(logPlaces.ReplaceAllString(string(text), "")))
}

// tellArchive writes the header of each record, and the block of those whose text is ours.
func tellArchive(b *strings.Builder, records []archivetest.CheckedRecord) {
	b.WriteString("== archive\n")
	for _, r := range records {
		var fields []string
		for name, values := range r.Header {
			switch name {
			case "Warc-Record-Id", "Warc-Warcinfo-Id", "Warc-Concurrent-To", "Warc-Refers-To":
				values = []string{"…"} // an id is there
			case "Warc-Type", "Warc-Target-Uri":
				continue
			case "Warc-Filename", "Warc-Block-Digest", "Content-Length":
				if r.Type() == "warcinfo" {
					continue
				}
			}
			fields = append(fields, strings.TrimPrefix(name, "Warc-")+"="+strings.Join(values, "|"))
		}
		slices.Sort(fields)
		fmt.Fprintf(b, "%s %s %s\n", r.Type(), r.Target(), short(strings.Join(fields, " ")))
		if r.Type() == "metadata" {
			b.WriteString(short(recordIDs.ReplaceAllString(strings.TrimSpace(string(r.Block)), "…")) + "\n")
		}
	}
}

func readDigest(t *testing.T) string {
	t.Helper()
	packed, err := os.ReadFile(monthDigest)
	must(t, err)
	z, err := zstd.NewReader(bytes.NewReader(packed))
	must(t, err)
	defer z.Close()
	text, err := io.ReadAll(z)
	must(t, err)
	return string(text)
}

func writeDigest(t *testing.T, text string) {
	t.Helper()
	var packed bytes.Buffer
	best := zstd.WithEncoderLevel(zstd.SpeedBestCompression)
	z, err := zstd.NewWriter(&packed, best, zstd.WithWindowSize(zstd.MaxWindowSize>>4))
	must(t, err)
	_, err = io.WriteString(z, text)
	must(t, err)
	must(t, z.Close())
	must(t, os.WriteFile(monthDigest, packed.Bytes(), 0o600))
	t.Logf("%d lines, %d bytes, packed %d", strings.Count(text, "\n"), len(text), packed.Len())
}

// firstDifference shows, for each section, the first lines that differ and the three before them.
func firstDifference(want, got string) string {
	var b strings.Builder
	wanted, gotten := strings.SplitAfter(want, "\n== "), strings.SplitAfter(got, "\n== ")
	for i := range min(len(wanted), len(gotten)) {
		before, after := strings.Split(wanted[i], "\n"), strings.Split(gotten[i], "\n")
		n := 0
		for n < min(len(before), len(after)) && before[n] == after[n] {
			n++
		}
		if n == len(before) && n == len(after) {
			continue
		}
		fmt.Fprintf(&b, "section %s, line %d of %d (now %d):\n", before[0], n+1, len(before), len(after))
		for _, line := range before[max(0, n-3):n] {
			b.WriteString("  " + line + "\n")
		}
		for _, line := range before[n:min(n+6, len(before))] {
			b.WriteString("- " + line + "\n")
		}
		for _, line := range after[n:min(n+6, len(after))] {
			b.WriteString("+ " + line + "\n")
		}
	}
	return b.String()
}
