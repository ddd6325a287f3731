package daemon

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// raiseLimits raises the soft limits of files and threads to the hard ones, and returns what is allowed then.
func raiseLimits() limits {
	l := limits{files: raise(unix.RLIMIT_NOFILE), threads: raise(unix.RLIMIT_NPROC)}
	if os.Geteuid() == 0 {
		l.threads = 0 // the limit does not apply to root
	}
	if n := maxTasks("/proc/self/cgroup", "/sys/fs/cgroup"); n != 0 && (l.threads == 0 || n < l.threads) {
		l.threads = n
	}
	return l
}

// raise raises a soft limit to its hard limit, if that is allowed, and returns it; 0 = unlimited or unknown.
func raise(which int) uint64 {
	var now unix.Rlimit
	if err := unix.Getrlimit(which, &now); err != nil {
		return 0
	}
	if now.Cur < now.Max {
		higher := unix.Rlimit{Cur: now.Max, Max: now.Max}
		if unix.Setrlimit(which, &higher) == nil {
			now = higher
		}
	}
	if now.Cur == unix.RLIM_INFINITY {
		return 0
	}
	return now.Cur
}

// maxTasks returns the maximum number of threads of the control group of the process; 0 = unlimited or unknown. Each
// line of the list of groups has a number, the names of controllers (none in version 2) and a path.
func maxTasks(list, root string) uint64 {
	text, err := os.ReadFile(list)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != "" && parts[1] != "pids" {
			continue
		}
		limit, err := os.ReadFile(filepath.Join(root, parts[1], parts[2], "pids.max"))
		if err != nil {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimSpace(string(limit)), 10, 64); err == nil {
			return n
		}
	}
	return 0
}
