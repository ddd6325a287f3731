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

	"github.com/arcrawl/arcrawl/digest"
)

// The defaults of [Options].
const (
	DefaultPrefix  = "arcrawl"
	DefaultMaxSize = 1 << 30 // bytes; the size that other tools expect of a WARC file
	DefaultLevel   = 6
)

// ErrClosed is returned by a [Writer] after Close.
var ErrClosed = errors.New("warcout: writer is closed")

// Options say where and how to write. All but Dir may be left at zero.
type Options struct {
	Dir     string        // of the WARC files; made if it is not there
	Prefix  string        // first part of file names; "arcrawl"
	Host    string        // last part of file names; "localhost"
	MaxSize int64         // compressed bytes after which the next visit begins a new file; 1 GiB
	MaxAge  time.Duration // after which a file is sealed; zero: at any age
	Level   int           // of gzip, 1 to 9; 6
	TempDir string        // where large visits wait; the system's own
	Info    []Field       // of the warcinfo records: software, operator, format, conformsTo, robots, …
	Journal string        // path of the journal; empty: none is kept
}

// Writer writes visits into WARC files. Its methods may be called at the same time.
type Writer struct {
	o        Options
	names    naming
	create   func(path string) (storage, error) // a test puts a failing disk here
	encoders *encoders
	spools   sync.Pool // of *spool

	mu      sync.Mutex // guards the fields below, and every file's
	left    *sync.Cond // a visit left its file after Close was called
	journal *journal
	serial  int
	current *file   // nil until a visit comes
	retired []*file // to be sealed when their last visit has left
	closed  bool
}

// Open repairs what a crash left in the folder and gets ready to write; the first file is made when the first visit comes.
// The repairs are for the log, in the order of file names. now is the date of what is repaired. An error means that the
// options are wrong, that a folder cannot be written to, or that the disk fails; it has a remedy where there is one.
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
		repairs = append(repairs, Repair{File: filepath.Base(o.Journal), Kind: DamagedJournal, Before: damaged, After: damaged})
	}
	w := &Writer{o: o, names: names, create: createFile, journal: j}
	w.left = sync.NewCond(&w.mu)
	w.encoders = newEncoders(o.Level)
	code := newBriefCode()
	w.spools.New = func() any { return newSpool(o.TempDir, code) }
	return w, repairs, nil
}

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
		return o, names, errors.New("no folder")
	case o.MaxSize < 0:
		return o, names, fmt.Errorf("largest size %d: must not be negative", o.MaxSize)
	case o.MaxAge < 0:
		return o, names, fmt.Errorf("largest age %s: must not be negative", o.MaxAge)
	case o.Level < 1 || o.Level > 9:
		return o, names, fmt.Errorf("gzip level %d: must be 1 to 9", o.Level)
	}
	_, err = fieldBlock(o.Info)
	return o, names, err
}

// prepareDirs makes the folders and tries them, so that a fault is found at the start and not with the first visit.
func prepareDirs(o Options) error {
	for _, dir := range []string{o.Dir, o.TempDir} {
		if dir != "" {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		probe, err := os.CreateTemp(dir, ".warcout-probe-*")
		if err != nil {
			return fmt.Errorf("folder cannot be written to: %w", err)
		}
		if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Write stores a visit and returns when it is safe on disk. The error of a full disk is found by errors.Is(err,
// syscall.ENOSPC). After an error nothing of the visit is in the file; it may be tried again, with a new Block.
func (w *Writer) Write(now time.Time, v Visit) (Written, error) {
	out, err := w.write(now, v)
	if err != nil {
		return Written{}, fmt.Errorf("archive %s: %w", v.URI, err)
	}
	return out, nil
}

func (w *Writer) write(now time.Time, v Visit) (Written, error) {
	if err := v.check(); err != nil {
		return Written{}, err
	}
	f, number, err := w.enter(now)
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

// put composes a visit and appends it to the file. It is not safe until the batch is.
func (w *Writer) put(f *file, v Visit, number uint32) (out Written, b *batch, err error) {
	s := w.spools.Get().(*spool) // it is given back before a sync is awaited, for which many may wait
	defer w.spools.Put(s)
	records, err := compose(s.text, v, f.infoID, number)
	if err != nil {
		return Written{}, nil, err
	}
	length, err := w.encode(s, records)
	out = Written{Origin: v.origin(records[0]), Bytes: s.size}
	out.Origin.File, out.Origin.Length = f.name, length
	if err == nil {
		w.mu.Lock()
		out.Origin.Offset = f.written.size
		b, err = f.add(s, int64(len(records)))
		w.mu.Unlock()
	}
	return out, b, errors.Join(err, s.reset())
}

// origin says which record first of a visit is, all but its place.
func (v Visit) origin(first record) digest.Origin {
	o := digest.Origin{RecordID: first.id, URI: v.URI.String(), Date: v.Date.UTC().Truncate(time.Microsecond)}
	if v.Revisit != nil {
		o.Payload, o.Size = v.Revisit.Origin.Payload, v.Revisit.Origin.Size
	}
	if v.Response != nil {
		o.Payload, o.Size = v.Response.PayloadDigest, v.Response.PayloadSize
	}
	return o
}

// encode compresses all records into s and tells the length of the first one's member. No lock is held.
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
	if err := e.encode(s, r); err != nil {
		w.encoders.lose() // it may be half way through a member: it is not used again
		return err
	}
	w.encoders.give(e)
	return nil
}

// enter takes a place in the current file, so that it is not sealed before [Writer.leave], and a number for the visit.
func (w *Writer) enter(now time.Time) (f *file, number uint32, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, 0, ErrClosed
	}
	if f := w.current; f != nil && (f.broken != nil || f.written.size >= w.o.MaxSize || f.visits == maxVisits || w.isOld(f, now)) {
		w.retire()
	}
	if w.current == nil {
		f, err := w.newFile(now)
		if err != nil {
			return nil, 0, err
		}
		w.current = f
	}
	w.current.users++
	w.current.visits++
	return w.current, w.current.visits, nil
}

// leave gives the place back. What goes wrong with sealing is no matter of this visit: it is tried again, and told, by
// Rotate, Seal or Close.
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

// await returns when it is known what became of a batch. The first of its visits makes it safe.
func (w *Writer) await(now time.Time, f *file, b *batch) error {
	if b.first.CompareAndSwap(false, true) {
		w.makeSafe(now, f, b)
	}
	<-b.ended
	return b.err
}

// makeSafe syncs a batch as soon as the sync before it has ended; until then more visits may join it.
func (w *Writer) makeSafe(now time.Time, f *file, b *batch) {
	w.mu.Lock()
	before, alone := f.syncing, f.together == 1 && b.visits == 1
	w.mu.Unlock()
	if before != nil {
		<-before.ended
	}
	if !alone {
		runtime.Gosched() // who could go on now may be about to join; where nobody is, this would wake a thread for nothing
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.waiting != b {
		return // the sync before has failed, and the batch with it
	}
	target := f.written
	waits, at := f.takeWaits()
	f.waiting, f.syncing, f.together = nil, b, b.visits
	w.mu.Unlock()
	err := f.write(waits, at)
	if err == nil {
		if err = f.disk.Sync(); err != nil {
			err = fmt.Errorf("sync %s: %w", f.name, err)
		}
	}
	w.mu.Lock()
	f.settle(target, err)
	if f.synced.size-f.told >= checkpointEvery {
		// A checkpoint only saves reading after a crash; a disk that cannot take it will say so elsewhere.
		if w.journal.add(now, eventCheckpoint, f.name, f.synced.size, f.synced.records) == nil {
			f.told = f.synced.size
		}
	}
}

// Rotate seals the current file when it has reached MaxAge; the daemon calls it now and then, so that a file is sealed also
// when no visits come. It also tries again what could not be sealed before, and tells why.
func (w *Writer) Rotate(now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil && w.isOld(w.current, now) {
		w.retire()
	}
	return w.sealRetired(now)
}

// Seal seals the current file whatever its age, or as soon as the visits that are on their way into it have arrived.
func (w *Writer) Seal(now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retire()
	return w.sealRetired(now)
}

// Close waits for visits that are being written, seals all files and closes the journal. Further calls do nothing.
func (w *Writer) Close(now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.retire()
	for slices.ContainsFunc(w.retired, func(f *file) bool { return f.users > 0 }) {
		w.left.Wait()
	}
	err := w.sealRetired(now)
	for _, f := range w.retired {
		err = errors.Join(err, f.disk.Close()) // stays .open, for the next start
	}
	w.retired = nil
	return errors.Join(err, w.journal.close())
}
