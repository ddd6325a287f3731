package daemon

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
)

// withWorkers returns a configuration with a number of workers and defaults.
func withWorkers(t *testing.T, workers string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	text := "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n" +
		"[seeds]\nuris = [\"http://news.example/\"]\n" + workers
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheSoftLimitOfMemoryFollowsTheSettings(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "") // it would be in force instead
	was := debug.SetMemoryLimit(-1)
	now := time.Now()
	few, many := withWorkers(t, "[crawl]\nworkers = 10\n"), withWorkers(t, "[crawl]\nworkers = 200\n")
	needFew, needMany := MemoryNeed(few, now), MemoryNeed(many, now)
	if needMany-needFew != 190*(visitMemory+comparedCopies*(2<<20)) {
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
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
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
