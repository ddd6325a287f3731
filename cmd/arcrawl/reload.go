package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
)

// quietFor is how long the files must be left alone before they are read: editors save in pieces, or write a new file and
// rename it.
const quietFor = 500 * time.Millisecond

// reloader has the crawler read its configuration again when it is time for that.
type reloader struct {
	crawler *crawler.Crawler
	rooms   crawler.Rooms
	log     zerolog.Logger
	files   *fsnotify.Watcher // nil where nothing is watched
}

// onHangup gives the SIGHUPs of the process, until the returned function is called. One that comes while the rooms are opened is kept until
// somebody takes it; without this it would end the process, as it would one that is shutting its rooms.
func onHangup() (hangup <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// reloadOnChange reads the configuration again at SIGHUP, which also reopens crawl.log, and when its files change, until
// the returned function is called. What has changed since the files were read is read at once.
func reloadOnChange(cr *crawler.Crawler, rooms crawler.Rooms, read time.Time, hangup <-chan os.Signal, log zerolog.Logger) func() {
	r := reloader{crawler: cr, rooms: rooms, log: log}
	var err error
	if r.files, err = fsnotify.NewWatcher(); err != nil {
		log.Warn().Err(err).Msg("files cannot be watched: a new configuration is read at SIGHUP only")
	}
	r.watch()
	end := make(chan struct{})
	var busy sync.WaitGroup
	var quiet <-chan time.Time
	if r.changedSince(read) {
		quiet = time.After(quietFor)
	}
	busy.Go(func() { r.run(hangup, quiet, end) })
	return func() {
		close(end)
		busy.Wait()
		if r.files != nil {
			_ = r.files.Close()
		}
	}
}

// changedSince reports whether one of the files may have changed since a time.
func (r *reloader) changedSince(t time.Time) bool {
	c := r.rooms.Config.Current()
	names := []string{c.Path, c.HostsDir}
	for _, f := range c.HostFiles() {
		names = append(names, filepath.Join(c.HostsDir, f.Name))
	}
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && !info.ModTime().Before(t.Add(-granularity)) // one that has gone has changed its folder
	})
}

// granularity is by how much the times of files may be coarser than the clock.
const granularity = 2 * time.Second

// run waits for what asks for a reload; quiet ends when the first one is due.
func (r *reloader) run(hangup <-chan os.Signal, quiet <-chan time.Time, end <-chan struct{}) {
	var changes <-chan fsnotify.Event
	var troubles <-chan error
	if r.files != nil {
		changes, troubles = r.files.Events, r.files.Errors
	}
	for {
		select {
		case <-end:
			return
		case <-hangup:
			if err := r.rooms.CrawlLog.Reopen(); err != nil {
				r.log.Error().Err(err).Msg("crawl.log could not be reopened; lines go on to the old file")
			} else {
				r.log.Info().Msg("crawl.log reopened")
			}
			quiet = nil
			r.reload()
		case e := <-changes:
			if r.concerns(e.Name) {
				quiet = time.After(quietFor)
			}
		case err := <-troubles:
			r.log.Warn().Err(err).Msg("a change of a configuration file may have been missed; SIGHUP reads them all")
		case <-quiet:
			quiet = nil
			if r.rooms.Config.Current().Watch {
				r.reload()
			}
		}
	}
}

// concerns reports whether a file belongs to the configuration. Editors' backups do not.
func (r *reloader) concerns(name string) bool {
	c := r.rooms.Config.Current()
	base := filepath.Base(name)
	return name == c.Path || name == c.HostsDir || filepath.Dir(name) == c.HostsDir && strings.HasSuffix(base, ".toml") && !strings.HasPrefix(base, ".")
}

// reload reads the configuration again. What is wrong with it is logged by the crawler.
func (r *reloader) reload() {
	var faults config.Faults
	if _, err := r.crawler.Reload(false, time.Now()); err != nil && !errors.As(err, &faults) {
		r.log.Error().Err(err).Msg("the new configuration could not be put in force as a whole")
	}
	r.watch()
}

// watch watches the folders of the files: a file that is replaced by another of its name would be lost from sight.
func (r *reloader) watch() {
	c := r.rooms.Config.Current()
	if r.files == nil || !c.Watch {
		return
	}
	for _, dir := range []string{filepath.Dir(c.Path), c.HostsDir} {
		if err := r.files.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.log.Warn().Err(err).Str("folder", dir).Msg("the folder cannot be watched: changes there are read at SIGHUP only")
		}
	}
}

// goodFolder is where the last good copies of the host files are, in the state folder.
func goodFolder(state string) string { return filepath.Join(state, "last-good") }

// lastGood gives the last good copy of a host file.
func lastGood(state, name string) ([]byte, bool) {
	data, err := os.ReadFile(filepath.Join(goodFolder(state), name))
	return data, err == nil
}

// keepGood copies the host files that are in force, and removes the copies of others. A file whose host is held keeps its
// copy, if there is one.
func keepGood(c *config.Config) error {
	dir := goodFolder(c.Storage.State)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, f := range c.Broken {
		keep[filepath.Base(f.File)] = true
	}
	var errs []error
	for _, f := range c.HostFiles() {
		keep[f.Name] = true
		if old, err := os.ReadFile(filepath.Join(dir, f.Name)); err == nil && bytes.Equal(old, f.Data) {
			continue
		}
		errs = append(errs, replaceFile(filepath.Join(dir, f.Name), f.Data))
	}
	entries, err := os.ReadDir(dir)
	errs = append(errs, err)
	for _, e := range entries {
		if !keep[e.Name()] {
			errs = append(errs, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// replaceFile writes a file so that there is always the old one or the new one.
func replaceFile(path string, data []byte) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, data, 0o640); err != nil {
		return fmt.Errorf("copy a host file: %w", err)
	}
	return os.Rename(temp, path)
}

// tellBroken logs what is wrong with the host files that are not in force as they are.
func tellBroken(c *config.Config, log zerolog.Logger) {
	for _, f := range c.Broken {
		log.Error().Str("fault", f.String()).Msg("a host file is broken: its last good copy is in force, or its host is held if there is none")
	}
	for _, h := range c.HeldHosts() {
		log.Error().Str("host", string(h)).Msg("nothing of this host is visited until its file is mended")
	}
}
