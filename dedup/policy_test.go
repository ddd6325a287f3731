package dedup_test

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
)

func TestRevisitsAreThinnedByPeriod(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return day.Add(d) }
	for _, row := range []struct {
		name        string
		revisits    dedup.Revisits
		before, now time.Duration
		want        bool
	}{
		{"each visit", dedup.Revisits{}, 0, time.Second, true},
		{"none", dedup.Revisits{None: true}, 0, 999 * time.Hour, false},
		{"the second of a day", dedup.Revisits{Once: 24 * time.Hour}, time.Hour, 23 * time.Hour, false},
		{"the first of a day, though the last was an hour ago", dedup.Revisits{Once: 24 * time.Hour}, 23*time.Hour + 30*time.Minute, 24*time.Hour + 30*time.Minute, true},
		{"the first in a week", dedup.Revisits{Once: 7 * 24 * time.Hour}, -7 * 24 * time.Hour, 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := row.revisits.Wants(at(row.now), at(row.before)); got != row.want {
				t.Errorf("Wants = %v, want %v", got, row.want)
			}
		})
	}
}

// Entries of imported archives have no SHA-256. They count until a better one is there.
func TestEntriesWithoutSHA256StillCount(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	old := dedup.Key{Payload: digest.Of([]byte("p")), Status: 200, MIME: "image/png"}
	strong, other := old, old
	strong.Strong, other.Strong = digest.SHA256(sha256.Sum256([]byte("p"))).Half(), digest.SHA256(sha256.Sum256([]byte("q"))).Half()
	find := func(k dedup.Key, uri string, by dedup.By) dedup.Match {
		m, err := i.Find(dedup.Query{Key: k, URI: uri, By: by})
		must(t, err)
		return m
	}
	must(t, i.Put(old, at("http://old.example/", "p", 1)))
	for _, k := range []dedup.Key{strong, other} {
		if m := find(k, "http://new.example/", dedup.Digest); m.Origin.URI != "http://old.example/" || !m.Origin.Strong.IsZero() {
			t.Errorf("the old entry is not found: %+v", m)
		}
	}
	must(t, i.Put(strong, at("http://new.example/", "p", 2)))
	if m := find(strong, "http://x.example/", dedup.Digest); m.Origin.URI != "http://new.example/" || m.Origin.Strong != strong.Strong {
		t.Errorf("the entry with the SHA-256 is not preferred: %+v", m)
	}
	if m := find(strong, "http://old.example/", dedup.URIFirst); m.Origin.URI != "http://old.example/" || m.Hit != dedup.Exact {
		t.Errorf("the old entry of the same URI is not preferred to another URI: %+v", m)
	}
	if m := find(strong, "http://x.example/", dedup.URI); m != (dedup.Match{}) {
		t.Errorf("an entry of another URI is found: %+v", m)
	}
}

// at returns origin n of a payload, captured under the given URI.
func at(uri, payload string, n int) digest.Origin {
	o := origin(payload, n)
	o.URI = uri
	return o
}

func TestFindChoosesTheRecordForACapture(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	k := dedup.Key{Payload: digest.Of([]byte("p")), Status: 200, MIME: "image/png"}
	for n, uri := range []string{"http://first.example/", "http://second.example/", "http://www.third.example/", "http://second.example/"} {
		must(t, i.Put(k, at(uri, "p", n)))
	}
	const none = -1
	for _, c := range []struct {
		name       string
		uri        string
		by         dedup.By
		equivalent bool
		want       int // number of the origin
		hit        dedup.Hit
	}{
		{"any record: the first, also for another URI", "http://second.example/", dedup.Digest, false, 0, dedup.Other},
		{"any record, and the first is of the URI", "http://first.example/", dedup.Digest, false, 0, dedup.Exact},
		{"the same URI first", "http://second.example/", dedup.URIFirst, false, 1, dedup.Exact},
		{"the same URI first, and there is none", "http://fourth.example/", dedup.URIFirst, false, 0, dedup.Other},
		{"only the same URI", "http://second.example/", dedup.URI, false, 1, dedup.Exact},
		{"only the same URI, and there is none", "http://fourth.example/", dedup.URI, false, none, dedup.Miss},
		{"an equivalent URI is another one", "http://third.example/", dedup.URI, false, none, dedup.Miss},
		{"an equivalent URI is the same where that is allowed", "http://third.example/", dedup.URI, true, 2, dedup.Equivalent},
		{"the first record is of an equivalent URI", "http://www.first.example/", dedup.URI, true, 0, dedup.Equivalent},
		{"an equivalent URI comes before any", "http://third.example/", dedup.URIFirst, true, 2, dedup.Equivalent},
		{"the very same URI comes before an equivalent one", "http://www.third.example/", dedup.URIFirst, true, 2, dedup.Exact},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := i.Find(dedup.Query{Key: k, URI: c.uri, By: c.by, Equivalent: c.equivalent})
			if err != nil || m.Hit != c.hit {
				t.Fatalf("Find = %v, %v; want %v", m.Hit, err, c.hit)
			}
			if c.want != none && m.Origin.Offset != int64(c.want) {
				t.Errorf("Find = record %d, want %d", m.Origin.Offset, c.want)
			}
		})
	}
}

func TestForgetRemovesTheEntriesOfALostFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openStore(t, dir)
	i := openIndex(t, db)
	put := func(payload string, offset int64) (dedup.Key, digest.Origin) {
		o := origin(payload, 1)
		o.Offset, o.Length = offset, 50
		k := dedup.Key{Payload: digest.Of([]byte(payload)), Status: 200}
		must(t, i.Put(k, o))
		return k, o
	}
	before, kept := put("before", 0)
	across, _ := put("across", 60)
	behind, _ := put("behind", 120)
	must(t, i.Forget("a-\xff.warc.gz", 500))
	must(t, i.Forget("a-\xff.warc.gz", 100))
	must(t, i.Forget("a-\xff.warc.gz", 300)) // forgetting less of the file changes nothing
	check := func() {
		t.Helper()
		want(t, i, before, kept)
		want(t, i, across, digest.Origin{})
		want(t, i, behind, digest.Origin{})
		if i.Lost(digest.Origin{}) || i.Lost(kept) {
			t.Error("an existing record counts as lost")
		}
	}
	check()
	must(t, db.Close())
	i = openIndex(t, openStore(t, dir))
	check()
	again := origin("behind", 9)
	again.File = "b.warc.gz"
	must(t, i.Put(behind, again))
	want(t, i, behind, again)
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newIndex returns a dedup index, and a function that opens it again as a restart does.
func newIndex(t *testing.T) (*dedup.Index, func() *dedup.Index) {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: now, Compactors: -1})
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	open := func() *dedup.Index {
		i, err := dedup.Open(f.DB(), dedup.Options{})
		must(t, err)
		return i
	}
	return open(), open
}

func in(file string, offset int64) digest.Origin {
	return digest.Origin{RecordID: "urn:uuid:1", URI: "http://a.example/", File: file, Offset: offset, Length: 10}
}

func TestFilesAreComparedWithTheJournal(t *testing.T) {
	t.Parallel()
	index, reopen := newIndex(t)
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "2026"), 0o750))
	must(t, os.WriteFile(filepath.Join(dir, "2026", "below.warc.gz"), []byte("x"), 0o600))
	compare := func(absent ...string) (string, dedup.Comparison) {
		t.Helper()
		c, err := index.Compare(dir, map[string]int64{"cut.warc.gz": 100}, absent,
			func(f string) bool { return f == "elsewhere.warc.gz" })
		must(t, err)
		var lost []string
		for _, l := range c.Lost {
			lost = append(lost, l.File)
		}
		slices.Sort(lost)
		return strings.Join(lost, " "), c
	}
	all := []string{"gone.warc.gz", "below.warc.gz", "elsewhere.warc.gz", "moved.warc.gz"}
	if n, err := index.Declare(dir, []string{"/old/moved.warc.gz"}, dedup.AreMoved); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if lost, c := compare(all...); lost != "cut.warc.gz gone.warc.gz" || c.Away != 2 {
		t.Errorf("lost %s, %+v", lost, c)
	}
	index = reopen()
	if lost, c := compare(all...); lost != "" || c.Absent != 1 {
		t.Errorf("the second start finds %s again, %+v", lost, c)
	}
	for o, want := range map[digest.Origin]bool{
		in("gone.warc.gz", 0): true, in("cut.warc.gz", 100): true, in("cut.warc.gz", 91): true, in("cut.warc.gz", 90): false,
		in("below.warc.gz", 0): false, in("moved.warc.gz", 0): false, in("elsewhere.warc.gz", 0): false,
	} {
		if got := index.Lost(o); got != want {
			t.Errorf("the record at %s:%d is lost: %t, want %t", o.File, o.Offset, got, want)
		}
	}
	must(t, os.Symlink("nowhere", filepath.Join(dir, "broken.warc.gz")))
	if _, c := compare(all...); len(c.Unread) != 1 || filepath.Base(c.Unread[0].File) != "broken.warc.gz" {
		t.Errorf("a file that cannot be read is not reported: %+v", c.Unread)
	}
	if _, c := compare(all[1:]...); !slices.Equal(c.Back, []string{"gone.warc.gz"}) || index.Lost(in("gone.warc.gz", 0)) {
		t.Errorf("a file that is back: %+v", c)
	}
}

func TestAnOperatorDeclaresFiles(t *testing.T) {
	t.Parallel()
	index, _ := newIndex(t)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "now.warc.gz.open"), []byte("x"), 0o600))
	for _, c := range []struct {
		are, file string
		changed   int
		lost      bool
		fault     string
	}{
		{dedup.AreMoved, "a.warc.gz", 1, false, ""},
		{dedup.AreMoved, "a.warc.gz", 0, false, ""},
		{dedup.AreLost, "a.warc.gz", 1, true, ""},
		{dedup.AreLost, "a.warc.gz", 0, true, ""},
		{dedup.AreMoved, "a.warc.gz", 1, false, ""},
		{dedup.AreLost, "some/where/a.warc.gz", 1, true, ""},
		{dedup.AreFound, "a.warc.gz", 1, false, ""},
		{dedup.AreFound, "a.warc.gz", 0, false, ""},
		{dedup.AreLost, "now.warc.gz", 0, false, "still being written"},
		{dedup.AreLost, "now.warc.gz.open", 0, false, "not the name of a finished WARC file"},
		{dedup.AreLost, "notes.txt", 0, false, "not the name of a finished WARC file"},
		{"burnt", "a.warc.gz", 0, false, "valid states"},
	} {
		n, err := index.Declare(dir, []string{c.file}, c.are)
		if n != c.changed || index.Lost(in(filepath.Base(c.file), 5)) != c.lost || (err == nil) != (c.fault == "") ||
			err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s is %s: %d changed, lost: %t, %v", c.file, c.are, n, index.Lost(in(c.file, 5)), err)
		}
	}
}

func TestRevisitsAreCountedInMemoryAndStoredTogether(t *testing.T) {
	t.Parallel()
	db := openStore(t, t.TempDir())
	i := openIndex(t, db)
	put := func(payload string, n int) digest.Origin {
		o := original("http://a.example/", payload, "a.warc.gz", n)
		must(t, i.Put(o.Key, o.Origin))
		return o.Origin
	}
	one, two := put("one", 1), put("two", 2)
	stored := func(referred, references int64) {
		t.Helper()
		got := heldOf(t, openIndex(t, db), 0) // sees only stored counts
		if got.referred != referred || got.references != references {
			t.Errorf("%d revisits of %d originals are stored, want %d of %d", got.references, got.referred, references, referred)
		}
	}
	for range 3 {
		must(t, i.Refer(one))
	}
	must(t, i.Refer(two))
	stored(0, 0)
	must(t, i.Flush())
	stored(2, 4)
	must(t, i.Flush())
	must(t, i.Refer(one))
	if got := heldOf(t, i, 0); got.references != 5 {
		t.Errorf("%d revisits are counted; want 5, one of them in memory", got.references)
	}
	must(t, i.Refer(put("0", 0)))
	for n := range 10_100 { // more originals than are kept in memory
		must(t, i.Refer(original("http://a.example/", strconv.Itoa(1+n), "b.warc.gz", n).Origin))
	}
	stored(3, 6)
}

func TestNoRevisitIsLostWhileCountsAreStored(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	o := original("http://a.example/", "one", "a.warc.gz", 1)
	must(t, i.Put(o.Key, o.Origin))
	const workers, each = 8, 50
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for n := range each {
				if err := i.Refer(o.Origin); err != nil {
					t.Error(err)
				}
				if n%10 == 0 {
					if err := i.Flush(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	working.Wait()
	if n := heldOf(t, i, 0).references; n != workers*each {
		t.Errorf("%d of %d revisits counted", n, workers*each)
	}
}

func payload(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

// BenchmarkImport measures how many new payloads an import stores in a second, and how much memory that takes. It adds
// some hundred at a time, in a store that is configured as in the import command.
func BenchmarkImport(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(frontier.BulkLoadGarbage))
	store, err := frontier.Open(frontier.Options{Dir: b.TempDir(), BulkLoad: true, Now: time.Now()})
	must(b, err)
	defer func() { must(b, store.Close()) }()
	i, err := dedup.Open(store.DB(), dedup.Options{})
	must(b, err)
	const most = 256 // of a batch
	c := dedup.Collection{Number: 1, Name: "all", Hash: "sha256:all", State: dedup.Importing}
	cost := measure(b)
	for n, batches := 0, 1; n < b.N; batches++ {
		batch := make([]dedup.Found, 0, most)
		for ; n < b.N && len(batch) < cap(batch); n++ {
			p := payload(uint64(n))
			batch = append(batch, dedup.Found{Key: dedup.Key{Payload: digest.Of([]byte(p)), Status: 200, MIME: "text/html"}, Origin: origin(p, n)})
		}
		must(b, i.Store(c, batch...))
		must(b, store.PageOut(frontier.BulkLoadMapped))
		if batches%(1+4096/most) == 0 {
			cost.look()
		}
	}
	cost.report()
}

// cost measures the time and the memory that a benchmark uses.
type cost struct {
	b     *testing.B
	began time.Duration
	own   atomic.Int64 // maximum of the process's anonymous memory so far, in KiB
}

// measure starts measuring a benchmark.
func measure(b *testing.B) *cost {
	b.Helper()
	runtime.GC()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // reset the maximum of resident memory; not every system can
	c := &cost{b: b, began: processorTime(b)}
	b.ResetTimer()
	return c
}

// look updates the maximum with the present memory use.
func (c *cost) look() {
	own := resident(c.b, "RssAnon:")
	for before := c.own.Load(); own > before && !c.own.CompareAndSwap(before, own); before = c.own.Load() {
	}
}

// report adds the rates by wall time and by processor time, which is more reliable on a busy machine. It also adds the
// maximum of anonymous memory and of resident memory, which includes the mapped parts of the store's files.
func (c *cost) report() {
	c.b.StopTimer()
	c.look()
	spent := (processorTime(c.b) - c.began).Seconds()
	c.b.ReportMetric(float64(c.b.N)/c.b.Elapsed().Seconds(), "digests/s")
	c.b.ReportMetric(float64(c.b.N)/spent, "digests/cpu-s")
	c.b.ReportMetric(spent/float64(c.b.N)*1e6, "cpu-µs/digest")
	c.b.ReportMetric(float64(resident(c.b, "VmHWM:"))/1024, "peak-MiB")
	c.b.ReportMetric(float64(c.own.Load())/1024, "peak-own-MiB")
}

// resident returns a figure of the process's memory in KiB: "VmHWM:" is the maximum of resident memory,
// "RssAnon:" the present anonymous memory. It returns zero if the system does not report the figure.
func resident(b *testing.B, what string) int64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, what); ok {
			n, err := strconv.ParseInt(strings.Fields(kib)[0], 10, 64)
			must(b, err)
			return n
		}
	}
	return 0
}

// processorTime returns the processor time of the process on all processors.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
