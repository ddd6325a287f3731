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
	l := limits{files: raise(unix.RLIMIT_NOFILE)}
	own := statusNumber("/proc/self/status", "Threads:")
	if n := raise(unix.RLIMIT_NPROC); n != 0 && os.Geteuid() != 0 { // the limit does not apply to root
		l.threads = threadLimit{max: n, others: userThreads("/proc", uint64(os.Getuid()), strconv.Itoa(os.Getpid()))}
	}
	l.threads = l.threads.tighter(maxTasks("/proc/self/cgroup", "/sys/fs/cgroup", own))
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

// userThreads returns how many threads the processes of a user have, as far as the folder of processes shows them. It
// leaves out the process with the given number: this process may start threads meanwhile.
func userThreads(root string, user uint64, except string) (n uint64) {
	processes, err := os.ReadDir(root)
	if err != nil {
		return 0
	}
	for _, p := range processes {
		if name := p.Name(); name[0] < '0' || name[0] > '9' || name == except {
			continue
		}
		status := filepath.Join(root, p.Name(), "status")
		if statusNumber(status, "Uid:") == user {
			n += statusNumber(status, "Threads:")
		}
	}
	return n
}

// statusNumber returns the first number of a field of a process's status file; 0 if there is none.
func statusNumber(file, field string) uint64 {
	text, err := os.ReadFile(file)
	if err != nil { // the process has ended
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == field {
			if n, err := strconv.ParseUint(words[1], 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
}

// maxTasks returns the limit of threads of the control group of the process, or of the group above it that leaves
// fewer.
func maxTasks(list, root string, own uint64) (l threadLimit) {
	eachGroup(list, root, "pids", func(folder string) {
		if limit := groupNumber(filepath.Join(folder, "pids.max")); limit != 0 {
			current := groupNumber(filepath.Join(folder, "pids.current"))
			l = l.tighter(threadLimit{max: limit, others: current - min(own, current)})
		}
	})
	return l
}
