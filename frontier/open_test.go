package frontier_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
	"github.com/arcrawl/arcrawl/uri"
)

func TestOpenRefusesBadOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]frontier.Options{
		"no folder":                   {Now: day},
		"no time":                     {Dir: t.TempDir()},
		"one compactor":               {Dir: t.TempDir(), Now: day, Compactors: 1},
		"a negative limit":            {Dir: t.TempDir(), Now: day, MaxURIsPerHost: -1},
		"a folder that is a file":     {Dir: file(t), Now: day},
		"a folder below one":          {Dir: filepath.Join(file(t), "below"), Now: day},
		"a negative rest after crash": {Dir: t.TempDir(), Now: day, RestAfterCrash: -1},
	} {
		f, err := frontier.Open(o)
		if err == nil {
			t.Errorf("%s: opened", name)
			_ = f.Close()
		}
		if errors.Is(err, frontier.ErrCorrupt) {
			t.Errorf("%s: %v; nothing is damaged", name, err)
		}
	}
}

func file(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(name, nil, 0o600))
	return name
}

func TestOpenReportsTheProcessThatHasTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := frontier.Open(w.o)
	w.wantErr(err, frontier.ErrLocked)
	for _, part := range []string{w.o.Dir, fmt.Sprintf("pid %d", os.Getpid())} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want it to contain %q", err, part)
		}
	}
	w.add(day, "http://a.example/") // the first frontier still works
}

// The store of another format, or without one, is not overwritten. The error names the folder, the format, and the
// commands that carry the histories over.
func TestOpenRefusesAStoreOfAnotherFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format, before []byte // nil = there is none
		want           error
		says           []string
	}{
		"a newer store": {[]byte{200}, nil, frontier.ErrVersion, []string{"format 200", "later version"}},
		"a store of before the first release": {nil, []byte{2}, frontier.ErrVersion, []string{
			"format 2", "frontier export", "backup restore --rebuild", "frontier import --replace", "dedup import",
		}},
		"a store without a version": {nil, nil, frontier.ErrCorrupt, nil},
	} {
		w := newWorld(t)
		w.add(day, "http://a.example/")
		if c.format != nil {
			w.put(map[string][]byte{"mformat": c.format})
		}
		if c.before != nil {
			w.put(map[string][]byte{"mversion": c.before})
		}
		w.close()
		if c.format == nil {
			removeKey(t, w.o.Dir, "mformat")
		}
		for _, w.o.Inspect = range []bool{false, true} {
			_, err := frontier.Open(w.o)
			w.wantErr(err, c.want)
			for _, part := range append(c.says, w.o.Dir) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: error %q, want it to contain %q", name, err, part)
				}
			}
		}
	}
}

// removeKey removes a key from the store of a closed frontier.
func removeKey(t *testing.T, dir, key string) {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil))
	must(t, err)
	err = db.Update(func(txn *badger.Txn) error { return txn.Delete([]byte(key)) })
	must(t, errors.Join(err, db.Close()))
}

func TestClosedFrontierReturnsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, "http://a.example/")
	c := w.claim(day, "http://a.example/")
	f := w.Frontier
	w.close()
	u := parse(t, "http://a.example/")
	_, addErr := f.Add(day, frontier.Candidate{URI: u})
	_, _, claimErr := f.Claim(day)
	_, settleErr := f.Settle(c, visited(c, day, 0))
	_, divertErr := f.Divert(c, u, day)
	_, _, getErr := f.Get(u)
	_, _, robotsErr := f.Robots(u)
	for name, err := range map[string]error{
		"Add": addErr, "Claim": claimErr, "Settle": settleErr, "Release": f.Release(c, day), "Divert": divertErr, "Get": getErr,
		"Robots": robotsErr, "Sync": f.Sync(), "Check": f.Check(), "Each": f.Each(func(frontier.Record) error { return nil }),
	} {
		if !errors.Is(err, frontier.ErrClosed) {
			t.Errorf("%s: error %v, want an error that the frontier is closed", name, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
	if _, ok := f.NextReady(); ok {
		t.Error("NextReady of a closed frontier")
	}
}

// The test damages, cuts and removes a key of each kind in turn. Nothing may panic, and Check or Open must name the
// key.
func TestDamagedKeysAreNamed(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	w := newWorld(t)
	w.add(day, "http://a.example/")
	r, err := w.Divert(w.claim(day, "http://a.example/"), parse(t, "http://a.example/robots.txt"), day)
	must(t, err)
	w.settle(r, frontier.Settlement{Record: r.Record, Finished: day, Robots: &frontier.RobotsCopy{Status: 200}})
	c := w.claim(day, "http://a.example/")
	o := visited(c, day, 0)
	o.Forbidden = true
	w.settle(c, o)

	for _, kind := range []byte("hnquxr") {
		for key, value := range w.values(kind) {
			for _, harm := range []struct {
				name  string
				key   string
				value []byte
			}{
				{"emptied", key, nil},
				{"garbled", key, []byte("\xff\xff\xff\xff\xff\xff\xff\xff")},
				{"cut", key, value[:max(0, len(value)-3)]},
				{"of an unknown host", string([]byte{key[0], 9, 9, 9, 9}) + key[min(5, len(key)):], value},
				{"with a short name", key[:2], value},
				{"taken away", key, nil},
			} {
				w.harm(kind, key, harm.name, harm.key, harm.value)
			}
		}
	}
}

// harm puts a wrong value into the store, checks that the frontier reports it, and removes it.
func (w *world) harm(kind byte, key, name, at string, value []byte) {
	w.Helper()
	if kind == 'q' && at == key && name != "taken away" || string(w.values(kind)[key]) == string(value) && at == key && name != "taken away" {
		return // such a key has no value, or this change does no damage
	}
	whole := w.values(kind)[key]
	err := w.DB().Update(func(txn *badger.Txn) error {
		if name == "taken away" {
			return txn.Delete([]byte(at))
		}
		return txn.Set([]byte(at), value)
	})
	must(w, err)
	if err := w.Check(); err == nil && !(kind == 'r' && (name == "taken away" || name == "cut")) {
		w.Errorf("key %q %s: Check found nothing", key, name)
	}
	_, _, _ = w.Claim(day.AddDate(1, 0, 0))
	_ = w.Each(func(frontier.Record) error { return nil })
	_, _, _ = w.Get(parse(w, "http://a.example/"))
	_, _, _ = w.Robots(parse(w, "http://a.example/"))
	_ = w.Frontier.Close()
	f, err := frontier.Open(w.o)
	if err != nil {
		if !errors.Is(err, frontier.ErrCorrupt) && !errors.Is(err, frontier.ErrVersion) {
			w.Errorf("key %q %s: Open: %v, want an error that the store is damaged", key, name, err)
		}
	} else {
		if err := f.Check(); err == nil && kind != 'r' {
			w.Errorf("key %q %s: opened, and Check found nothing", key, name)
		}
		_ = f.Close()
	}
	w.repair(at, key, whole)
}

// repair undoes the damage while the frontier is closed, and opens it.
func (w *world) repair(foreign, key string, value []byte) {
	w.Helper()
	db, err := badger.Open(badger.DefaultOptions(w.o.Dir).WithLogger(nil).WithNumCompactors(0))
	must(w, err)
	err = db.Update(func(txn *badger.Txn) error {
		return errors.Join(txn.Delete([]byte(foreign)), txn.Set([]byte(key), value))
	})
	must(w, errors.Join(err, db.Close()))
	w.open(day)
}

// The test flips bytes in every file of the store. Without the checks of this package Badger would end the process in
// some cases, panic in one of its own goroutines in others, and ignore the rest.
func TestDamagedFilesAreAnError(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	w := newWorld(t)
	w.add(day, pages("a.example", 300)...)
	whole := allOf(w.Frontier)
	w.close()
	files, err := filepath.Glob(filepath.Join(w.o.Dir, "*"))
	must(t, err)
	rnd := rand.New(rand.NewPCG(1, 1))
	tables, opened, same := 0, 0, 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		must(t, err)
		table := filepath.Ext(name) == ".sst"
		offsets := rnd.Perm(min(len(data), 1<<16))
		switch {
		case filepath.Base(name) == badger.ManifestFilename: // small: every byte
		case table:
			offsets = offsets[:min(len(data), 30)]
			for range 15 { // the index and the footer
				offsets = append(offsets, len(data)-1-rnd.IntN(60))
			}
			tables += len(offsets)
		default:
			offsets = offsets[:min(len(data), 10)]
		}
		for _, i := range offsets {
			harmed := append([]byte(nil), data...)
			harmed[i] ^= byte(1 + rnd.IntN(255))
			if ok, held := w.openHarmed(name, harmed, data); ok {
				opened++
				if !table {
					continue
				}
				// A flipped byte may make the decompression copy the same bytes from another place: then nothing is
				// lost.
				if same++; same > tables/20 || !slices.Equal(held, whole) {
					t.Errorf("%s with byte %d flipped was opened", filepath.Base(name), i)
				}
			}
		}
		if table {
			for _, n := range []int{0, 1, 3, 4, 7, 8, len(data) / 2, len(data) - 1} {
				if ok, _ := w.openHarmed(name, data[:n], data); ok {
					t.Errorf("%s cut to %d bytes was opened", filepath.Base(name), n)
				}
			}
		}
	}
	if tables == 0 || opened == 0 {
		t.Errorf("%d tables damaged, %d stores opened, want both above zero", tables, opened)
	}
}

func TestMissingFilesAreAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, pages("a.example", 300)...)
	w.close()
	files, err := filepath.Glob(filepath.Join(w.o.Dir, "*"))
	must(t, err)
	for _, gone := range files {
		if filepath.Ext(gone) == ".sst" || filepath.Base(gone) == badger.ManifestFilename {
			data, err := os.ReadFile(gone)
			must(t, err)
			if ok, _ := w.openHarmed(gone, nil, data); ok {
				t.Errorf("opened without %s", filepath.Base(gone))
			}
		}
	}
}

// openHarmed opens a copy of the store in which one file has other content, or is missing if the content is nil. If the
// copy can be opened, it must be complete, or Check must report the damage.
func (w *world) openHarmed(name string, harmed, whole []byte) (opened bool, held []string) {
	w.Helper()
	o := w.o
	o.Dir = filepath.Join(w.TempDir(), "harmed")
	must(w, smalldisk.CopyFS(o.Dir, w.o.Dir))
	copied := filepath.Join(o.Dir, filepath.Base(name))
	if harmed == nil {
		must(w, os.Remove(copied))
	} else if err := os.WriteFile(copied, harmed, 0o600); err != nil {
		w.Fatal(err)
	}
	f, err := frontier.Open(o)
	if err != nil {
		if !errors.Is(err, frontier.ErrCorrupt) || !strings.Contains(err.Error(), "backup") {
			w.Errorf("%s damaged: %v; want ErrCorrupt, with advice", filepath.Base(name), err)
		}
		return false, nil
	}
	n := f.Counts(day).URIs
	if err := f.Check(); err == nil && n != 300 {
		w.Errorf("%s damaged: opened with %d URIs, want 300, and Check found nothing", filepath.Base(name), n)
	}
	held = allOf(f)
	if err := f.Close(); err != nil {
		w.Errorf("%s damaged: close: %v", filepath.Base(name), err)
	}
	return true, held
}

// allOf returns all records that can be read.
func allOf(f *frontier.Frontier) (all []string) {
	_ = f.Each(func(r frontier.Record) error { all = append(all, fmt.Sprintf("%+v", r)); return nil })
	return all
}

// With many workers no URI is handed out twice at the same time, no URI is lost, no host exceeds its valence, and
// a settlement is visible as soon as it has ended.
func TestManyWorkersAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *frontier.Options) {
		o.Compactors = 0
		o.Valence = func(uri.Host) int { return 2 }
	})
	for i := range 5 {
		w.add(day, pages(fmt.Sprintf("h%d.example", i), 40)...)
	}
	var inProgress sync.Map
	var workers sync.WaitGroup
	for n := range 8 {
		workers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(n), 7))
			for i := range 150 {
				c, ok, err := w.Claim(at(time.Duration(i) * time.Minute))
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					continue
				}
				host, _ := w.Host(c.Record.URI.Host(), day)
				if _, twice := inProgress.LoadOrStore(c.Record.URI, true); twice || host.InProgress > 2 {
					t.Errorf("%s handed out; in progress: %v, on its host: %d", c.Record.URI, twice, host.InProgress)
				}
				if rnd.IntN(5) == 0 {
					inProgress.Delete(c.Record.URI)
					err = w.Release(c, day)
				} else {
					o := visited(c, at(time.Duration(i)*time.Minute), 10*time.Minute)
					o.Found = candidates(t, pages(fmt.Sprintf("h%d.example", rnd.IntN(7)), 30)...)
					key := []byte("z" + c.Record.URI.String())
					o.AlsoWrite = func(txn *badger.Txn) error { return txn.Set(key, nil) }
					inProgress.Delete(c.Record.URI)
					if _, err = w.Settle(c, o); err == nil {
						err = w.View(func(txn *badger.Txn) error { _, err := txn.Get(key); return err })
					}
				}
				if err != nil {
					t.Error(err)
				}
				w.Counts(day)
				w.NextReady()
			}
		})
	}
	workers.Wait()
	w.check()
	if n := w.Counts(day); n.InProgress != 0 || n.Queued != n.URIs || n.URIs < 200 {
		t.Errorf("Counts = %+v; want all URIs waiting", n)
	}
}

func TestInspectChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(day, pages("a.example", 50)...)
	w.Frontier.Close()
	before := files(t, w.o.Dir)
	f, err := frontier.Open(frontier.Options{Dir: w.o.Dir, Now: day, Compactors: -1, Inspect: true})
	must(t, err)
	must(t, f.Check())
	if _, err := f.Add(day, candidates(t, "http://b.example/")...); err == nil {
		t.Error("a URI was added to a store that is opened for inspection")
	}
	must(t, f.Close())
	after := files(t, w.o.Dir)
	delete(before, "LOCK")
	delete(after, "LOCK")
	same(t, after, before)
	w.open(day)
	w.claimAny(day) // the store was properly closed, so no host rests
}

// A process that was killed leaves a log with an incomplete end.
func TestInspectReadsAKilledStore(t *testing.T) {
	t.Parallel()
	f, err := frontier.Open(frontier.Options{
		Dir: unpackStore(t, "testdata/format-1-killed.tar.gz"), Now: at(time.Hour),
		Compactors: -1, Inspect: true,
	})
	must(t, err)
	if n := f.Counts(at(time.Hour)); n.URIs != 41 {
		t.Errorf("Counts = %+v", n)
	}
	must(t, errors.Join(f.Check(), f.Close()))
}

// claimAny claims a URI, and fails the test if there is none.
func (w *world) claimAny(now time.Time) frontier.Claim {
	w.Helper()
	c, ok, err := w.Claim(now)
	if err != nil || !ok {
		w.Fatalf("Claim = %v, %v; want anything", ok, err)
	}
	return c
}

// A kill can leave a file that the store had only begun, or had emptied in order to remove it. The next opening must
// work, keep everything that was settled, and leave a store without faults; so must an inspection before it.
func TestAKillBetweenTwoStepsOfTheStoreIsRepairedAtTheNextOpening(t *testing.T) {
	t.Parallel()
	whole := killedStore(t)
	const mapped = 12 << 20                              // bytes of a log of the memory table
	for name, left := range map[string]map[string]int64{ // the file, and its length
		"a new memory table, empty":           {"00002.mem": 0},
		"a new memory table, without a head":  {"00002.mem": mapped},
		"a much later memory table, empty":    {"00009.mem": 0},
		"two new memory tables":               {"00002.mem": 0, "00003.mem": 0},
		"an earlier memory table, emptied":    {"00000.mem": 0},
		"a new log of values, empty":          {"000002.vlog": 0},
		"a new log of values, without a head": {"000002.vlog": 128 << 20},
		"the log of values, empty":            {"000001.vlog": 0},
		"both logs at once":                   {"00002.mem": 0, "000002.vlog": 0},
		"a table that was emptied":            {"000007.sst": 0},
		"a table without contents":            {"000007.sst": 4096},
		"the statistics of garbage, empty":    {"DISCARD": 0},
		"a manifest that was being rewritten": {"MANIFEST-REWRITE": 0},
		"a registry that was being rewritten": {"REWRITE-KEYREGISTRY": 0},
	} {
		for _, inspect := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, inspected first: %t", name, inspect), func(t *testing.T) {
				t.Parallel()
				o := frontier.Options{Dir: filepath.Join(t.TempDir(), "left"), Now: at(time.Hour), Compactors: -1}
				must(t, smalldisk.CopyFS(o.Dir, whole))
				for file, length := range left {
					path := filepath.Join(o.Dir, file)
					must(t, os.WriteFile(path, nil, 0o600))
					must(t, os.Truncate(path, length))
				}
				if inspect {
					o.Inspect = true
					hasAllURIs(t, o)
					o.Inspect = false
				}
				hasAllURIs(t, o)
				hasAllURIs(t, o)
			})
		}
	}
}

// killedStore returns a folder with the store of a frontier that was not closed.
func killedStore(t *testing.T) (dir string) {
	t.Helper()
	w := newWorld(t)
	w.add(day, pages("a.example", 20)...)
	dir = filepath.Join(t.TempDir(), "whole")
	must(t, smalldisk.CopyFS(dir, w.o.Dir))
	return dir
}

// hasAllURIs opens a copy of the killed store and closes it.
func hasAllURIs(t *testing.T, o frontier.Options) {
	t.Helper()
	f, err := frontier.Open(o)
	if err != nil {
		t.Fatalf("inspecting %t: %v", o.Inspect, err)
	}
	must(t, f.Check())
	if n := f.Counts(o.Now); n.URIs != 20 {
		t.Errorf("%d URIs, want 20", n.URIs)
	}
	must(t, f.Close())
}
