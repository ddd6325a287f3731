package frontier_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

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
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	if n := f.Counts(o.Now); n.URIs != 20 {
		t.Errorf("%d URIs, want 20", n.URIs)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
