//go:build unix

package rebuild_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/rebuild"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// BenchmarkStore rebuilds a store of b.N pages of 15 KB on 500 hosts from their log, archive and index. Times are
// processor time of the process. Run it with -benchtime 50000x.
func BenchmarkStore(b *testing.B) {
	if b.N == 1 {
		return // the first round
	}
	lib := archivetest.New(b)
	state, log := b.TempDir(), filepath.Join(b.TempDir(), "crawl.log")
	var lines []byte
	words := rand.New(rand.NewPCG(1, 2))
	for n := range b.N {
		var body strings.Builder
		fmt.Fprintf(&body, "<html><head><title>Page %d</title></head><body>", n)
		for body.Len() < 15<<10 {
			fmt.Fprintf(
				&body,
				"<p class=\"c%d\">%x of the %x</p>\n",
				words.IntN(9),
				words.IntN(1<<20),
				words.IntN(1<<12),
			)
		}
		u, at := fmt.Sprintf("http://www.host-%d.example/page-%d.html", n%500, n), lib.Now
		lines = visitLine(lines, u, lib.Page(u, archivetest.HTMLHead, body.String()), at)
		lib.Now = at.Add(time.Second)
	}
	lib.Seal()
	archivetest.Must(b, os.WriteFile(log, lines, 0o600))
	report := func(f warc.Finding) error { return &f }
	cdxj := filepath.Join(lib.Dir, index.FileName)
	if _, err := index.WriteFile(b.Context(), []string{lib.Dir}, index.Options{}, cdxj, report); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(state, "arcrawl.toml")
	archivetest.Must(b, os.WriteFile(path, fmt.Appendf(nil, "[operator]\nname = \"Library\"\n"+
		"contact = \"https://library.example/\"\n[storage]\nwarc = %q\n", lib.Dir), 0o600))
	c, err := config.Load(path)
	archivetest.Must(b, err)
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(state, "store"), Now: lib.Now})
	archivetest.Must(b, err)
	defer f.Close() //nolint:errcheck // nobody needs it
	began := used(b)
	b.ResetTimer()
	r, err := rebuild.Store(b.Context(), f, c, []string{log}, lib.Now)
	if err != nil || r.Payloads != int64(b.N) {
		b.Fatalf("rebuilt %+v: %v", r, err)
	}
	b.ReportMetric((used(b)-began)*1e6/float64(b.N), "cpu-µs/page")
}

// visitLine appends the line of the first visit of a page.
func visitLine(lines []byte, u string, o digest.Origin, at time.Time) []byte {
	e := crawllog.Entry{
		Logged: at.Add(
			time.Second,
		), Status: 200, Size: o.Size, URI: u, MIME: "text/html", Worker: 1, Started: at,
		Took: time.Second, Digest: o.Payload, Seed: u,
		Schedule: &crawllog.Schedule{Tries: 1, Wait: 24 * time.Hour, Visits: 1, Versions: 1},
		Extra: &crawllog.Extra{
			WARCFile: o.File, WARCOffset: o.Offset, ContentSize: o.Size, ContentState: "unknown", WaitEvaluator: "classic",
			Due: at.Add(24 * time.Hour), FirstSeen: at, Born: at,
		},
	}
	return append(e.AppendTo(lines, true), '\n')
}

// used returns the processor time of the process in seconds.
func used(b *testing.B) float64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
