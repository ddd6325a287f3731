package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/warcout"
)

const (
	// sealedEvery is how often finished WARC files are looked for.
	sealedEvery = 10 * time.Second
	// sealedPause is the pause after a failure. It doubles up to maxSealedPause.
	sealedPause    = time.Second
	maxSealedPause = 5 * time.Minute
	// sealedGrace is the maximum time that listing the last file may take when the daemon stops.
	sealedGrace = 15 * time.Second
	// sealedCommandTime is the maximum duration of a command. It may copy the file over a slow network.
	sealedCommandTime = 6 * time.Hour
	// commandGrace is how long a command may take to end when the daemon stops.
	commandGrace = 2 * time.Second
	// sealedPosition is the file in the state folder with the number of entries that were taken.
	sealedPosition = "sealed.position"
	// maxVerdict is the maximum length in bytes of what a command says of a file.
	maxVerdict = 1000
	// maxCaughtUp is the maximum number of files that are read at the start for the dependency index.
	maxCaughtUp = 20
)

// sealed lists finished WARC files in the manifest of their folder, and passes each entry to a server or a program. It
// passes entries in the order of the manifest, again and again until each is taken. What is left when the daemon stops
// is passed after the next start. The crawl never waits for it.
type sealed struct {
	dir, position string
	retries
	hand func(ctx context.Context, entry []byte, path string) (verdict string, err error) // nil if nobody is notified
	now  func() time.Time

	command string // which says the verdict

	series  func(file string) string                  // see [warcout.SeriesIn]
	written func(name string) (warcout.Summary, bool) // see [warcout.Writer.Summary]
	// growing holds the captures of the files that this run wrote; nil = keep no dependency index.
	growing *depend.Growing
	late    map[string]bool // files whose last captures were still missing
	mu      sync.Mutex      // guards the field below
	state   api.Handover
}

// handover returns how many finished files were not taken, and why.
func (s *sealed) handover() api.Handover {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *sealed) note(waiting int, err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.state
	s.state = api.Handover{Waiting: waiting}
	if err != nil {
		s.state.Error, s.state.Since = err.Error(), was.Since
		if was.Since == nil {
			s.state.Since = api.Moment(now)
		}
	}
}

// sealedNotice holds the data that a server or a program receives.
type sealedNotice struct {
	Path   string `json:"path"` // absolute
	Series string `json:"series,omitempty"`
	fixity.Entry
}

// newSealed returns what lists and passes finished WARC files while run runs. written and growing have the facts about
// the files that are being written.
func newSealed(
	c *config.Config, version string, written func(string) (warcout.Summary, bool), growing *depend.Growing,
	now func() time.Time, log zerolog.Logger,
) *sealed {
	s := &sealed{
		dir: c.Storage.WARC, position: filepath.Join(c.Storage.State, sealedPosition), now: now,
		series: warcout.SeriesIn(c.WARC.Prefix), written: written, growing: growing, late: map[string]bool{},
		retries: retries{
			log: log, first: sealedPause, most: maxSealedPause,
			failed: "a finished WARC file was not taken; trying again until it is",
			works:  "finished WARC files are taken again",
		},
	}
	if s.command = c.Sealed.Command; c.Sealed.URL != "" || s.command != "" {
		url, agent := c.Sealed.URL, c.UserAgent(version)
		s.hand = func(ctx context.Context, entry []byte, path string) (string, error) {
			return handSealed(ctx, url, s.command, agent, entry, path)
		}
	}
	return s
}

// handSealed passes an entry to the program and to the server that the configuration names. It returns the last line
// that the program prints.
func handSealed(
	ctx context.Context, url, command, agent string, entry []byte, path string,
) (verdict string, err error) {
	if command != "" {
		if verdict, err = callSealed(ctx, command, entry, path); err != nil {
			return "", err
		}
	}
	if url == "" {
		return verdict, nil
	}
	status, answer, err := postText(ctx, url, agent, "application/json", entry)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("the server answers with status %d: %.300s", status, strings.TrimSpace(answer))
	}
	if err != nil {
		return "", fmt.Errorf("send %s to warc.sealed_url: %w", path, err)
	}
	return verdict, nil
}

// callSealed calls the program with an entry, and returns the last line of its standard output.
func callSealed(ctx context.Context, command string, entry []byte, path string) (last string, err error) {
	within, cancel := context.WithTimeout(ctx, sealedCommandTime)
	defer cancel()
	cmd := exec.CommandContext(within, command, path)
	cmd.Stdin = bytes.NewReader(entry)
	cmd.WaitDelay = commandGrace
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		out = append(failed.Stderr, out...)
	}
	if err != nil {
		return "", fmt.Errorf("call warc.sealed_command %s %s: %w; it says: %.300s",
			command, path, err, strings.TrimSpace(string(out)))
	}
	text := strings.TrimSpace(string(out))
	return strings.ToValidUTF8(text[strings.LastIndexByte(text, '\n')+1:], "\uFFFD"), nil
}

// begin creates the manifest if there is none, and returns the field for the warcinfo record of a new file: the head of
// the manifest at that moment. So each file shows which files were listed before it.
func (s *sealed) begin() func() []warcout.Field {
	if head, err := fixity.Head(s.dir); err == nil && head == "" {
		if m, err := fixity.Open(s.dir, s.now()); err == nil { // otherwise run says why not
			_ = m.Close() // its line is synced
		}
	}
	return func() []warcout.Field {
		head, err := fixity.Head(s.dir)
		if err != nil {
			s.log.Error().Err(err).Msg("a new WARC file does not say which files were listed before it")
		}
		if head == "" {
			return nil
		}
		return []warcout.Field{{Name: fixity.HeadField, Value: "sha256:" + head}}
	}
}

// run lists and passes files until ctx ends.
func (s *sealed) run(ctx context.Context) {
	manifest, err := fixity.Open(s.dir, s.now())
	if err != nil {
		s.log.Error().Err(err).Msg("listing no finished WARC files: the manifest cannot be opened; correct it and restart the daemon")
		return
	}
	defer func() { _ = manifest.Close() }() // every line is synced
	for _, fault := range manifest.Faults {
		s.log.Error().Str("file", filepath.Join(s.dir, fixity.FileName)).Str("fault", fault).
			Msg("the manifest of the WARC files was changed; continuing it, and arcrawl verify reports the fault")
	}
	s.catchUp(ctx, manifest)
	repeat(ctx, func(ctx context.Context) time.Duration {
		err := s.step(ctx, manifest)
		s.note(s.waiting(manifest), err, s.now())
		return s.after(ctx, err, sealedEvery)
	})
}

// finish lists the files that were sealed when the archive was closed. If that takes longer than sealedGrace, the next
// start lists them.
func (s *sealed) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), sealedGrace)
	defer cancel()
	manifest, err := fixity.Open(s.dir, s.now())
	if err != nil {
		return // run has logged it
	}
	defer func() { _ = manifest.Close() }() // every line is synced
	if err := s.list(ctx, manifest, true); err != nil && ctx.Err() == nil {
		s.log.Warn().Err(err).Msg("could not list the last WARC file in the manifest: the next start lists it")
	}
}

// remember adds the captures of finished files to the dependency index. Without it answers take longer.
func (s *sealed) remember(files ...*depend.Collector) {
	if s.growing == nil {
		return
	}
	if err := depend.Put(s.dir, files...); err != nil {
		s.log.Error().Err(err).
			Msg("could not add a finished WARC file to the dependency index: arcrawl deps reads the file instead")
	}
}

// catchUp adds the files of the manifest that the dependency index lacks, for example after a crash.
func (s *sealed) catchUp(ctx context.Context, m *fixity.Manifest) {
	if s.growing == nil {
		return
	}
	var names []string
	for _, e := range m.Entries {
		names = append(names, e.File)
	}
	missing, err := depend.Uncovered(s.dir, names)
	if older := len(missing) - maxCaughtUp; older > 0 {
		s.log.Warn().Int("files", older).
			Msg("the dependency index lacks older WARC files; arcrawl index -o index.cdxj in their folder adds them")
		missing = missing[older:]
	}
	for _, name := range missing {
		captures := depend.NewCollector(warc.File{Path: filepath.Join(s.dir, filepath.FromSlash(name)), Name: name})
		if captures.Gone() {
			continue
		}
		if _, err = fixity.Measure(ctx, filepath.Join(s.dir, filepath.FromSlash(name)), captures.Record); err != nil {
			break
		}
		s.remember(captures)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error().Err(err).Msg("could not complete the dependency index: arcrawl deps reads the files instead")
	}
}

// step lists all files that were sealed since the last step, and passes everything that was not taken.
func (s *sealed) step(ctx context.Context, m *fixity.Manifest) error {
	if err := s.list(ctx, m, false); err != nil || s.hand == nil {
		return err
	}
	taken, err := s.taken(len(m.Entries))
	for ; err == nil && taken < len(m.Entries); taken++ {
		err = s.pass(ctx, m, taken)
	}
	return err
}

// list lists all files that were sealed and are not listed yet. stopped says that no capture will be added any more.
func (s *sealed) list(ctx context.Context, m *fixity.Manifest, stopped bool) error {
	names, err := m.Missing(m.Since)
	if err != nil {
		return err
	}
	for _, name := range names {
		e, captures, err := s.measure(ctx, name, stopped)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errLate) {
			continue
		}
		if err == nil {
			err = m.Add(name, e, s.now())
		}
		if err != nil {
			return err
		}
		s.remember(captures)
	}
	return nil
}

// errLate says that the last captures of a file have not come yet.
var errLate = errors.New("captures are missing")

// measure returns what the manifest lists about a file, and its captures. Of a file that this run wrote only the digest
// must be made, because the writer knows the rest. Any other file is read.
func (s *sealed) measure(ctx context.Context, name string, stopped bool) (fixity.Entry, *depend.Collector, error) {
	file := warc.File{Path: filepath.Join(s.dir, name), Name: name}
	known, written := s.written(name)
	captures, complete := s.captures(file, known.Captures)
	switch {
	case written && complete:
		e, err := fixity.Hash(ctx, file.Path)
		if err != nil || e.Size == known.Size {
			e.Records, e.First, e.Last = int(known.Records), known.First, known.Last
			return e, captures, err
		}
	case written && !stopped && !s.late[name]:
		s.late[name] = true // a capture is added a moment after its record was written
		return fixity.Entry{}, nil, errLate
	}
	if s.growing != nil {
		s.growing.Forget(name)
	}
	captures = depend.NewCollector(file)
	e, err := fixity.Measure(ctx, file.Path, captures.Record)
	return e, captures, err
}

// captures returns the captures of a file that this run wrote. complete is false if not all are known.
func (s *sealed) captures(file warc.File, n int64) (c *depend.Collector, complete bool) {
	if s.growing == nil {
		return depend.NewCollector(file), true
	}
	if c, complete = s.growing.Take(file, n); complete {
		delete(s.late, file.Name)
	}
	return c, complete
}

// pass passes the n-th entry, adds what the program said of the file to the manifest, and remembers that the entry was
// taken.
func (s *sealed) pass(ctx context.Context, m *fixity.Manifest, n int) error {
	e := m.Entries[n]
	path := filepath.Join(s.dir, filepath.FromSlash(e.File))
	entry, err := json.Marshal(sealedNotice{path, s.series(e.File), e})
	if err != nil {
		return err
	}
	verdict, err := s.hand(ctx, append(entry, '\n'), path)
	if err != nil {
		return err
	}
	if verdict != "" {
		if err := m.Judge(e, s.command, verdict[:min(len(verdict), maxVerdict)], s.now()); err != nil {
			return err
		}
	}
	return fileio.Write(s.position, []byte(strconv.Itoa(n+1)+"\n"), 0o644)
}

// waiting returns how many entries were not taken; 0 if nobody is notified.
func (s *sealed) waiting(m *fixity.Manifest) int {
	if s.hand == nil {
		return 0
	}
	n, err := s.taken(len(m.Entries))
	if err != nil {
		return 0
	}
	return len(m.Entries) - n
}

// taken returns how many of the entries were taken. An unreadable number is 0: passing an entry twice is harmless.
func (s *sealed) taken(entries int) (int, error) {
	text, err := os.ReadFile(s.position)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 0 {
		return 0, nil
	}
	return min(n, entries), nil
}

// movedAway returns the names of WARC files that are elsewhere on purpose: those that the configuration names, and
// those that a server or program has taken.
func movedAway(c *config.Config) (map[string]string, error) {
	moved, err := fixity.Elsewhere(c.Storage.Elsewhere)
	if err != nil || c.Sealed.URL == "" && c.Sealed.Command == "" {
		return moved, err
	}
	m, err := fixity.Read(c.Storage.WARC)
	if err != nil {
		return moved, nil // without a manifest no file was passed
	}
	taken, err := (&sealed{position: filepath.Join(c.Storage.State, sealedPosition)}).taken(len(m.Entries))
	for _, e := range m.Entries[:taken] {
		moved[filepath.Base(e.File)] = ""
	}
	return moved, err
}
