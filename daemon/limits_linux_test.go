package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLimitsSayWhatTheCrawlNeeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		l               limits
		workers, tables int
		refused, warned []string // words of the message
	}{
		{"plenty", limits{65536, 4096}, 50, 3000, nil, nil},
		{"no limits", limits{}, 10_000, 1_000_000, nil, nil},
		{"64 files", limits{files: 64}, 50, 0, []string{"may open 64 files", "needs 164", "LimitNOFILE", "crawl.workers"}, nil},
		{"a large store", limits{files: 1024}, 50, 2000, []string{"needs 2164", "2000 for the tables"}, nil},
		{"a store that grows", limits{files: 1024}, 50, 800, nil, []string{"needs 964 now", "LimitNOFILE"}},
		{"8 threads", limits{65536, 8}, 50, 0, []string{"8 threads", "needs 32", "TasksMax"}, nil},
	} {
		warning, err := c.l.check(c.workers, c.tables)
		if (err != nil) != (c.refused != nil) || (warning != "") != (c.warned != nil) {
			t.Errorf("%s: warning %q, error %v", c.name, warning, err)
			continue
		}
		if err != nil && !errors.As(err, new(LimitError)) {
			t.Errorf("%s: %v is no LimitError", c.name, err)
		}
		for _, word := range append(c.refused, c.warned...) {
			if err != nil && !strings.Contains(err.Error(), word) || err == nil && !strings.Contains(warning, word) {
				t.Errorf("%s: %q%v; want %q in it", c.name, warning, err, word)
			}
		}
	}
}

func TestTheLimitOfThreadsOfAControlGroupIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list, file, limit string
		want              uint64
	}{
		"version 2":           {"0::/system.slice/arcrawl.service\n", "system.slice/arcrawl.service", "8\n", 8},
		"version 1":           {"3:cpu:/a\n5:pids:/b\n", "pids/b", "4096\n", 4096},
		"unlimited":           {"0::/\n", ".", "max\n", 0},
		"a group without one": {"0::/nowhere\n", ".", "8\n", 0},
	} {
		root := t.TempDir()
		list := filepath.Join(root, "list")
		if err := errors.Join(
			os.MkdirAll(filepath.Join(root, c.file), 0o700), os.WriteFile(list, []byte(c.list), 0o600),
			os.WriteFile(filepath.Join(root, c.file, "pids.max"), []byte(c.limit), 0o600),
		); err != nil {
			t.Fatal(err)
		}
		if got := maxTasks(list, root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
