package daemon

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

func TestGarbageIsBoundedByWhatACollectionSearches(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for _, c := range []struct {
		name string
		heap
		want int // percent
	}{
		{"a small heap: half of what is in use", heap{live: 8 * mb, scanned: 2 * mb, roots: mb}, 50},
		{"a crawl that begins: half of what is in use", heap{live: 30 * mb, scanned: 4 * mb, roots: 2 * mb}, 50},
		{"a crawl that builds tables: 16 MB", heap{live: 96 * mb, scanned: 6 * mb, roots: 4 * mb}, 16},
		{"a heap with many pointers: as much as is searched", heap{live: 190 * mb, scanned: 50 * mb, roots: 10 * mb}, 30},
		{"a heap of pointers only: half of what is in use", heap{live: 200 * mb, scanned: 200 * mb, roots: 10 * mb}, 50},
		{"before the first collection: half of what is in use", heap{}, 50},
	} {
		if got := c.garbagePercent(); got != c.want {
			t.Errorf("%s: %d %%, want %d", c.name, got, c.want)
		}
	}
}

// This test is not parallel, because it changes a setting of the whole process.
func TestTheBoundFollowsEachCollection(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	stop := boundGarbage()
	defer stop()
	blocks := make([]byte, 256<<20) // without pointers, so a collection does not search them
	collect := func(until func(percent int) bool) int {
		percent := 0
		for range 1000 {
			runtime.GC()
			runtime.Gosched()
			if _, percent = lastCollection(); until(percent) {
				break
			}
		}
		return percent
	}
	if got := collect(func(percent int) bool { return percent < MaxGarbage/2 }); got >= MaxGarbage/2 {
		t.Errorf("with 256 MB without pointers the bound is %d %%, want less than %d", got, MaxGarbage/2)
	}
	runtime.KeepAlive(blocks)
	blocks = nil
	if got := collect(func(percent int) bool { return percent == MaxGarbage }); got != MaxGarbage {
		t.Errorf("after the 256 MB were collected the bound is %d %%, want %d", got, MaxGarbage)
	}
}

// This test is not parallel, because it changes a setting of the whole process.
func TestGOGCInTheEnvironmentWins(t *testing.T) {
	t.Setenv("GOGC", "77")
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	defer boundGarbage()()
	runtime.GC()
	runtime.GC()
	if _, percent := lastCollection(); percent != 77 {
		t.Errorf("the bound is %d %%, want 77", percent)
	}
}

// withWorkers returns a configuration with a number of workers and defaults.
func withWorkers(t *testing.T, workers string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	text := "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n" +
		"[seeds]\nuris = [\"http://news.example/\"]\n" + workers
	archivetest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	c, err := config.Load(path)
	archivetest.Must(t, err)
	return c
}

func TestTheSoftLimitOfMemoryFollowsTheSettings(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "") // it would be in force instead
	was := debug.SetMemoryLimit(-1)
	now := time.Now()
	few, many := withWorkers(t, "[crawl]\nworkers = 10\n"), withWorkers(t, "[crawl]\nworkers = 200\n")
	needFew, needMany := MemoryNeed(few, now), MemoryNeed(many, now)
	if needMany-needFew != 190*(18<<20+3*(2<<20)) {
		t.Errorf("10 workers need %d bytes, 200 need %d", needFew, needMany)
	}
	for _, c := range []struct {
		name    string
		config  *config.Config
		service int64
		want    int64
		warns   bool
	}{
		{"no limit of the service", few, 0, needFew, false},
		{"a large limit of the service", few, 100 << 30, needFew, false},
		{"a small limit of the service", many, 1 << 30, (1 << 30) / 100 * 90, true},
	} {
		var log strings.Builder
		d := &Daemon{live: config.NewLive(c.config), log: zerolog.New(&log)}
		stop := d.limitMemory(now, c.service)
		if got := debug.SetMemoryLimit(-1); got != c.want {
			t.Errorf("%s: the limit is %d, want %d", c.name, got, c.want)
		}
		if warned := strings.Contains(log.String(), "MemoryMax"); warned != c.warns {
			t.Errorf("%s: warned %v: %s", c.name, warned, log.String())
		}
		stop()
	}
	if got := debug.SetMemoryLimit(-1); got != was {
		t.Errorf("the limit is %d after the end, want %d as before", got, was)
	}
}

func TestServiceMemoryIsTheSmallestLimitAbove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		archivetest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		archivetest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	put("groups/system.slice/memory.max", "3000000\n")
	put("groups/system.slice/arcrawl.service/memory.max", "max\n")
	put("groups/other.slice/memory.max", "5\n")
	groups := filepath.Join(dir, "groups")
	for text, want := range map[string]int64{
		"0::/system.slice/arcrawl.service\n":    3_000_000,
		"1:name=systemd:/x\n0::/system.slice\n": 3_000_000,
		"0::/\n":                                0,
		"0::/../../etc\n":                       0,
		"12:memory:/old\n":                      0,
		"":                                      0,
		"0::/no/such/group\n":                   0,
		"0::/system.slice/arcrawl.service/deeper/x": 3_000_000,
	} {
		if got := serviceMemory(put("cgroup", text), groups); got != want {
			t.Errorf("%q: %d bytes, want %d", text, got, want)
		}
	}
	if got := serviceMemory(filepath.Join(dir, "absent"), groups); got != 0 {
		t.Errorf("without control groups: %d bytes", got)
	}
}

// The unit's MemoryMax suffices for the default settings, with room for mapped files.
func TestTheUnitHasMemoryForTheDefaults(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../packaging/systemd/arcrawl.service")
	archivetest.Must(t, err)
	found := regexp.MustCompile(`(?m)^MemoryMax=(\d+)G$`).FindSubmatch(text)
	if found == nil {
		t.Fatal("the unit has no MemoryMax")
	}
	gigabytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil || gigabytes > math.MaxInt64>>30 {
		t.Fatal(err)
	}
	usable := gigabytes << 30 / 100 * serviceShare
	for workers, fits := range map[string]bool{"": true, "[crawl]\nworkers = 130\n": true, "[crawl]\nworkers = 200\n": false} {
		if need := MemoryNeed(withWorkers(t, workers), time.Now()); need <= usable != fits {
			t.Errorf("%q needs %d bytes, and the unit has %d; want that it fits: %v", workers, need, usable, fits)
		}
	}
}

// This test is not parallel, because it changes a setting of the whole process.
func TestAllProcessorsAreUsedAgainAfterARest(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	rest := oneProcessorAtRest()
	for range 2 {
		rest(true)
		if n := runtime.GOMAXPROCS(0); n != 1 {
			t.Errorf("at rest the program runs on %d processors, want 1", n)
		}
		rest(false)
		if n := runtime.GOMAXPROCS(0); n != before {
			t.Errorf("after the rest the program runs on %d processors, want %d", n, before)
		}
	}
}

func TestMemoryIsFreedWhenTheCrawlHasRestedForAWhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rests []time.Duration // rests, each followed by a second of work
		want  int
	}{
		{"a short rest", []time.Duration{freeAfter - time.Second}, 0},
		{"many short ones", slices.Repeat([]time.Duration{freeAfter / 2}, 10), 0},
		{"a long one", []time.Duration{time.Hour}, 1},
		{"two long ones", []time.Duration{time.Hour, time.Minute}, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			freed := 0
			rest := freeMemoryAtRest(func() { freed++ })
			for _, d := range c.rests {
				rest(true)
				time.Sleep(d)
				synctest.Wait()
				rest(false)
				time.Sleep(time.Second)
			}
			if freed != c.want {
				t.Errorf("%s: memory was freed %d times, want %d", c.name, freed, c.want)
			}
		})
	}
}

// This test is not parallel, because it measures the whole process.
func TestUnusedMemoryIsReturnedToTheSystem(t *testing.T) {
	allocate()
	runtime.GC()
	if unused := unusedMemory(); unused < minFree {
		t.Fatalf("%d bytes are unused after 64 MB were allocated and released", unused)
	}
	freeMemory()
	if unused := unusedMemory(); unused >= minFree {
		t.Errorf("%d bytes are unused after memory was freed, want fewer than %d", unused, minFree)
	}
}

//go:noinline
func allocate() {
	block := make([]byte, 64<<20)
	for i := range block {
		block[i] = 1
	}
	runtime.GC()
	runtime.KeepAlive(&block)
}
