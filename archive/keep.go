package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/warcout"
)

// Wing returns what looks after the archive of a running crawl.
func Wing() daemon.Wing { return wingThatLooks(watchEvery) }

// wingThatLooks returns a wing that looks for vanished files in each period.
func wingThatLooks(every time.Duration) daemon.Wing {
	var h healer
	return daemon.Wing{
		Name: "archive",
		Keep: func(d *daemon.Daemon) (daemon.Keeper, error) { return openKeeper(d, every) },
		Open: func(d *daemon.Daemon) error { h = openHealer(d); return nil },
		Lost: func() { h.ask() },
	}
}

// keeper looks after the archive of a daemon.
type keeper struct {
	*daemon.Daemon
	every   time.Duration   // between two looks for vanished files
	growing *depend.Growing // captures for the dependency index; nil without a live index
	push    *pusher         // nil without a server
	sealed  *sealed
	checker *checker
	offload *offload
}

// openKeeper begins to send lines that were left by the last run.
func openKeeper(d *daemon.Daemon, every time.Duration) (*keeper, error) {
	c := d.Live().Current()
	k := &keeper{Daemon: d, every: every}
	if c.Index.Live {
		k.growing = depend.NewGrowing(daemon.SpoolFolder(c))
	}
	var err error
	if k.push, err = openPusher(c, d.Version(), d.Log()); k.push != nil {
		d.OnClose(k.push.close)
		d.Background(func(ctx context.Context) { repeat(ctx, k.push.turn) })
	}
	return k, err
}

// Captured adds a capture to the dependency index and its line to the queue for the OutbackCDX server.
func (k *keeper) Captured(record, original digest.Origin, line index.Entry) error {
	k.growing.Add(record, original)
	if k.push == nil {
		return nil
	}
	return k.push.queue.Add(line.AppendTo(nil))
}

// Again adds a line to the queue for the OutbackCDX server.
func (k *keeper) Again(line []byte) error {
	if k.push == nil {
		return nil
	}
	return k.push.queue.Add(line)
}

// Sync writes the queue for the OutbackCDX server to disk.
func (k *keeper) Sync() error {
	if k.push == nil {
		return nil
	}
	return k.push.queue.Sync()
}

// Elsewhere returns which WARC files are elsewhere on purpose.
func (k *keeper) Elsewhere() (func(file string) bool, error) {
	moved, err := movedAway(k.Live().Current())
	return func(file string) bool { _, is := moved[file]; return is }, err
}

// Open begins to list finished WARC files and to take them to other places.
func (k *keeper) Open(w *warcout.Writer) (err error) {
	c := k.Live().Current()
	k.sealed = newSealed(c, k.Version(), w.Summary, k.growing, k.Now, k.Log())
	head := k.sealed.begin()
	w.Describe(func(series string) []warcout.Field {
		return append(partFields(k.Live().Current().PartOf(series)), head()...)
	})
	k.Background(k.sealed.run)
	if k.sealed.hand == nil { // otherwise others may take any finished file away
		k.Background(k.watch)
	}
	options := func() config.Fixity { return k.Live().Current().Fixity }
	k.checker = newChecker(c.Storage.WARC, k.Version(), options, k.declaredLost, k.Now, k.Log())
	k.Background(k.checker.run)
	signer := newSigner(c.Storage.WARC, k.Version(), options, k.Now, k.Log())
	k.Background(func(ctx context.Context) { repeat(ctx, signer.turn) })
	k.offload, err = startOffload(k.Daemon)
	return err
}

// declaredLost reports whether the operator declared a file lost.
func (k *keeper) declaredLost(file string) bool {
	return slices.ContainsFunc(k.Parts().Dedup.Losses(), func(l dedup.Loss) bool {
		return l.File == file && l.Cause == dedup.Declared
	})
}

// watchEvery is how often finished WARC files are looked for that are gone.
const watchEvery = 15 * time.Second

// watch looks for finished WARC files that are gone, until ctx ends. A file that is missing twice in a row is lost.
func (k *keeper) watch(ctx context.Context) {
	list, log := listed{dir: k.Live().Current().Storage.WARC}, k.Log()
	var before, known []string
	for cli.Wait(ctx, k.every) == nil {
		absent, err := list.absent()
		if err == nil && slices.Equal(absent, before) && !slices.Equal(absent, known) {
			if err = k.Vanished(slices.Clone(absent)); err == nil {
				known = absent
			}
		}
		if before = absent; err != nil {
			log.Error().Err(err).Msg("could not check whether finished WARC files are gone; trying again")
		}
	}
}

// Finish lists the last WARC files.
func (k *keeper) Finish() { k.sealed.finish() }

// Archived adds where finished WARC files are.
func (k *keeper) Archived(a *api.Archive) {
	a.Handover, a.Fixity, a.Offload = k.sealed.handover(), k.checker.State(), k.offload.State()
}

// repeat calls step again and again, after the pause that it returns, until ctx ends.
func repeat(ctx context.Context, step func(context.Context) time.Duration) {
	for cli.Wait(ctx, step(ctx)) == nil {
	}
}

// retries logs the first failure of several in a row, and the first success after them.
type retries struct {
	log           zerolog.Logger
	failed, works string        // messages
	first, most   time.Duration // pauses after failures: each is twice as long as the one before, up to most

	failing bool
	pause   time.Duration // after the next failure
}

// failure returns the pause after a failure.
func (r *retries) failure(err error) time.Duration {
	if !r.failing {
		r.failing, r.pause = true, r.first
		r.log.Warn().Err(err).Msg(r.failed)
	}
	pause := r.pause
	r.pause = min(2*pause, r.most)
	return pause
}

func (r *retries) success() {
	if r.failing {
		r.failing = false
		r.log.Info().Msg(r.works)
	}
}

// after returns the pause after a turn that ended with err: next, or the one after a failure. A turn that the end of
// ctx interrupted is no failure.
func (r *retries) after(ctx context.Context, err error, next time.Duration) time.Duration {
	switch {
	case ctx.Err() != nil:
	case err != nil:
		return r.failure(err)
	default:
		r.success()
	}
	return next
}

// offload runs what takes finished WARC files to other places.
type offload struct {
	movers   []*mover  // one for the files of no series, and one for each series with a folder of its own
	uploader *uploader // nil if there is no bucket
}

// startOffload begins what a configuration asks for. The crawl never waits for it. What is left is done after the next
// start.
func startOffload(d *daemon.Daemon) (*offload, error) {
	c, o := d.Live().Current(), &offload{}
	o.movers = moversOf(c, d.Now, d.Log())
	if c.Upload.Endpoint != "" {
		o.uploader = &uploader{Dir: c.Storage.WARC, State: c.Storage.State, Bucket: c.Upload, Now: d.Now, Log: d.Log()}
		if err := o.uploader.Open(fetch.OwnServers()); err != nil {
			return nil, err
		}
	}
	for _, m := range o.movers {
		d.Background(func(ctx context.Context) { repeat(ctx, m.Step) })
	}
	if o.uploader != nil {
		d.Background(func(ctx context.Context) { repeat(ctx, o.uploader.Step) })
	}
	return o, nil
}

// moversOf returns what moves finished files to further folders. The files of a series with folders of its own go there
// as soon as they are finished. The others stay as long as there is space.
func moversOf(c *config.Config, now func() time.Time, log zerolog.Logger) (all []*mover) {
	s, series := c.Storage, warcout.SeriesIn(c.WARC.Prefix)
	for _, name := range append([]string{""}, c.Series...) {
		m := &mover{
			Dir: s.WARC, Folders: s.Folders.Of(name), StateDir: s.State, Keep: s.FoldersFree, Order: s.FoldersOrder,
			Free: freeSpace, SameDisk: sameDisk, Now: now, Log: log,
			Takes: func(file string) bool { return series(file) == "" || len(s.Folders.Of(series(file))) == 0 },
		}
		if name != "" {
			m.Keep, m.Always, m.SameDisk = s.MinFree, true, nil
			m.Takes = func(file string) bool { return series(file) == name }
		}
		if len(m.Folders) > 0 {
			all = append(all, m)
		}
	}
	return all
}

// State returns where finished files are, and what keeps them from going there.
func (o *offload) State() (s api.Offload) {
	for _, m := range o.movers {
		one := m.State()
		s.Folders = append(s.Folders, one.Folders...)
		if one.Since != nil && (s.Since == nil || one.Since.Before(*s.Since)) {
			s.Error, s.Since = one.Error, one.Since
		}
	}
	if o.uploader != nil {
		s.Upload = o.uploader.Shown()
	}
	return s
}

// listed is the list of finished files of a folder. It is read again only after it has grown.
type listed struct {
	dir     string
	size    int64
	changed time.Time
	entries []fixity.Entry

	// What absent found. It is valid as long as the folder has the same time.
	gone   []string
	folder time.Time // when the folder was changed
	calls  int       // of absent, since the folder has that time or was listed again
}

// read returns the entries of the manifest, oldest first.
func (l *listed) read() ([]fixity.Entry, error) {
	info, err := os.Stat(filepath.Join(l.dir, fixity.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no file was finished yet
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest of the WARC files: %w", err)
	}
	if info.Size() == l.size && info.ModTime().Equal(l.changed) {
		return l.entries, nil
	}
	m, err := fixity.Read(l.dir)
	if err != nil {
		return nil, fmt.Errorf("read the manifest of the WARC files: %w", err)
	}
	l.entries, l.size, l.changed = m.Entries, info.Size(), info.ModTime()
	return l.entries, nil
}

const (
	// surely is after how many calls that see the same time of a folder it is not listed again. A file system may have
	// times of two seconds each, so a folder can change after it was listed without another time.
	surely = 2
	// listAgain is at which call a folder is listed again, whatever its time: after five minutes.
	listAgain = 20
)

// absent returns the names of the files in the list that are not in the folder. It lists the folder only if the time of
// the folder has changed, and each five minutes.
func (l *listed) absent() ([]string, error) {
	before := l.changed
	entries, err := l.read()
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(l.dir) // before it is listed
	if err != nil {
		return nil, err
	}
	if at := info.ModTime(); !at.Equal(l.folder) || !l.changed.Equal(before) || l.calls == listAgain {
		l.folder, l.calls = at, 0
	}
	if l.calls++; l.calls > surely {
		return l.gone, nil
	}
	files, err := os.ReadDir(l.dir)
	if err != nil {
		l.folder = time.Time{}
		return nil, err
	}
	here := make(map[string]bool, len(files))
	for _, f := range files {
		here[f.Name()] = true
	}
	l.gone = nil
	for _, e := range entries {
		if !here[e.File] && !strings.Contains(e.File, "/") {
			l.gone = append(l.gone, e.File)
		}
	}
	return l.gone, nil
}
