package warcout

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/panics"
)

// troubled is a real file on a simulated disk that can be full or fail.
type troubled struct {
	storage
	disk *disk
}

// disk holds which operations on its files fail.
type disk struct {
	room         atomic.Int64 // bytes that fit into one file; 0 = no limit
	sync         atomic.Value // func() error, called before each real sync; may be unset
	failTruncate atomic.Bool
	writes       atomic.Int64
}

func (d *disk) create(path string) (storage, error) {
	f, err := createFile(path)
	return &troubled{f, d}, err
}

func (f *troubled) WriteAt(p []byte, at int64) (int, error) {
	f.disk.writes.Add(1)
	if room := f.disk.room.Load(); room > 0 && at+int64(len(p)) > room {
		n, _ := f.storage.WriteAt(p[:max(0, room-at)], at) // a full disk stores the bytes that still fit
		return n, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return f.storage.WriteAt(p, at)
}

func (f *troubled) Sync() error {
	if hook, ok := f.disk.sync.Load().(func() error); ok && hook != nil {
		if err := hook(); err != nil {
			return err
		}
	}
	return f.storage.Sync()
}

func (f *troubled) Truncate(size int64) error {
	if f.disk.failTruncate.Load() {
		return syscall.EIO
	}
	return f.storage.Truncate(size)
}

// noise returns a page of n bytes that hardly compresses.
func noise(seed, n int) *Response {
	body := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(body) // never fails
	return responseOf(append([]byte("HTTP/1.1 200 OK\r\nServer: n\r\n\r\n"), body...), body)
}

func address(i int) string { return fmt.Sprintf("http://www.example.org/%d", i) }

func TestFullDiskFailsOneVisitOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	var d disk
	w.create = d.create
	d.room.Store(20_000)
	acknowledged := map[string]bool{}
	failed := 0
	for i := range 10 {
		_, err := w.Write(start, visit(address(i), noise(i, 6000)))
		switch {
		case err == nil:
			acknowledged[address(i)] = true
		case errors.Is(err, syscall.ENOSPC) && strings.HasPrefix(err.Error(), "archive "+address(i)):
			failed++
		default:
			t.Fatalf("visit %d: %v", i, err)
		}
	}
	if len(acknowledged) < 2 || failed < 5 {
		t.Fatalf("%d visits fitted in, %d did not: the disk is too big or too small for this test", len(acknowledged), failed)
	}
	d.room.Store(0)
	if _, err := w.Write(start, visit(address(9), page("short"))); err != nil { // does not overwrite all bytes of the failed visits
		t.Fatalf("with space again: %v", err)
	}
	acknowledged[address(9)] = true
	checkKept(t, w, dir, acknowledged)
}

// checkKept closes w. It checks that the files have three records of each acknowledged visit, and no other visits.
func checkKept(t *testing.T, w *Writer, dir string, acknowledged map[string]bool) {
	t.Helper()
	must(t, w.Close(start))
	count := map[string]int{}
	for _, k := range readDir(t, dir) {
		count[k.get("WARC-Target-URI")]++
	}
	delete(count, "") // the warcinfo records
	for a := range acknowledged {
		if count[a] != 3 {
			t.Errorf("%s was acknowledged, but has %d records", a, count[a])
		}
	}
	for a := range count {
		if !acknowledged[a] {
			t.Errorf("%s was not acknowledged, but has records", a)
		}
	}
}

func TestFullDiskAtTheStartOfAFileLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	var d disk
	w.create = d.create
	d.room.Store(10)
	if _, err := w.Write(start, visit(address(1), page("x"))); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("error %v, want ENOSPC", err)
	}
	if names := namesIn(t, dir); len(names) > 0 {
		t.Errorf("left behind: %q", names)
	}
	d.room.Store(0)
	if _, err := w.Write(start, visit(address(1), page("x"))); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

func TestFileThatCannotBeCutIsAbandoned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, Host: "c1"})
	var d disk
	w.create = d.create
	mustWrite(t, w, start, visit(address(0), noise(0, 6000)))
	d.room.Store(10_000)
	d.failTruncate.Store(true)
	_, err := w.Write(start, visit(address(1), noise(1, 6000)))
	if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v, want why the write failed and why the file is abandoned", err)
	}
	mustWrite(t, w, start, visit(address(2), noise(2, 6000)))
	must(t, w.Close(start))
	if names := namesIn(t, dir); len(names) != 2 || !strings.HasSuffix(names[0], openSuffix) {
		t.Fatalf("files %q, want the first abandoned and the second sealed", names)
	}
	again, repairs := opened(t, Options{Dir: dir, Host: "c1"})
	if len(repairs) != 1 || repairs[0].Kind != Cut {
		t.Errorf("repairs %v, want one cut", repairs)
	}
	checkKept(t, again, dir, map[string]bool{address(0): true, address(2): true})
}

// TestWaitingVisitsAreWrittenTogether blocks a sync until three visits wait for the next sync. The last of them is long
// in some cases.
func TestWaitingVisitsAreWrittenTogether(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		room   int64 // room on the disk once the visits wait; 0 = no limit
		long   bool  // the last of them is too long to be written with others
		writes int64 // number of writes for the first visit and the waiting visits
	}{
		{name: "short ones are one write", writes: 2},
		{name: "before a long one the short ones are written", long: true, writes: 3},
		{name: "a full disk fails all of them and keeps what was safe", room: 1, writes: 2},
		{name: "a full disk fails those before a long one, and that", room: 1, long: true, writes: 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w, _ := opened(t, Options{Dir: dir})
			var d disk
			w.create = d.create
			acknowledged := map[string]bool{address(0): true}
			mustWrite(t, w, start, visit(address(0), noise(0, 3000)))
			d.writes.Store(0)
			const late = 3
			var all sync.WaitGroup
			var calls atomic.Int32
			errs := make([]error, 1+late)
			d.sync.Store(func() error {
				if calls.Add(1) > 1 {
					return nil
				}
				for n := range late {
					size := 3000
					if row.long && n == late-1 {
						size = 2 * maxPending
						d.room.Store(row.room)
					}
					all.Go(func() { _, errs[1+n] = w.Write(start, visit(address(2+n), noise(2+n, size))) })
					waitFor(w, func() bool {
						if waiting := w.current[""].waiting; waiting != nil {
							return waiting.visits == 1+n
						}
						return n == late-1 && row.long // the waiting visits have failed
					})
				}
				d.room.Store(row.room)
				return nil
			})
			_, errs[0] = w.Write(start, visit(address(1), noise(1, 3000)))
			all.Wait()
			for i, err := range errs {
				if fits := i == 0 || row.room == 0; (err == nil) != fits || err != nil && !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("visit %d: error %v", 1+i, err)
				}
				if err == nil {
					acknowledged[address(1+i)] = true
				}
			}
			if got := d.writes.Load(); got != row.writes {
				t.Errorf("%d writes, want %d", got, row.writes)
			}
			d.room.Store(0)
			mustWrite(t, w, start, visit(address(9), page("short")))
			acknowledged[address(9)] = true
			checkKept(t, w, dir, acknowledged)
		})
	}
}

func TestFailedSyncFailsExactlyTheVisitsThatWaitForIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	var d disk
	w.create = d.create
	mustWrite(t, w, start, visit(address(0), noise(0, 3000)))
	// The next sync waits until three more visits were appended, and then fails.
	const late = 3
	var calls atomic.Int32
	errs := make([]error, 1+late)
	var all sync.WaitGroup
	write := func(i int) { _, errs[i] = w.Write(start, visit(address(1+i), noise(1+i, 3000))) }
	d.sync.Store(func() error {
		if calls.Add(1) > 1 {
			return nil
		}
		for i := range late {
			all.Go(func() { write(1 + i) })
		}
		waitFor(w, func() bool { return w.current[""].waiting != nil && w.current[""].waiting.visits == late })
		return syscall.EIO
	})
	write(0)
	all.Wait()
	for i, err := range errs {
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("visit %d: error %v, want the error of the sync", 1+i, err)
		}
	}
	mustWrite(t, w, start, visit(address(9), noise(9, 3000)))
	checkKept(t, w, dir, map[string]bool{address(0): true, address(9): true})
}

// waitFor spins until a condition holds under the lock. It gives up after a while, so that a broken test fails instead
// of hanging.
func waitFor(w *Writer, holds func() bool) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if !w.mu.TryLock() { // the lock is held during the sync of a sealed file
			continue
		}
		ok := holds()
		w.mu.Unlock()
		if ok {
			return
		}
	}
}

func TestWriteReturnsOnlyAfterASyncThatBeganAfterItsBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	var d disk
	w.create = d.create
	mustWrite(t, w, start, visit(address(0), page("x")))
	// One sync is blocked until all other visits were appended, so it does not cover them. The next sync must cover
	// them all.
	const others = 5
	var calls atomic.Int32
	var returned atomic.Int32
	var all sync.WaitGroup
	write := func(i int) {
		if _, err := w.Write(start, visit(address(1+i), page("x"))); err != nil {
			t.Error(err)
		}
		if n := returned.Add(1); n > 1 && calls.Load() < 2 {
			t.Error("a visit was acknowledged by a sync that began before its bytes were there")
		}
	}
	d.sync.Store(func() error {
		switch calls.Add(1) {
		case 1:
			for i := range others {
				all.Go(func() { write(1 + i) })
			}
			waitFor(w, func() bool { return w.current[""].waiting != nil && w.current[""].waiting.visits == others })
		case 2:
			waitFor(w, func() bool { return returned.Load() == 1 })
		}
		return nil
	})
	write(0)
	all.Wait()
	if calls.Load() != 2 {
		t.Errorf("%d syncs for one visit and %d behind it, want 2", calls.Load(), others)
	}
}

func TestLargeVisitsWaitInAnUnnamedFile(t *testing.T) {
	t.Parallel()
	dir, temp := t.TempDir(), t.TempDir()
	w, _ := opened(t, Options{Dir: dir, TempDir: temp})
	r := noise(1, 3*spoolMemory)
	block := new(bytes.Buffer)
	if _, err := block.ReadFrom(r.Block); err != nil {
		t.Fatal(err)
	}
	r.Block = &watched{from: bytes.NewReader(block.Bytes()), at: 2 * spoolMemory, look: func() {
		if names := namesIn(t, temp); len(names) > 0 {
			t.Errorf("a crash here would leave %q", names)
		}
	}}
	out := mustWrite(t, w, start, visit(address(1), r))
	if out.Bytes < 3*spoolMemory {
		t.Fatalf("only %d bytes: the visit did not have to be spooled", out.Bytes)
	}
	must(t, w.Close(start))
	if got := readDir(t, dir)[1].block; !bytes.Equal(got, block.Bytes()) {
		t.Errorf("the block of %d bytes came back as %d other bytes", block.Len(), len(got))
	}
}

// watched is a reader that calls look after a number of bytes.
type watched struct {
	from *bytes.Reader
	at   int
	look func()
}

func (r *watched) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if r.at -= n; r.at <= 0 && r.look != nil {
		r.look()
		r.look = nil
	}
	return n, err
}

func TestSpoolThatCannotBeCreatedFailsTheVisit(t *testing.T) {
	t.Parallel()
	dir, temp := t.TempDir(), t.TempDir()
	w, _ := opened(t, Options{Dir: dir, TempDir: temp})
	must(t, os.Remove(temp))
	if _, err := w.Write(start, visit(address(1), noise(1, 2*spoolMemory))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want one about the missing folder", err)
	}
	if _, err := w.Write(start, visit(address(2), noise(2, 100))); err != nil {
		t.Errorf("a small visit needs no spool: %v", err)
	}
	checkKept(t, w, dir, map[string]bool{address(2): true})
}

func TestConcurrentVisitsKeepTheirRecordsTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, MaxSize: 20_000})
	var all sync.WaitGroup
	var mu sync.Mutex
	origins := map[string]Written{}
	for g := range 4 {
		all.Go(func() {
			for i := range 25 {
				a := address(100*g + i)
				out, err := w.Write(start, visit(a, noise(i, 500)))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				origins[a] = out
				mu.Unlock()
			}
		})
	}
	all.Wait()
	must(t, w.Close(start))
	records := readDir(t, dir)
	for i, k := range records {
		if k.get("WARC-Type") != "response" {
			continue
		}
		o := origins[k.get("WARC-Target-URI")].Origin
		if o.File != k.file || o.Offset != k.offset || o.Length != k.length || "<"+o.RecordID+">" != k.id() {
			t.Errorf("origin %+v, but the record is in %s at %d", o, k.file, k.offset)
		}
		for j, kind := range []string{"response", "request", "metadata"} {
			if next := records[i+j]; next.get("WARC-Type") != kind || next.get("WARC-Target-URI") != o.URI || next.file != k.file {
				t.Errorf("%s follows as record %d of %s, want its %s", next.get("WARC-Type"), j, o.URI, kind)
			}
		}
		delete(origins, o.URI)
	}
	if len(origins) > 0 {
		t.Errorf("%d of 100 visits are missing", len(origins))
	}
	if files := sealedFiles(t, dir); len(files) < 3 {
		t.Errorf("%d files: no file was full while others wrote", len(files))
	}
}

// poisonedBody panics after some bytes.
type poisonedBody struct{ good io.Reader }

func (p poisonedBody) Read(b []byte) (int, error) {
	if n, err := p.good.Read(b); n > 0 || err == nil {
		return n, err
	}
	panic("poison")
}

// More visits panic than there are encoders, each after a part of its records. Nothing of them is in the file, and the
// visits between them are whole.
func TestAPanicWhileComposingLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	const rounds = 40
	for n := range rounds {
		bad := visit(fmt.Sprintf("http://bad.example/%d", n), page(strings.Repeat("poison ", 1000)))
		bad.Response.Block = poisonedBody{io.LimitReader(bad.Response.Block, 3000)}
		_, err := w.Write(start, bad)
		if p := (*panics.Error)(nil); !errors.Is(err, ErrRefused) || !errors.As(err, &p) {
			t.Fatalf("Write = %v, want ErrRefused with the panic", err)
		}
		mustWrite(t, w, start, visit(fmt.Sprintf("http://good.example/%d", n), page("good")))
	}
	must(t, w.Close(start))
	good := 0
	for _, r := range readDir(t, dir) {
		switch to := r.get("WARC-Target-URI"); {
		case strings.Contains(to, "bad.example"):
			t.Errorf("the archive has a record of %s", to)
		case strings.Contains(to, "good.example"):
			good++
		}
	}
	if good != 3*rounds {
		t.Errorf("%d records of the good visits, want %d", good, 3*rounds)
	}
}

// A file without visits that cannot be removed is removed by the next attempt.
func TestAFileThatCannotBeRemovedIsRemovedLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	var d disk
	w.create = d.create
	syncs := 0
	d.sync.Store(func() error { // the second one is of the visit
		if syncs++; syncs == 2 {
			return syscall.EIO
		}
		return nil
	})
	if _, err := w.Write(start, visit(address(1), page("x"))); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Write: %v, want the error of the disk", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"+openSuffix))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	must(t, os.Remove(files[0]))
	must(t, os.MkdirAll(filepath.Join(files[0], "in the way"), 0o700))
	if err := w.Seal(start); err == nil {
		t.Error("Seal: no error, but the file cannot be removed")
	}
	must(t, os.Remove(filepath.Join(files[0], "in the way")))
	must(t, w.Seal(start))
	if _, err := os.Lstat(files[0]); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", files[0], err)
	}
}

// A file whose end cannot be noted in the journal stays open, and the next attempt seals or removes it: the journal
// says what was written, not what was found.
func TestAFileIsNotSealedWithoutItsJournal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		visits int
		want   int // files in the end
	}{{"a file with a visit", 1, 1}, {"a file without a visit", 0, 0}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w, _ := opened(t, Options{Dir: dir, Journal: filepath.Join(t.TempDir(), "warc.journal")})
			var d disk
			w.create = d.create
			syncs := 0
			d.sync.Store(func() error { // the second one is of the visit
				if syncs++; syncs == 2 && c.visits == 0 {
					return syscall.EIO
				}
				return nil
			})
			if _, err := w.Write(start, visit(address(1), page("x"))); (err == nil) != (c.visits > 0) {
				t.Fatalf("Write: %v", err)
			}
			own := w.journal.file
			readOnly, err := os.Open(own.Name())
			must(t, err)
			w.journal.file = readOnly
			if err := w.Seal(start); err == nil || !strings.Contains(err.Error(), "write WARC journal") {
				t.Errorf("Seal: %v, want the error of the journal", err)
			}
			w.journal.file = own
			must(t, readOnly.Close())
			must(t, w.Seal(start))
			sealed, err := filepath.Glob(filepath.Join(dir, "*.warc.gz*"))
			if err != nil || len(sealed) != c.want || c.want > 0 && strings.HasSuffix(sealed[0], openSuffix) {
				t.Errorf("%q, %v; want %d sealed files", sealed, err, c.want)
			}
		})
	}
}
