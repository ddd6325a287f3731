package warcout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/nlnwa/gowarc/v3"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/panics"
)

// The defaults of [Options].
const (
	DefaultPrefix  = "arcrawl"
	DefaultMaxSize = 1 << 30 // bytes; the size that other tools expect of a WARC file
	// DefaultLevel is measured on 318 pages of documentation, each a member. Level 5 takes 0.90 to 0.93 of its processor
	// time for 0.7 to 1.7 % more bytes, level 4 takes 0.78 to 0.81 for 4 to 7 % more, level 7 takes 1.6 to 1.75 times as
	// much for 1.0 to 1.7 % fewer. A page is compressed once and kept for good, so bytes count more.
	DefaultLevel = 6
)

// MaxSeries is the maximum number of series. Each has a file that is being written, and its visits wait for syncs of
// their own.
const MaxSeries = 8

// ErrClosed is returned by a [Writer] after Close.
var ErrClosed = errors.New("warcout: writer is closed")

// ErrRefused is returned by [Writer.Write] for a visit that cannot be composed into records, or whose composition
// panics. The cause is in the visit, so a retry of the same visit fails again, and other visits are not affected.
var ErrRefused = errors.New("cannot compose the records")

// Options say where and how to write. All except Dir may be zero.
type Options struct {
	Dir     string        // of the WARC files; created if missing
	Prefix  string        // first part of file names; default "arcrawl"
	Host    string        // last part of file names; default "localhost"
	MaxSize int64         // compressed bytes after which the next visit begins a new file; default 1 GiB
	MaxAge  time.Duration // after which a file is sealed; 0 = no limit
	Level   int           // of gzip, 1 to 9; default 6
	TempDir string        // for large visits; default: the temporary folder of the system
	Info    []Field       // of the warcinfo records: software, operator, format, conformsTo, robots, …
	Journal string        // path of the journal; empty = no journal
	Usual   Usual         // request that a revisit has no record of; zero = each request has a record
}

// Writer writes visits into WARC files. Its methods may be called concurrently.
type Writer struct {
	o        Options
	names    naming
	create   func(path string) (storage, error) // tests replace it by a failing disk
	encoders *encoders
	spools   sync.Pool                   // of *spool
	more     func(series string) []Field // see [Writer.Describe]; may be nil

	mu        sync.Mutex // guards the fields below, and the fields of every file
	left      *sync.Cond // a visit left its file after Close was called
	journal   *journal
	serial    int
	current   map[string]*file // of each series, since its first visit
	retired   []*file          // to be sealed when their last visit has ended
	summaries summaries
	closed    bool
}

// Open repairs the folder after a crash and returns a Writer. The first visit creates the first file. The repairs are
// for the log, in the order of file names. now is the time of the repairs in the journal. An error means that the
// options are wrong, that a folder cannot be written to, or that the disk fails.
func Open(o Options, now time.Time) (*Writer, []Repair, error) {
	o, names, err := o.check()
	if err != nil {
		return nil, nil, fmt.Errorf("open WARC writer: %w", err)
	}
	if err := prepareDirs(o); err != nil {
		return nil, nil, fmt.Errorf("open WARC writer: %w", err)
	}
	j, known, damaged, err := openJournal(o.Journal)
	if err != nil {
		return nil, nil, err
	}
	r := repairer{dir: o.Dir, names: names, journal: j, known: known, now: now}
	repairs, err := r.repairAll()
	if err != nil {
		return nil, repairs, errors.Join(err, j.close())
	}
	if damaged > 0 {
		repairs = append(repairs, Repair{
			File: filepath.Base(o.Journal), Kind: DamagedJournal, Before: damaged, After: damaged,
		})
	}
	w := &Writer{o: o, names: names, create: createFile, journal: j, current: map[string]*file{}}
	w.left = sync.NewCond(&w.mu)
	w.encoders = newEncoders(o.Level)
	code := newBriefCode()
	w.spools.New = func() any { return newSpool(o.TempDir, code) }
	return w, repairs, nil
}

// Describe adds to the warcinfo record of each new file what more returns for its series at that moment. Call it before
// the first visit. more must not call methods of the Writer.
func (w *Writer) Describe(more func(series string) []Field) { w.more = more }

func (o Options) check() (Options, naming, error) {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Host == "" {
		o.Host = "localhost"
	}
	if o.MaxSize == 0 {
		o.MaxSize = DefaultMaxSize
	}
	if o.Level == 0 {
		o.Level = DefaultLevel
	}
	names, err := newNaming(o.Prefix, o.Host)
	switch {
	case err != nil:
		return o, names, err
	case o.Dir == "":
		return o, names, errors.New("no folder is set")
	case o.MaxSize < 0:
		return o, names, fmt.Errorf("maximum size %d must not be negative", o.MaxSize)
	case o.MaxAge < 0:
		return o, names, fmt.Errorf("maximum age %s must not be negative", o.MaxAge)
	case o.Level < 1 || o.Level > 9:
		return o, names, fmt.Errorf("gzip level %d must be 1 to 9", o.Level)
	}
	o.Info = append(slices.Clip(o.Info), o.Usual.fields()...)
	_, err = fieldBlock(o.Info)
	return o, names, err
}

// prepareDirs creates the folders and tries to write to them, so that an error shows at the start and not with the
// first visit.
func prepareDirs(o Options) error {
	for _, dir := range []string{o.Dir, o.TempDir} {
		if dir != "" {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		probe, err := os.CreateTemp(dir, ".warcout-probe-*")
		if err != nil {
			return fmt.Errorf("write to the folder: %w", err)
		}
		if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Write stores a visit and returns when it is synced to disk. If the disk is full, errors.Is(err, syscall.ENOSPC) is
// true. After an error nothing of the visit is in the file; it may be retried with a new Block, unless the error is an
// [ErrRefused].
func (w *Writer) Write(now time.Time, v Visit) (Written, error) {
	out, err := w.write(now, v)
	if err != nil {
		return Written{}, fmt.Errorf("archive %s: %w", v.URI, err)
	}
	return out, nil
}

func (w *Writer) write(now time.Time, v Visit) (Written, error) {
	if err := v.check(); err != nil {
		return Written{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return w.append(now, v)
}

// append appends the records of a visit that was checked, and waits until they are synced.
func (w *Writer) append(now time.Time, v Visit) (Written, error) {
	f, number, err := w.enter(v.Series, now)
	if err != nil {
		return Written{}, err
	}
	defer w.leave(now, f)
	out, b, err := w.put(f, v, number)
	if b != nil {
		err = errors.Join(err, w.await(now, f, b))
	}
	return out, err
}

// put composes a visit and appends it to the file. It is not on disk until its batch is.
func (w *Writer) put(f *file, v Visit, number uint32) (out Written, b *batch, err error) {
	s := w.spools.Get().(*spool) // it is returned before the wait for a sync, as many visits may wait
	out, c, err := w.prepare(s, f, v, number)
	if panicked := (*panics.Error)(nil); errors.As(err, &panicked) {
		s.reset() // it is not used again
		return Written{}, nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	defer w.spools.Put(s)
	if err == nil {
		out.Origin.Offset, b, err = w.add(f, s, c)
	}
	s.reset()
	return out, b, err
}

// prepare composes and compresses the records of a visit into s. A panic becomes an error, as nothing of the visit is
// in the file yet.
func (w *Writer) prepare(s *spool, f *file, v Visit, number uint32) (out Written, c composed, err error) {
	defer panics.Recover(&err)
	records, err := compose(s.text, v, f.infoID, number, w.o.Usual)
	if err != nil {
		return Written{}, composed{}, err
	}
	length, err := w.encode(s, records)
	out = Written{Origin: v.origin(records[0]), Bytes: s.size, IsResponse: records[0].kind == gowarc.Response}
	out.Origin.File, out.Origin.Length = f.name, length
	c = composed{records: int64(len(records)), date: v.date().UnixMicro()}
	if records[0].isCapture() {
		c.captures = 1
	}
	return out, c, err
}

// add appends a composed visit to the file and returns its offset. The lock is free again even if a panic ends the
// process, because the visits in progress lock it once more.
func (w *Writer) add(f *file, s *spool, c composed) (offset int64, b *batch, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	offset = f.appended.size
	b, err = f.add(s, c)
	return offset, b, err
}

// date returns the date of all records of a visit.
func (v Visit) date() time.Time {
	if v.resource != nil {
		return v.resource.Date
	}
	return v.Date
}

// origin returns the origin that the first record of a visit makes, without its place in the file.
func (v Visit) origin(first record) digest.Origin {
	if v.resource != nil {
		return v.resource.origin(first)
	}
	o := digest.Origin{RecordID: first.id, URI: v.URI.String(), Date: v.Date.UTC().Truncate(time.Microsecond)}
	if v.Revisit != nil {
		o.Payload, o.Size = v.Revisit.Origin.Payload, v.Revisit.Origin.Size
		o.Strong = v.Revisit.Origin.Strong
	}
	if v.Response != nil {
		o.Payload, o.Size = v.Response.PayloadDigest, v.Response.PayloadSize
		o.Strong = v.Response.PayloadSHA256.Half()
	}
	return o
}

// encode compresses all records into s and returns the length of the first member. It needs no lock.
func (w *Writer) encode(s *spool, records []record) (first int64, err error) {
	for i, r := range records {
		if err := w.encodeOne(s, r); err != nil {
			return 0, err
		}
		if i == 0 {
			first = s.size
		}
	}
	return first, nil
}

func (w *Writer) encodeOne(s *spool, r record) error {
	if r.from == nil {
		if done, err := s.brief(r.text); done {
			return err
		}
	}
	e, err := w.encoders.take()
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			w.encoders.drop() // it may be in the middle of a member
		}
	}()
	if err := e.encode(s, r); err != nil {
		return err
	}
	done = true
	w.encoders.release(e)
	return nil
}

// enter returns the current file of a series, which is not sealed before the call of [Writer.leave], and a number for
// the visit.
func (w *Writer) enter(series string, now time.Time) (f *file, number uint32, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, 0, ErrClosed
	}
	f = w.current[series]
	if f != nil && (f.broken != nil || f.appended.size >= w.o.MaxSize || f.visits == maxVisits || w.isOld(f, now)) {
		w.retire(series)
		f = nil
	}
	if f == nil {
		if len(w.current) > MaxSeries { // of series that are no longer used
			w.retireAll()
		}
		if f, err = w.newFile(series, now); err != nil {
			return nil, 0, err
		}
		w.current[series] = f
	}
	f.users++
	f.visits++
	return f, f.visits, nil
}

// leave ends the use of a file. An error of sealing does not concern this visit: Rotate, Seal or Close retry and
// report it.
func (w *Writer) leave(now time.Time, f *file) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f.users--
	_ = w.sealRetired(now)
	if w.closed {
		w.left.Broadcast()
	}
}

func (w *Writer) isOld(f *file, now time.Time) bool {
	return w.o.MaxAge > 0 && now.Sub(f.opened) >= w.o.MaxAge
}

// await waits for the sync of a batch and returns its result. The first visit of the batch syncs it.
func (w *Writer) await(now time.Time, f *file, b *batch) error {
	if b.first.CompareAndSwap(false, true) {
		w.sync(now, f, b)
	}
	<-b.ended
	return b.err
}

// sync syncs a batch as soon as the sync before it has ended. Until then more visits may join the batch.
func (w *Writer) sync(now time.Time, f *file, b *batch) {
	w.mu.Lock()
	before, alone := f.syncing, f.together == 1 && b.visits == 1
	w.mu.Unlock()
	if before != nil {
		<-before.ended
	}
	if !alone {
		runtime.Gosched() // another visit may be about to join; without one, this would wake a thread without effect
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.waiting != b {
		return // the sync before failed, and the batch with it
	}
	target := f.appended
	pending, at := f.takePending()
	f.waiting, f.syncing, f.together = nil, b, b.visits
	w.mu.Unlock()
	err := f.write(pending, at)
	if err == nil {
		if err = f.disk.Sync(); err != nil {
			err = fmt.Errorf("sync %s: %w", f.name, err)
		}
	}
	w.mu.Lock()
	f.finishSync(target, err)
	if f.synced.size-f.logged >= checkpointEvery {
		// A checkpoint only saves reading after a crash. A failing disk is reported elsewhere.
		if w.journal.add(now, eventCheckpoint, f.name, f.synced.size, f.synced.records) == nil {
			f.logged = f.synced.size
		}
	}
}

// Rotate seals the current files that have reached MaxAge. The daemon calls it regularly, so that a file is sealed even
// without visits. Rotate also retries files that could not be sealed before, and returns why it failed again.
func (w *Writer) Rotate(now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for series, f := range w.current {
		if w.isOld(f, now) {
			w.retire(series)
		}
	}
	return w.sealRetired(now)
}

// Seal seals the current files whatever their age, at the latest when the visits in progress have ended.
func (w *Writer) Seal(now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retireAll()
	return w.sealRetired(now)
}

// Close waits for visits in progress, seals all files and closes the journal. Further calls do nothing.
func (w *Writer) Close(now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.retireAll()
	for slices.ContainsFunc(w.retired, func(f *file) bool { return f.users > 0 }) {
		w.left.Wait()
	}
	err := w.sealRetired(now)
	for _, f := range w.retired {
		err = errors.Join(err, f.disk.Close()) // stays .open, and the next start repairs it
	}
	w.retired = nil
	return errors.Join(err, w.journal.close())
}
