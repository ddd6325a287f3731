package frontier_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// After a power failure the store is undamaged and has everything that was written before the last Sync. The test
// assumes that tables and the manifest are on disk as soon as the store relies on them. The logs lose the bytes that
// were written after the last Sync. Logs that were begun after it are missing, empty, or full of zeros.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	rounds := 8
	if slow.Reduced() {
		rounds = 3
	}
	for seed := range uint64(rounds) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 3))
			w := newWorld(t, func(o *frontier.Options) { o.Compactors = 0 })
			w.add(day, pages("a.example", 500)...)
			now := visitSome(w, rnd, day, rnd.IntN(1500))
			must(t, w.Sync())
			covered := map[string]frontier.Record{}
			must(t, w.Each(func(r frontier.Record) error { covered[r.URI.String()] = r; return nil }))
			synced := files(t, w.o.Dir)
			now = visitSome(w, rnd, now, rnd.IntN(3000))
			o := w.o
			o.Dir, o.Now = filepath.Join(t.TempDir(), "left"), now
			cutPower(t, rnd, synced, files(t, w.o.Dir), o.Dir)

			f, err := frontier.Open(o)
			must(t, err)
			must(t, f.Check())
			for text, was := range covered {
				if is, ok, err := f.Get(was.URI); err != nil || !ok || is.Visits < was.Visits {
					t.Fatalf("%s: %d visits, %v, %v; Sync covered %d", text, is.Visits, ok, err, was.Visits)
				}
			}
			if _, ok, _ := f.Claim(now); ok {
				t.Error("hosts do not rest after a power failure")
			}
			must(t, f.Close())
		})
	}
}

// visitSome settles visits with long records, so that logs become full and are written as tables.
func visitSome(w *world, rnd *rand.Rand, now time.Time, n int) time.Time {
	w.Helper()
	for range n {
		now = now.Add(3 * time.Second)
		c := w.claimAny(now)
		o := visited(c, now, 20*time.Minute)
		text := func() string { return strings.Repeat(string(rune('a'+rnd.IntN(26))), frontier.MaxText-rnd.IntN(100)) }
		o.Record.Validators.ETag, o.Record.Validators.LastModified = text(), text()
		w.settle(c, o)
	}
	return now
}

// files reads the files of a folder that is in use. It skips a file that is removed at the same time.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	// The manifest is read first: the files that it names exist, unless there is a later manifest.
	for range 100 {
		before, err := os.ReadFile(filepath.Join(dir, "MANIFEST"))
		must(t, err)
		found := map[string][]byte{}
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		must(t, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err == nil {
				found[filepath.Base(name)] = data
			} else if !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		after, err := os.ReadFile(filepath.Join(dir, "MANIFEST"))
		if err == nil && string(before) == string(after) {
			return found
		}
	}
	t.Fatal("the store does not stop merging")
	return nil
}

// cutPower writes the files that a power failure leaves.
func cutPower(t *testing.T, rnd *rand.Rand, synced, written map[string][]byte, dir string) {
	t.Helper()
	must(t, os.Mkdir(dir, 0o700))
	for name, data := range written {
		old, was := synced[name]
		switch {
		case filepath.Ext(name) != ".mem" || was && rnd.IntN(4) == 0: // always on disk, or there by chance
		case was:
			data = old
		case rnd.IntN(3) == 0:
			continue
		case rnd.IntN(2) == 0:
			data = nil
		default:
			data = make([]byte, len(data))
		}
		must(t, os.WriteFile(filepath.Join(dir, name), data, fs.FileMode(0o600)))
	}
}
