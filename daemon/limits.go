package daemon

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// LimitError says that the process may not have as many files or threads as the crawl needs.
type LimitError struct{ Err error }

// Error returns the text of the cause.
func (e LimitError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e LimitError) Unwrap() error { return e.Err }

// limits holds what the process may have; 0 = unlimited or unknown.
type limits struct {
	files   uint64 // open files and sockets
	threads uint64
}

// What a crawl needs at least, in addition to the tables of its store. A worker has a connection and the file of a
// large body. Of the threads, most wait for the disk.
const (
	baseFiles      = 64
	filesPerWorker = 2
	minThreads     = 32
)

// check returns an error if a crawl cannot work within the limits. tables is the number of tables of the store: each is
// an open file. It returns a warning if the limit of files is near.
func (l limits) check(workers, tables int) (warning string, err error) {
	files := uint64(tables + filesPerWorker*workers + baseFiles)
	const files1 = "the process may open %d files, but the crawl needs %d: %d for the tables of the store, %d for %d workers " +
		"and %d for itself"
	const remedy = "; raise the limit (LimitNOFILE= in the unit, or ulimit -n)"
	switch {
	case l.files != 0 && l.files < files:
		return "", LimitError{fmt.Errorf(files1+remedy+", or lower crawl.workers",
			l.files, files, tables, filesPerWorker*workers, workers, baseFiles)}
	case l.threads != 0 && l.threads < minThreads:
		return "", LimitError{fmt.Errorf("the process may have %d threads, but the crawl needs %d; "+
			"raise the limit (TasksMax= or LimitNPROC= in the unit, or ulimit -u)", l.threads, minThreads)}
	case l.files != 0 && l.files < files+uint64(tables)+baseFiles:
		return fmt.Sprintf("the process may open %d files; the crawl needs %d now, and more when its store grows"+remedy,
			l.files, files), nil
	}
	return "", nil
}

// checkLimits raises the soft limits of the process, and returns a [LimitError] if they are still too low.
func (d *Daemon) checkLimits(time.Time) error {
	if d.o.SharedProcess {
		return nil
	}
	c := d.live.Current()
	warning, err := raiseLimits().check(c.Crawl.Workers, countTables(c))
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
