package frontier_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
)

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
