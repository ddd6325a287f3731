package rewrite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// ErrTooLarge says that the records of the chosen captures have more bytes than allowed.
var ErrTooLarge = errors.New("the chosen captures are too large")

// ExcerptOptions say how to make the package.
type ExcerptOptions struct {
	Out      string // path of the package; it must not exist
	Work     string // folder for temporary files, which exists; what is in it may remain
	Title    string
	Software string
	Now      time.Time
	MaxBytes int64                   // maximum size of the records that are copied
	Room     func(bytes int64) error // returns an error if records of this size are too much for the disk; may be nil
	Copied   func(done int)          // called after each capture; may be nil
}

// ExcerptSummary counts what is in the package.
type ExcerptSummary struct {
	Captures int
	Pages    int
	Lacking  int      // captures that could not be read, or whose payload could not be read
	Gone     []string // the WARC files of these that are not in the folder of the archive, sorted
}

// Excerpt makes a WACZ package of the captures that entries name. Each is copied with the records that belong to it.
// Revisits become responses, so that the package needs nothing else. Captures that cannot be read are left out and
// counted. It does not read whole files: its work depends on what is chosen. The archive may be written meanwhile.
func Excerpt(
	ctx context.Context, l *captures.Library, entries []index.Entry, o ExcerptOptions,
) (sum ExcerptSummary, err error) {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, inOrder) // files are read from their beginning to their end
	entries = slices.Compact(entries)
	c := copier{l: l, o: o, sum: &sum, gone: map[string]bool{}}
	defer func() { sum.Gone = slices.Sorted(maps.Keys(c.gone)) }()
	chosen, originals := filepath.Join(o.Work, "chosen"), filepath.Join(o.Work, "originals")
	if err := c.room(entries); err != nil {
		return sum, err
	}
	if err := c.file(ctx, chosen, entries); err != nil {
		return sum, err
	}
	if sum.Captures == 0 {
		return sum, fmt.Errorf("%w: no chosen capture can be read", warc.ErrNotFound)
	}
	missing, err := c.originals(ctx, entries)
	if err != nil {
		return sum, err
	}
	if err := c.room(slices.Concat(entries, missing)); err != nil { // payloads may be larger than what was chosen
		return sum, err
	}
	copied := sum
	c.o.Copied = nil
	if err := c.file(ctx, originals, missing); err != nil {
		return sum, err
	}
	sum = copied // rewriting counts the captures that lack one
	rewriting := Options{
		Out: filepath.Join(o.Work, "whole"), Software: o.Software, Command: "excerpt", Now: o.Now,
	}
	if len(missing) > 0 {
		rewriting.From = []string{originals}
	}
	lacks := func(f warc.Finding) error {
		if f.Severity == warc.Error {
			sum.Lacking++
		}
		return nil
	}
	if _, err := Files(ctx, []string{chosen}, rewriting, lacks); err != nil {
		return sum, err
	}
	packed, err := wacz.Write(ctx, []string{rewriting.Out}, wacz.Options{
		Out: o.Out, Title: o.Title, Software: o.Software, Now: o.Now, Rewritten: true,
	}, func(warc.Finding) error { return nil })
	sum.Pages = packed.Pages
	return sum, err
}

func inOrder(a, b index.Entry) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename), cmp.Compare(a.Offset, b.Offset))
}

// copier copies records.
type copier struct {
	l     *captures.Library
	o     ExcerptOptions
	sum   *ExcerptSummary
	bytes int64
	gone  map[string]bool // names of files that are not there
}

// note records the file that is not there, if an error says that.
func (c *copier) note(err error) {
	if name, ok := captures.GoneFile(err); ok {
		c.gone[name] = true
	}
}

// room returns an error if the records of captures are too large, or too much for the disk.
func (c *copier) room(entries []index.Entry) error {
	bytes := int64(0)
	for _, e := range entries {
		bytes += e.Length
	}
	if bytes > c.o.MaxBytes {
		return ErrTooLarge
	}
	if c.o.Room == nil {
		return nil
	}
	return c.o.Room(bytes)
}

// file copies the records of captures to a file in a new folder.
func (c *copier) file(ctx context.Context, folder string, entries []index.Entry) error {
	if err := os.Mkdir(folder, 0o750); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(folder, "data.warc.gz"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	for i, e := range entries {
		if err = ctx.Err(); err != nil {
			break
		}
		if err = c.group(out, e); err != nil {
			break
		}
		if c.o.Copied != nil {
			c.o.Copied(i + 1)
		}
	}
	return errors.Join(err, out.Close())
}

// group copies the records of one capture, whole or not at all. Damage is counted.
func (c *copier) group(out *os.File, e index.Entry) error {
	begin, err := out.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	var fatal error // an error of the disk that is written, or of the bounds
	err = c.l.Group(e, func(r *warc.Reader, rec *warc.Record) error {
		if err := rec.Close(); err != nil {
			return err
		}
		if rec.SharesMember() {
			return fmt.Errorf("%w: several records are in one gzip member", warc.ErrDamaged)
		}
		if c.bytes += rec.Length; c.bytes > c.o.MaxBytes {
			fatal = ErrTooLarge
			return fatal
		}
		fatal = copyRecord(out, r, rec)
		return fatal
	})
	switch {
	case fatal != nil:
		return fatal
	case err != nil:
		c.sum.Lacking++
		c.note(err)
		_, seek := out.Seek(begin, io.SeekStart)
		return errors.Join(out.Truncate(begin), seek)
	}
	c.sum.Captures++
	return nil
}

// copyRecord copies one closed record, byte for byte. A record that is not compressed becomes a gzip member.
func copyRecord(out io.Writer, r *warc.Reader, rec *warc.Record) error {
	raw, zipped := r.Raw(rec.Offset, rec.Length)
	if zipped {
		_, err := io.Copy(out, raw)
		return err
	}
	z := gzip.NewWriter(out)
	_, err := io.Copy(z, raw)
	return errors.Join(err, z.Close())
}

// originals returns the captures with the payloads of revisits, without those that are chosen themselves.
func (c *copier) originals(ctx context.Context, entries []index.Entry) (found []index.Entry, err error) {
	for _, e := range entries {
		if e.MIME != index.RevisitMIME {
			continue
		}
		o, err := c.l.OriginalOf(ctx, e)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			c.note(err)
			continue // rewriting counts it
		}
		if _, has := slices.BinarySearchFunc(entries, o, inOrder); !has {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, inOrder)
	return slices.Compact(found), nil
}
