package frontier_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// fillDisk writes until nothing more fits.
func fillDisk(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	defer f.Close()
	for size := 1 << 20; size > 0; {
		switch _, err := f.Write(make([]byte, size)); {
		case errors.Is(err, syscall.ENOSPC):
			size /= 4
		case err != nil:
			t.Fatal(err)
		}
	}
}

// atRest waits until the store neither writes a table nor merges any, and its reserve is complete.
func atRest(t *testing.T, w *world) {
	t.Helper()
	last, since := "", time.Now()
	for time.Since(since) < 300*time.Millisecond {
		must(t, w.Space())
		tables, err := filepath.Glob(filepath.Join(w.o.Dir, "*.sst"))
		logs, err2 := filepath.Glob(filepath.Join(w.o.Dir, "*.mem"))
		must(t, errors.Join(err, err2))
		used := 0 // a log in use has its length, and a log in reserve is empty
		for _, l := range logs {
			if info, err := os.Stat(l); err == nil && info.Size() > 0 {
				used++
			}
		}
		if is := fmt.Sprint(tables, logs); is != last || used != 1 || len(logs) != 3 {
			last, since = is, time.Now()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Others fill the disk to its last byte, and the store continues to write logs, tables and merged tables until it
// cannot. Badger writes all of them through mapped memory, and a page without a block ends the process. Here, calls
// return ErrFull, and succeed again when there is space. The test runs in a process of its own, and once more if that
// ends at such a page: on a busy machine Badger may write a table before it reports that it will.
func TestADiskThatOthersFillDoesNotEndTheProcess(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	if os.Getenv(fullDiskEnv) != "" {
		useFullDisk(t)
		return
	}
	for tries := 1; ; tries++ {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		child.Env = append(os.Environ(), fullDiskEnv+"=1")
		out, err := child.CombinedOutput()
		switch {
		case err == nil && bytes.Contains(out, []byte("--- SKIP")):
			t.Skipf("%s", out)
		case err == nil:
			return
		case tries == 3 || !bytes.Contains(out, []byte("SIGBUS")):
			t.Fatalf("%v, at attempt %d\n%s", err, tries, out)
		}
	}
}

// fullDiskEnv names the environment variable of a process that fills a disk.
const fullDiskEnv = "ARCRAWL_FRONTIER_TEST_FULL_DISK"

// useFullDisk settles visits on a disk that is filled again and again.
func useFullDisk(t *testing.T) {
	t.Helper()
	disk := smalldisk.Mount(t, "220m")
	filler := filepath.Join(disk, "filler")
	w := newWorld(t, func(o *frontier.Options) {
		o.Dir, o.Compactors = filepath.Join(disk, "state"), 0
		o.AwaitSpace = func() { time.Sleep(5 * time.Millisecond) }
	})
	w.add(day, pages("a.example", 1000)...)
	rnd, now, visits := rand.New(rand.NewPCG(1, 1)), day, map[string]int{}
	random := rand.NewChaCha8([32]byte{})
	// visit settles one visit that writes 2 kB, which cannot be compressed.
	visit := func() error {
		now = now.Add(3 * time.Second)
		c := w.claimAny(now)
		o := visited(c, now, 10*time.Minute)
		o.Seen = make([]byte, 2000)
		_, _ = random.Read(o.Seen)
		if _, err := w.Settle(c, o); err != nil {
			w.wantErr(w.Release(c, now), frontier.ErrStale) // it has ended
			return err
		}
		visits[c.Record.URI.String()]++
		return nil
	}
	for round := range 3 {
		for range rnd.IntN(6000) {
			if err := visit(); err != nil {
				t.Fatalf("round %d: %v; there is space", round, err)
			}
		}
		atRest(t, w)
		fillDisk(t, filler)
		n, err := 0, error(nil)
		for ; err == nil && n < 20_000; n++ {
			err = visit()
		}
		if !errors.Is(err, frontier.ErrFull) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("round %d: %v after %d visits on a full disk", round, err, n)
		}
		if err := w.Space(); !errors.Is(err, frontier.ErrFull) {
			t.Errorf("round %d: Space: %v", round, err)
		}
		if err := w.Sync(); err != nil {
			t.Errorf("round %d: Sync: %v", round, err)
		}
		must(t, os.Remove(filler))
		if err := w.Space(); err != nil {
			t.Errorf("round %d: Space: %v; there is space again", round, err)
		}
	}
	w.reopen(now.Add(time.Hour))
	for text, n := range visits {
		if got := w.get(text).Visits; got != n {
			t.Fatalf("%s: %d visits, want %d", text, got, n)
		}
	}
}

// A store on a full disk cannot write its last tables. Closing it leaves everything in the log, and the store open: the
// table of an earlier log may be written meanwhile. [smalldisk.CopyFS] copies what a kill would leave at one moment.
// Once its copy was torn, as TestATornCopyIsNoDamagedStore shows, and this test failed.
func TestClosingOnAFullDiskLosesNothing(t *testing.T) {
	disk := smalldisk.Mount(t, "150m")
	w := newWorld(t, func(o *frontier.Options) {
		o.Dir, o.AwaitSpace = filepath.Join(disk, "state"), func() {}
	})
	w.add(day, pages("a.example", 200)...)
	random, visits, now := rand.NewChaCha8([32]byte{}), 0, day
	fillDisk(t, filepath.Join(disk, "filler"))
	for ; w.Space() == nil; visits++ { // until the reserve was used
		now = now.Add(3 * time.Second)
		c := w.claimAny(now)
		o := visited(c, now, time.Hour)
		o.Seen = make([]byte, 400_000)
		_, _ = random.Read(o.Seen)
		if _, err := w.Settle(c, o); err != nil {
			w.wantErr(err, frontier.ErrFull)
			break
		}
	}
	if err := w.Close(); err != nil && !errors.Is(err, frontier.ErrFull) {
		t.Fatalf("Close: %v, want success or an error that the disk is full", err)
	}
	left := filepath.Join(t.TempDir(), "left")
	must(t, smalldisk.CopyFS(left, w.o.Dir))
	w.Frontier, w.o.Dir, w.o.AwaitSpace = nil, left, nil
	w.open(now)
	found := 0
	must(t, w.Each(func(r frontier.Record) error { found += r.Visits; return nil }))
	if found != visits {
		t.Errorf("%d visits after the next opening, want %d", found, visits)
	}
}

// Badger makes the file of a table in its whole length, fills it through mapped memory, syncs it, and then names it in
// the manifest. The log stays until then. So no kill leaves half a table that the manifest names. Only a copy can,
// which takes the table first and the manifest later: no file appears or disappears between the two, and only the
// manifest becomes longer. Half a table alone does no harm: opening removes it and writes it again, from the log.
func TestATornCopyIsNoDamagedStore(t *testing.T) {
	const uris = 200
	w := newWorld(t)
	w.add(day, pages("a.example", uris)...)
	during := filepath.Join(t.TempDir(), "during")
	must(t, smalldisk.CopyFS(during, w.o.Dir))
	w.close()
	tables, err := filepath.Glob(filepath.Join(w.o.Dir, "*.sst"))
	must(t, err)
	if len(tables) != 1 {
		t.Fatalf("closing wrote the tables %q, want one", tables)
	}
	half, err := os.ReadFile(tables[0])
	must(t, err)
	clear(half[len(half)/2:])
	must(t, os.WriteFile(filepath.Join(during, filepath.Base(tables[0])), half, 0o600))
	named, err := os.ReadFile(filepath.Join(w.o.Dir, "MANIFEST"))
	must(t, err)
	torn := w.o
	torn.Dir = filepath.Join(t.TempDir(), "torn")
	must(t, smalldisk.CopyFS(torn.Dir, during))
	must(t, os.WriteFile(filepath.Join(torn.Dir, "MANIFEST"), named, 0o600))
	const want = "000001.sst: its index or a block is unreadable"
	if _, err := frontier.Open(torn); !errors.Is(err, frontier.ErrCorrupt) || !strings.Contains(err.Error(), want) {
		t.Errorf("the half with the manifest that names it: %v, want %q", err, want)
	}
	w.Frontier, w.o.Dir = nil, during
	w.open(day)
	found := 0
	must(t, w.Each(func(frontier.Record) error { found++; return nil }))
	if found != uris {
		t.Errorf("the half with the manifest of its time: %d URIs, want %d", found, uris)
	}
}

// Badger tries to write the last table without end while the disk fails. Closing does not wait for that, and loses
// nothing. It runs in a process of its own, because the fault is one of the whole process: no file may have a byte.
func TestClosingOnAFailingDiskEnds(t *testing.T) {
	const variable = "ARCRAWL_TEST_FAILING_DISK"
	if os.Getenv(variable) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestClosingOnAFailingDiskEnds$")
		cmd.Env = append(os.Environ(), variable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	w := newWorld(t, func(o *frontier.Options) { o.AwaitSpace = func() {} })
	w.add(day, pages("a.example", 20)...)
	c := w.claimAny(day)
	w.settle(c, visited(c, day.Add(time.Second), time.Hour))
	must(t, w.Space())
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 0, Max: limit.Max}))
	closed := make(chan error, 1)
	go func() { closed <- w.Close() }()
	var err error
	select {
	case err = <-closed:
	case <-time.After(time.Minute):
		err = errors.New("not closed in a minute")
	}
	left := filepath.Join(t.TempDir(), "left")
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	if err == nil || !strings.Contains(err.Error(), "the next start writes it from the log") {
		t.Fatalf("Close: %v, want an error that says what the next start does", err)
	}
	must(t, smalldisk.CopyFS(left, w.o.Dir))
	w.Frontier, w.o.Dir, w.o.AwaitSpace = nil, left, nil
	w.open(day.Add(time.Hour))
	found := 0
	must(t, w.Each(func(r frontier.Record) error { found += r.Visits; return nil }))
	if found != 1 {
		t.Errorf("%d visits after the next opening, want 1", found)
	}
}
