package archive

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

const (
	// checkEvery is the maximum pause between two looks whether a check is due, or a file that differed was replaced.
	checkEvery = time.Minute
	// foundEvery is how often the folder is searched for the files. There may be 100,000.
	foundEvery = time.Hour
	// checkPause is the pause after a failure. It doubles up to maxCheckPause.
	checkPause    = time.Minute
	maxCheckPause = time.Hour
)

// checker compares the finished WARC files with the manifest again and again, the file first whose last check is
// oldest, and records each check. It reads slowly, and one file at a time. A check that the end of the daemon
// interrupts is made again after the next start.
type checker struct {
	dir, agent string
	options    func() config.Fixity
	declared   func(file string) bool // reports whether the operator declared a file lost
	now        func() time.Time
	retries

	files  listed
	checks *fixity.Log
	here   map[string]string // paths of the files that are there, by their names in the manifest
	found  time.Time         // when the folder was searched for them
	stamps map[string]string // of the files that differed, as they were then

	mu    sync.Mutex // guards the field below
	state api.Fixity
}

func newChecker(
	dir, version string, options func() config.Fixity, declared func(string) bool, now func() time.Time,
	log zerolog.Logger,
) *checker {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return &checker{
		dir: dir, agent: "arcrawl/" + version + " on " + host, options: options, declared: declared, now: now,
		files: listed{dir: dir}, stamps: map[string]string{},
		retries: retries{
			log: log, first: checkPause, most: maxCheckPause,
			failed: "could not check finished WARC files against the manifest; trying again",
			works:  "finished WARC files are checked against the manifest again",
		},
	}
}

// State returns when files were checked, and which differ.
func (c *checker) State() api.Fixity {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// run checks files until ctx ends.
func (c *checker) run(ctx context.Context) {
	repeat(ctx, func(ctx context.Context) time.Duration {
		wait, err := c.step(ctx)
		c.show(err)
		return c.after(ctx, err, min(wait, checkEvery))
	})
	if c.checks != nil {
		_ = c.checks.Close() // each line is synced
	}
}

// step makes the check that is due. It returns the time until the next one.
func (c *checker) step(ctx context.Context) (time.Duration, error) {
	o := c.options()
	entries, err := c.files.read()
	if err != nil || len(entries) == 0 || o.Daily == 0 {
		return checkEvery, err
	}
	if err := c.open(); err != nil {
		return 0, err
	}
	if now := c.now(); c.here == nil || now.Sub(c.found).Abs() > foundEvery {
		c.here, c.found = filesOf(c.dir, entries), now
	}
	for _, e := range entries {
		if was, ok := c.checks.Last[e.File]; ok && was.Outcome != fixity.Same && c.here[e.File] != "" {
			if err := c.again(ctx, e); err != nil {
				return 0, err
			}
		}
	}
	e, at, ok := c.oldest(entries)
	if !ok {
		return checkEvery, nil
	}
	every := time.Duration(float64(24*time.Hour) / (o.Daily * float64(len(c.here))))
	if c.checks.Latest.After(at) {
		at = c.checks.Latest
	}
	if wait := at.Add(every).Sub(c.now()); wait > 0 && wait <= every { // otherwise the clock was set back
		return wait, nil
	}
	return 0, c.check(ctx, e)
}

// open opens the log of checks, once.
func (c *checker) open() (err error) {
	if c.checks != nil {
		return nil
	}
	if c.checks, err = fixity.OpenLog(c.dir); err != nil {
		return err
	}
	for _, fault := range c.checks.Faults {
		c.log.Error().Str("file", filepath.Join(c.dir, fixity.LogName)).Str("fault", fault).
			Msg("the log of fixity checks was changed; continuing it, and arcrawl verify reports the fault")
	}
	return nil
}

// filesOf returns the paths of the listed files that are in a folder or below it, by their names in the manifest. A
// link to a disk that is not mounted counts as a file.
func filesOf(dir string, entries []fixity.Entry) map[string]string {
	files, faults := warc.FilesNamed([]string{dir}, warc.IsArchive)
	for _, f := range faults {
		files = append(files, warc.File{Path: f.File})
	}
	places, here := make(map[string]string, len(files)), make(map[string]string, len(files))
	for _, f := range files {
		places[filepath.Base(f.Path)] = f.Path
	}
	for _, e := range entries {
		name := filepath.FromSlash(e.File)
		if path := filepath.Join(dir, name); !isGone(path) {
			here[e.File] = path
		} else if path := places[filepath.Base(name)]; path != "" {
			here[e.File] = path
		}
	}
	return here
}

// checked returns when a file was read last: at its last check, or when it was listed.
func (c *checker) checked(e fixity.Entry) time.Time {
	if was, ok := c.checks.Last[e.File]; ok {
		return was.At
	}
	return e.Listed
}

// oldest returns the file whose last check is oldest, and the time of that.
func (c *checker) oldest(entries []fixity.Entry) (oldest fixity.Entry, at time.Time, ok bool) {
	for _, e := range entries {
		if c.here[e.File] == "" {
			continue
		}
		if t := c.checked(e); !ok || t.Before(at) {
			oldest, at, ok = e, t, true
		}
	}
	return oldest, at, ok
}

// again checks a file that differed, if it has been replaced since, or the daemon was restarted.
func (c *checker) again(ctx context.Context, e fixity.Entry) error {
	if isGone(c.here[e.File]) { // then it is lost, which has an alarm of its own
		delete(c.here, e.File)
		return nil
	}
	if stamp, known := c.stamps[e.File]; known && stamp == (warc.File{Path: c.here[e.File]}).Stamp() {
		return nil
	}
	return c.check(ctx, e)
}

// check compares a file with its entry and records that.
func (c *checker) check(ctx context.Context, e fixity.Entry) error {
	path := c.here[e.File]
	stamp := warc.File{Path: path}.Stamp()
	got := e.Compare(ctx, path, func(file *os.File) io.Reader { return slowly(ctx, file, c.options().Rate) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if got.Outcome == fixity.Gone && isGone(path) { // not a link to a disk that is not mounted
		delete(c.here, e.File)
		return nil
	}
	was := c.checks.Last[e.File].Outcome
	if err := c.checks.Add(got, c.agent, c.now()); err != nil {
		return err
	}
	delete(c.stamps, e.File)
	if got.Outcome == fixity.Same {
		if was != "" && was != fixity.Same {
			c.log.Info().Str("file", path).Msg("a WARC file that differed from the manifest is as it was when it was sealed")
		}
		return nil
	}
	c.stamps[e.File] = stamp
	c.log.Error().Str("file", path).Str("fault", got.Text()).Msg("a WARC file differs from the manifest: " +
		"replace it by a sound copy, or declare it lost with arcrawl dedup lost FILE, and its payloads are archived again")
	return nil
}

// show keeps the state for [checker.State].
func (c *checker) show(err error) {
	var s api.Fixity
	if c.checks != nil && c.options().Daily > 0 {
		s.Files = len(c.here)
		if !c.checks.Latest.IsZero() {
			s.Last = api.Moment(c.checks.Latest)
		}
		var wrong []fixity.Event
		for _, e := range c.files.entries {
			if c.here[e.File] == "" {
				continue
			}
			if at := c.checked(e); s.Oldest == nil || at.Before(*s.Oldest) {
				s.Oldest = api.Moment(at)
			}
			was, ok := c.checks.Last[e.File]
			if ok && was.Outcome != fixity.Same && !c.declared(filepath.Base(e.File)) {
				wrong = append(wrong, was)
			}
		}
		if s.Failed = len(wrong); s.Failed > 0 {
			first := slices.MinFunc(wrong, func(a, b fixity.Event) int { return cmp.Compare(a.File, b.File) })
			s.Example = first.File + " " + first.Text()
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.Error = err.Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = s
}

// slowly returns a reader of a file that reads at most rate bytes in a second, from the disk and not from memory.
func slowly(ctx context.Context, file *os.File, rate int64) io.Reader {
	dropCached(file)
	return slowReader{ctx, file, float64(rate)}
}

type slowReader struct {
	ctx  context.Context
	file *os.File
	rate float64 // bytes in a second
}

func (r slowReader) Read(p []byte) (n int, err error) {
	n, err = r.file.Read(p[:min(len(p), max(1, int(r.rate/4)))])
	if errors.Is(err, io.EOF) {
		dropCached(r.file) // nobody else needs it soon
		return n, err
	}
	return n, errors.Join(err, cli.Wait(r.ctx, time.Duration(float64(n)/r.rate*float64(time.Second))))
}
