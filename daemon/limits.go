package daemon

import (
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// LimitError says that the process may not have as many files or threads as the crawl needs.
type LimitError struct{ Err error }

// Error returns the text of the cause.
func (e LimitError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e LimitError) Unwrap() error { return e.Err }

// limits holds what the process may have.
type limits struct {
	files   uint64 // open files and sockets; 0 = unlimited or unknown
	threads threadLimit
}

// threadLimit is a limit that the threads of several processes share, all of one user or all of one control group.
type threadLimit struct {
	max    uint64 // 0 = unlimited or unknown
	others uint64 // threads of the other processes
}

// left returns how many threads this process may have. Others may be above the limit: root raised theirs, or lowered
// the limit later.
func (l threadLimit) left() uint64 { return l.max - min(l.others, l.max) }

// tighter returns the limit of two that leaves fewer threads.
func (l threadLimit) tighter(m threadLimit) threadLimit {
	if l.max == 0 || m.max != 0 && m.left() < l.left() {
		return m
	}
	return l
}

// What a crawl needs at least, in addition to the tables of its store. A worker has a connection and the file of a
// large body. Of the threads, one for each processor computes, and the others wait for the disk. On a slow disk each
// worker can wait.
const (
	baseFiles      = 64
	filesPerWorker = 2
	baseThreads    = 30
	commandThreads = 10 // of a command that is no crawl
)

// neededFiles returns how many files a crawl has open at the same time. tables is the number of tables of the store:
// each is an open file.
func neededFiles(workers, tables int) uint64 {
	return uint64(tables + filesPerWorker*workers + baseFiles)
}

// connections returns how many connections a listener may have open. A process has up to five listeners: most of what
// the crawl does not need at the start is left for a store that grows.
func (l limits) connections(workers, tables int) int {
	if l.files == 0 {
		return maxConnections
	}
	spare := l.files - min(l.files, neededFiles(workers, tables))
	return int(min(maxConnections, max(minConnections, spare/partOfListener)))
}

// check returns an error if a crawl cannot work within the limits, see [neededFiles]. It returns a warning if a
// limit is near.
func (l limits) check(workers, tables, processors int) (warning string, err error) {
	files := neededFiles(workers, tables)
	const files1 = "the process may open %d files, but the crawl needs %d: %d for the tables of the store, %d for %d workers " +
		"and %d for itself"
	const remedy = "; raise the limit (LimitNOFILE= in the unit, or ulimit -n)"
	if l.files != 0 && l.files < files {
		return "", LimitError{fmt.Errorf(files1+remedy+", or lower crawl.workers",
			l.files, files, tables, filesPerWorker*workers, workers, baseFiles)}
	}
	threads := uint64(baseThreads + processors)
	if err := l.threads.check("the crawl", threads); err != nil {
		return "", err
	}
	switch {
	case l.files != 0 && l.files < files+uint64(tables)+baseFiles:
		return fmt.Sprintf("the process may open %d files; the crawl needs %d now, and more when its store grows"+remedy,
			l.files, files), nil
	case l.threads.max != 0 && l.threads.left() < threads+uint64(workers):
		return fmt.Sprintf("%s; the crawl may need %d, one for each worker, when the disk is slow, and ends if it cannot have "+
			"them; %s, or lower crawl.workers", l.threads, threads+uint64(workers), moreThreads), nil
	}
	return "", nil
}

const moreThreads = "raise the limit (TasksMax= or LimitNPROC= in the unit, ulimit -u, or --pids-limit of a container)"

// String returns how many threads the process may have, and why.
func (l threadLimit) String() string {
	if l.others == 0 {
		return fmt.Sprintf("the process may have %d threads", l.max)
	}
	return fmt.Sprintf("the process may have %d threads: the limit is %d, and other processes of the user or control group "+
		"have %d", l.left(), l.max, l.others)
}

// check returns an error if fewer threads are left than what needs. It is a [LimitError] unless the cause can pass: the
// threads of other processes.
func (l threadLimit) check(what string, need uint64) error {
	if l.max == 0 || l.left() >= need {
		return nil
	}
	err := fmt.Errorf("%s, but %s needs %d; %s", l, what, need, moreThreads)
	if l.max >= need {
		return err
	}
	return LimitError{err}
}

// CheckThreads returns an error if the process may have fewer threads than any command needs. The Go runtime ends the
// process when it cannot have a thread: call CheckThreads before anything else.
func CheckThreads() error {
	return raiseLimits().threads.check("a command", uint64(commandThreads+runtime.GOMAXPROCS(0)))
}

// checkLimits raises the soft limits of the process, and returns a [LimitError] if they are still too low.
func (d *Daemon) checkLimits(time.Time) error {
	d.connections = maxConnections
	if d.o.SharedProcess {
		return nil
	}
	c := d.live.Current()
	l, workers, tables := raiseLimits(), c.Crawl.Workers, countTables(c)
	d.connections = l.connections(workers, tables)
	warning, err := l.check(workers, tables, runtime.GOMAXPROCS(0))
	if warning != "" {
		d.log.Warn().Msg(warning)
	}
	return err
}

// countTables returns the number of tables of the store; 0 if there is no store.
func countTables(c *config.Config) int {
	tables, err := filepath.Glob(filepath.Join(c.Storage.State, "*.sst"))
	if err != nil { // a path with wildcards
		return 0
	}
	return len(tables)
}
