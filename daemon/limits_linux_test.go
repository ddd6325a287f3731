package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

func TestLimitsSayWhatTheCrawlNeeds(t *testing.T) {
	t.Parallel()
	const processors = 2
	threads := func(max, others uint64) limits { return limits{files: 65536, threads: threadLimit{max, others}} }
	for _, c := range []struct {
		name            string
		l               limits
		workers, tables int
		refused, warned []string // words of the message
		passes          bool     // the cause can pass by itself: systemd starts the daemon again
	}{
		{"plenty", threads(4096, 0), 50, 3000, nil, nil, false},
		{"no limits", limits{}, 10_000, 1_000_000, nil, nil, false},
		{"64 files", limits{files: 64}, 50, 0, []string{"may open 64 files", "needs 164", "LimitNOFILE", "crawl.workers"}, nil, false},
		{"a large store", limits{files: 1024}, 50, 2000, []string{"needs 2164", "2000 for the tables"}, nil, false},
		{"a store that grows", limits{files: 1024}, 50, 800, nil, []string{"needs 964 now", "LimitNOFILE"}, false},
		{"8 threads", threads(8, 0), 50, 0, []string{"8 threads", "needs 32", "TasksMax", "--pids-limit"}, nil, false},
		{
			"threads of others", threads(4096, 4080), 50, 0,
			[]string{"16 threads", "limit is 4096", "have 4080", "needs 32", "ulimit -u"},
			nil, true,
		},
		{"others above the limit", threads(100, 120), 50, 0, []string{"may have 0 threads"}, nil, true},
		{"fewer threads than workers", threads(40, 0), 50, 0, nil, []string{"40 threads", "may need 82", "crawl.workers"}, false},
		{"few threads and few workers", threads(40, 0), 8, 0, nil, nil, false},
	} {
		warning, err := c.l.check(c.workers, c.tables, processors)
		if (err != nil) != (c.refused != nil) || (warning != "") != (c.warned != nil) {
			t.Errorf("%s: warning %q, error %v", c.name, warning, err)
			continue
		}
		if err != nil && errors.As(err, new(LimitError)) == c.passes {
			t.Errorf("%s: %v; a LimitError keeps systemd from starting the daemon again", c.name, err)
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
		list  string
		files map[string]string
		want  threadLimit
	}{
		"version 2": {
			"0::/system.slice/arcrawl.service\n",
			map[string]string{"system.slice/arcrawl.service/pids.max": "8\n"},
			threadLimit{8, 0},
		},
		"version 1": {"3:cpu:/a\n5:pids:/b\n", map[string]string{"pids/b/pids.max": "4096\n"}, threadLimit{4096, 0}},
		"unlimited": {"0::/\n", map[string]string{"pids.max": "max\n"}, threadLimit{}},
		"a container": {
			"0::/\n", map[string]string{"pids.max": "100\n", "pids.current": "30\n"}, threadLimit{100, 23},
		},
		"a group without one": {"0::/nowhere\n", nil, threadLimit{}},
		"the group above leaves fewer": {
			"0::/user.slice/shell\n",
			map[string]string{
				"user.slice/shell/pids.max": "1000\n", "user.slice/shell/pids.current": "7\n",
				"user.slice/pids.max": "2000\n", "user.slice/pids.current": "1990\n",
			},
			threadLimit{2000, 1983},
		},
	} {
		root := t.TempDir()
		list := filepath.Join(root, "list")
		writeTree(t, root, c.files)
		writeTree(t, root, map[string]string{"list": c.list})
		if got := maxTasks(list, root, 7); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestThreadsOfAUserAreCounted(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeTree(t, root, map[string]string{
		"1/status":    "Name:\tinit\nUid:\t0\t0\t0\t0\nThreads:\t1\n",
		"20/status":   "Name:\tUid: 7\nUid:\t1000\t1000\t1000\t1000\nThreads:\t12\n",
		"21/status":   "Name:\tsetuid\nUid:\t1000\t0\t0\t0\nThreads:\t3\n",
		"22/status":   "",
		"23/status":   "Name:\tmyself\nUid:\t1000\t1000\t1000\t1000\nThreads:\t40\n",
		"self/status": "Uid:\t1000\nThreads:\t12\n",
	})
	if got := userThreads(root, 1000, "23"); got != 15 {
		t.Errorf("%d threads of other processes, want 15", got)
	}
}

// writeTree writes files, by their path below a folder.
func writeTree(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(root, name)
		archivetest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)))
	}
}
