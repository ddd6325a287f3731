package frontier_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
	"github.com/arcrawl/arcrawl/uri"
)

// pack makes TestPackAStore write the two fixtures of the present format. This is done only once
// for each format, because a fixture must keep the bytes that were written while the format was current.
var pack = flag.String("pack", "", "write testdata/format-`N`-closed.tar.gz and -killed.tar.gz")

// fixtureRecords returns the records in the fixture stores after [fillFixture].
func fixtureRecords(t testing.TB) []frontier.Record {
	var all []frontier.Record
	for i := range 40 {
		text := fmt.Sprintf("https://h%d.example/page/%d?q=%d", i%3, i, i*i)
		r := frontier.Record{URI: parse(t, text), Hops: uri.HopPath("LRE"[:i%4]), Via: "https://h0.example/", Seed: "https://h0.example/"}
		r.FirstSeen = day
		r.Due = at(time.Duration(i) * time.Hour)
		if i%2 == 0 {
			r.History = frontier.History{
				FirstSeen: day, LastVisit: at(time.Duration(i) * time.Microsecond), LastCapture: at(-time.Minute),
				LastRead: at(-time.Hour), LastChange: at(-time.Second), Due: at(time.Duration(24+i) * time.Hour),
				Visits: i, Versions: i / 2, Failures: i % 5, Unread: i % 3, Gone: i % 7, LastStatus: -i,
				Wait: time.Duration(i)*time.Hour + 1,
				Rate: float64(i) / 3, Memory: string([]byte{0xff, 0, byte(i)}), ContentType: "text/html; charset=\xff", Status: 200 + i,
				Location:   "https://h0.example/moved",
				Validators: evaluators.Validators{ETag: fmt.Sprintf(`W/"%d"`, i), LastModified: "Sun, 01 Mar 2026 12:00:00 GMT"},
				Payload:    digest.Of([]byte(text)),
				Comparison: digest.Comparison{Sum: digest.Of([]byte("c")), Rules: 1<<63 + uint64(i), Sketch: 1<<62 + uint64(i)},
				Recent:     evaluators.RingOf([]byte("12345678abcdefgh")), Size: 1 << i,
				Origin: digest.Origin{
					RecordID: fmt.Sprintf("urn:uuid:%d", i), URI: "https://h0.example/o", Date: at(-time.Hour),
					Payload: digest.Of([]byte(text)), File: "a.warc.gz", Offset: int64(i), Length: 2, Size: 3,
				},
			}
		}
		all = append(all, r)
	}
	return all
}

var fixtureRobots = frontier.RobotsCopy{
	Fetched: day, Expires: at(24 * time.Hour), Status: 200, Body: []byte("User-agent: *\nDisallow: /private\n"),
}

// fillFixture writes the content of the fixtures to a new store. Half of the records are settled once. One URI is
// forbidden, and one is on demand with a copy of robots.txt. Host h1 is down for the first time. Host h2 rests because
// it asked for it.
func fillFixture(w *world) {
	var cs []frontier.Candidate
	for _, r := range fixtureRecords(w) {
		due := r.Due
		if r.Visits > 0 || r.Due.Sub(day)%(2*time.Hour) == 0 {
			due = day
		}
		cs = append(cs, frontier.Candidate{URI: r.URI, Hops: r.Hops, Via: r.Via, Seed: r.Seed, Due: due})
	}
	w.addAll(cs...)
	wants := map[uri.URI]frontier.Record{}
	for i, r := range fixtureRecords(w) {
		if i%2 == 0 {
			wants[r.URI] = r
		}
	}
	first := true
	for len(wants) > 0 {
		c := w.claimAny(day)
		if first {
			first = false
			d, err := w.Divert(c, c.Record.URI.Robots(), day)
			must(w, err)
			w.settle(d, frontier.Settlement{Record: d.Record, Finished: day, Robots: &fixtureRobots})
			continue
		}
		o := frontier.Settlement{Record: wants[c.Record.URI], Finished: day}
		o.Forbidden = strings.HasSuffix(c.Record.URI.Path(), "/page/6")
		delete(wants, c.Record.URI)
		left := 0
		for u := range wants {
			if u.Host() == c.Record.URI.Host() {
				left++
			}
		}
		o.HostDown = left == 0 && c.Record.URI.Host() == "h1.example"
		if left == 0 && c.Record.URI.Host() == "h2.example" {
			o.RetryAfter = at(3 * time.Hour)
		}
		w.settle(c, o)
	}
}

// TestPackAStore writes the fixtures of the present format. Run it by hand, with -pack, after the
// format has changed.
func TestPackAStore(t *testing.T) {
	if *pack == "" {
		t.Skip("this writes a store for testdata; set a file with -pack")
	}
	w := newWorld(t)
	fillFixture(w)
	must(t, w.Sync())
	name := filepath.Join("testdata", "format-"+*pack)
	packStore(t, w.o.Dir, name+"-killed.tar.gz")
	w.close()
	packStore(t, w.o.Dir, name+"-closed.tar.gz")
}

func packStore(t *testing.T, dir, name string) {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	zip, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	must(t, err)
	left := filepath.Join(t.TempDir(), "left")
	must(t, errors.Join(smalldisk.CopyFS(left, dir), os.RemoveAll(filepath.Join(left, "LOCK"))))
	out := tar.NewWriter(zip)
	must(t, out.AddFS(os.DirFS(left)))
	must(t, errors.Join(out.Close(), zip.Close(), f.Close()))
}

// unpackStore unpacks a fixture into a folder of the test.
func unpackStore(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	zip, err := gzip.NewReader(f)
	must(t, err)
	in := tar.NewReader(zip)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		must(t, err)
		data, err := io.ReadAll(in)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, h.Name), data, fs.FileMode(h.Mode))
		}
		must(t, err)
	}
}

// A store of each format since the first release can be opened, and is complete.
func TestStoresOfAllFormatsOpen(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/format-*.tar.gz")
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".tar.gz"), func(t *testing.T) {
			t.Parallel()
			dir := unpackStore(t, name)
			w := newWorld(t, func(o *frontier.Options) { o.Dir, o.Now = dir, at(time.Hour) })
			w.check()
			for _, want := range fixtureRecords(t) {
				same(t, w.get(want.URI.String()), want)
			}
			got := w.Counts(at(time.Hour))
			if got.Hosts != 3 || got.URIs != 41 || got.Queued != 40 || got.Forbidden != 1 {
				t.Errorf("Counts = %+v", got)
			}
			copied, ok, err := w.Robots(parse(t, "https://h0.example/"))
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			same(t, copied, fixtureRobots)
			for w.Counts(at(2*time.Hour)).Ready > 0 { // URIs of h0 and h1, never of h2
				c, ok, err := w.Claim(at(2 * time.Hour))
				if err != nil || !ok || c.Record.URI.Host() == "h2.example" {
					t.Fatalf("Claim = %s, %v, %v; want one of a host that does not rest", c.Record.URI, ok, err)
				}
				w.settle(c, visited(c, at(2*time.Hour), 48*time.Hour))
			}
			for w.Counts(at(3*time.Hour)).Ready > 0 {
				c := w.claimAny(at(3 * time.Hour))
				w.settle(c, visited(c, at(3*time.Hour), 48*time.Hour))
			}
			w.reopen(at(4 * time.Hour))
		})
	}
}

func TestPagedOutTablesAreReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *frontier.Options) { o.BulkLoad, o.Compactors = true, 0 })
	must := func(err error) { t.Helper(); w.wantErr(err, nil) }
	dir := w.o.Dir
	value := func(n int) []byte { return []byte(strings.Repeat(fmt.Sprintf("%08d", n*7919), 64)) }
	const rows = 4000
	batch := w.DB().NewWriteBatch()
	for n := range rows {
		must(batch.Set(fmt.Appendf(nil, "z%06d", n), value(n)))
	}
	must(batch.Flush())
	w.reopen(day)
	read := func() {
		t.Helper()
		must(w.DB().View(func(txn *badger.Txn) error {
			for n := range rows {
				item, err := txn.Get(fmt.Appendf(nil, "z%06d", n))
				must(err)
				must(item.Value(func(v []byte) error {
					if string(v) != string(value(n)) {
						t.Errorf("row %d is %.20q", n, v)
					}
					return nil
				}))
			}
			return nil
		}))
	}
	read()
	before := resident(t, dir)
	if before == 0 {
		t.Skip("this system does not report how much of a file is resident; Linux does")
	}
	must(w.PageOut(1 << 50))
	if n := resident(t, dir); n < before/2 { // the kernel may have evicted a few pages
		t.Errorf("%d KiB of the tables are resident, %d were; they were paged out below the limit", n, before)
	}
	must(w.PageOut(0))
	t.Logf("%d KiB of the tables are resident, %d were before they were paged out", resident(t, dir), before) // the kernel decides how much is evicted
	read()
}

// resident returns how many KiB of the tables in a folder are mapped and in memory.
func resident(t *testing.T, dir string) (kib int64) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	must(t, err)
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return 0
	}
	ours := false
	for line := range strings.Lines(string(maps)) {
		if at, _, _ := strings.Cut(line, " "); strings.Contains(at, "-") { // addresses at the start of the next mapping
			ours = strings.Contains(line, dir+"/") && strings.Contains(line, ".sst")
		}
		var n int64
		if _, err := fmt.Sscanf(line, "Rss: %d kB", &n); err == nil && ours {
			kib += n
		}
	}
	return kib
}

func TestSizeIsTheUsageOfTheDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	empty, err := w.Size()
	must(t, err)
	w.add(at(0), pages("a.example", 3000)...)
	w.reopen(at(0))
	full, err := w.Size()
	must(t, err)
	if full < empty+50_000 || full > 64<<20 {
		t.Errorf("the size of the store is %d bytes when empty and %d bytes with 3,000 URIs", empty, full)
	}
}

// fill opens a frontier with the given number of hosts and of URIs on each host. The URIs are due one millisecond
// apart.
func fill(b *testing.B, hosts, each int) *world {
	b.Helper()
	w := newWorld(b, func(o *frontier.Options) { o.Compactors = 0 })
	var cs []frontier.Candidate
	for i := range hosts {
		for j := range each {
			cs = append(cs, frontier.Candidate{
				URI:  parse(b, fmt.Sprintf("https://www.host-%d.example/section/%d/article.html", i, j)),
				Hops: "LL", Via: fmt.Sprintf("https://www.host-%d.example/section/", i),
				Seed: fmt.Sprintf("https://www.host-%d.example/", i), Due: day.Add(time.Duration(j) * time.Millisecond),
			})
		}
	}
	w.addAll(cs...)
	return w
}

// step claims one URI and settles it, and advances the clock if it must.
func step(b *testing.B, w *world, now time.Time, found []frontier.Candidate) time.Time {
	next, ok := w.NextReady()
	if !ok {
		b.Fatal("nothing waits")
	}
	if next.After(now) {
		now = next
	}
	c := w.claimAny(now)
	o := visited(c, now, 12*time.Hour)
	o.Found = found
	w.settle(c, o)
	return now
}

// BenchmarkClaimSettle measures claiming a URI and settling it, in a store of 100,000 URIs on 1,000 hosts.
func BenchmarkClaimSettle(b *testing.B) {
	w := fill(b, 1000, 100)
	now := day
	for b.Loop() {
		now = step(b, w, now, nil)
	}
}

// BenchmarkCountDue measures what a daemon does each 15 s: it counts the due URIs again after some visits, here 100,000
// on 1,000 hosts.
func BenchmarkCountDue(b *testing.B) {
	w := fill(b, 1000, 100)
	now := day.Add(time.Hour)
	if _, err := w.CountDue(now, 100_000); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		for range 10 {
			now = step(b, w, now, nil)
		}
		b.StartTimer()
		if n, err := w.CountDue(now, 100_000); err != nil || n == 0 {
			b.Fatal(n, err)
		}
	}
}
