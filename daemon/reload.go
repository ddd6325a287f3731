package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/arcrawl/arcrawl/config"
)

const (
	// settleTime is how long the configuration files must be unchanged before they are read. Editors save in pieces, or
	// write a new file and rename it.
	settleTime = 500 * time.Millisecond
	// clockGrain is the coarsest step in which a file system counts the times of files.
	clockGrain = 2 * time.Second
)

// reloader reads the configuration again when the daemon is asked to, or when a file changes.
type reloader struct {
	*Daemon
	files *fsnotify.Watcher // nil if files are not or cannot be watched
}

// watchConfig reads the configuration again after a hangup, which also reopens crawl.log, and when one of its files
// changes, until stop is called. A change since the configuration was read counts.
func (d *Daemon) watchConfig() (stop func()) {
	r := &reloader{Daemon: d}
	r.watchFolders()
	var settled <-chan time.Time
	if r.changedSince(d.o.ConfigRead) {
		settled = time.After(settleTime)
	}
	end := background(func(ctx context.Context) { r.run(ctx, settled) })
	return func() {
		end()
		if r.files != nil {
			_ = r.files.Close()
		}
	}
}

// changedSince reports whether a configuration file may have changed since t. A removed file changes its folder.
func (r *reloader) changedSince(t time.Time) bool {
	c := r.live.Current()
	names := []string{c.Path, c.HostsDir}
	for _, f := range c.HostFiles() {
		names = append(names, filepath.Join(c.HostsDir, f.Name))
	}
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && !info.ModTime().Before(t.Add(-clockGrain))
	})
}

// run waits for hangups and changes until ctx ends. settled delivers when the files are to be read, if they have
// changed before the start.
func (r *reloader) run(ctx context.Context, settled <-chan time.Time) {
	for {
		var changes <-chan fsnotify.Event
		var failures <-chan error
		if r.files != nil {
			changes, failures = r.files.Events, r.files.Errors
		}
		select {
		case <-ctx.Done():
			return
		case <-r.o.Hangup:
			if err := r.parts.CrawlLog.Reopen(); err != nil {
				r.log.Error().Err(err).Msg("could not reopen crawl.log; still writing to the old file")
			} else {
				r.log.Info().Msg("crawl.log reopened")
			}
			settled = nil
			r.reload()
		case e := <-changes:
			if r.isConfigFile(e.Name) {
				settled = time.After(settleTime)
			}
		case err := <-failures:
			r.log.Warn().Err(err).Msg("may have missed a change of a configuration file; send SIGHUP to have all files read")
		case <-settled:
			settled = nil
			if r.live.Current().Watch {
				r.reload()
			}
		}
	}
}

// isConfigFile reports whether a changed file is part of the configuration. Backups of editors are not.
func (r *reloader) isConfigFile(name string) bool {
	c := r.live.Current()
	base := filepath.Base(name)
	return name == c.Path || name == c.HostsDir ||
		filepath.Dir(name) == c.HostsDir && strings.HasSuffix(base, ".toml") && !strings.HasPrefix(base, ".")
}

// reload reads the configuration again. The crawler logs its faults.
func (r *reloader) reload() {
	var faults config.Faults
	if _, err := r.crawler.Reload(false, r.o.Now()); err != nil && !errors.As(err, &faults) {
		r.log.Error().Err(err).Msg("could not put the whole new configuration in force; send SIGHUP to try again")
	}
	r.watchFolders()
}

// watchFolders watches the folders of the files if reload.watch is set. A watch on a file would not follow one that
// replaces it.
func (r *reloader) watchFolders() {
	c := r.live.Current()
	if !c.Watch {
		return
	}
	if r.files == nil {
		var err error
		if r.files, err = fsnotify.NewWatcher(); err != nil {
			r.log.Warn().Err(err).Msg("cannot watch the configuration files; send SIGHUP to have changes read")
			r.files = nil
			return
		}
	}
	for _, dir := range []string{filepath.Dir(c.Path), c.HostsDir} {
		if err := r.files.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.log.Warn().Err(err).Str("folder", dir).Msg("cannot watch this folder; send SIGHUP to have changes in it read")
		}
	}
}
