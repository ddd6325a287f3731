package fixity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// BagOptions say what a bag contains.
type BagOptions struct {
	Out          string                   // the folder of the bag, which must not exist
	Link         bool                     // make hard links instead of copies, on the same disk
	Since, Until time.Time                // only files with records of this period; zero = no bound
	Leave        func(warc.File) bool     // reports which files are left out; nil = none
	Info         []warc.Field             // of bag-info.txt: Source-Organization and others
	Size         func(bytes int64) string // writes Bag-Size; nil = without
	Software     string
	Now          time.Time

	// About returns further tag files, by their paths in the bag, when the payload is complete; nil = none.
	About func(BagContent) (tags map[string][]byte, err error)
}

// BagContent is the payload of a bag.
type BagContent struct {
	Files []Entry // as they are in the bag
	Left  []Fault // files that are damaged or missing
	Bytes int64
}

// Fault says why a file is not in a bag.
type Fault struct {
	Entry
	Gone bool
	Text string
}

// BagSummary counts the content of a bag. Errors are files that are damaged or missing: they are not in the bag.
type BagSummary struct {
	Files  int   `json:"files"`
	Bytes  int64 `json:"bytes"`
	Errors int   `json:"errors"`
}

// partSuffix ends the name of a bag that is not complete.
const partSuffix = ".part"

// WriteBag writes the finished WARC files of a folder as a bag: a folder by RFC 8493 (BagIt 1.0) with the files below
// data/, their SHA-256, and the manifest of the folder with its log of checks and its signatures. It reads each file
// and compares it with the manifest. A file that the manifest does not list goes into the bag with the SHA-256 that it
// has now. The bag appears under its name when it is complete.
func WriteBag(
	ctx context.Context, dir string, o BagOptions, report func(warc.Finding) error,
) (sum BagSummary, err error) {
	fail := func(err error) (BagSummary, error) {
		return sum, fmt.Errorf("write the bag %s: %w", o.Out, err)
	}
	if _, err := os.Lstat(o.Out); !errors.Is(err, fs.ErrNotExist) {
		return fail(errors.Join(errors.New("it exists: choose another name"), err))
	}
	m, err := Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		m, err = &Manifest{dir: dir}, nil
	}
	if err != nil {
		return fail(err)
	}
	entries, err := m.all(ctx, o)
	if err != nil {
		return fail(err)
	}
	b := bag{dir: dir, to: o.Out + partSuffix, o: o}
	if err := os.RemoveAll(b.to); err != nil { // of an interrupted attempt
		return fail(err)
	}
	if err := os.MkdirAll(filepath.Join(b.to, "data"), 0o755); err != nil {
		return fail(err)
	}
	for _, e := range entries {
		fault, err := b.add(ctx, e)
		if err == nil && fault.Text != "" {
			sum.Errors++
			b.holds.Left = append(b.holds.Left, fault)
			err = report(finding(filepath.Join(dir, e.File), warc.Error, "%s; it is not in the bag", fault.Text))
		}
		if err != nil {
			return fail(errors.Join(err, os.RemoveAll(b.to)))
		}
	}
	sum.Files, sum.Bytes = len(b.holds.Files), b.holds.Bytes
	if err := b.finish(m); err != nil {
		return fail(errors.Join(err, os.RemoveAll(b.to)))
	}
	return sum, nil
}

// all returns the entries of the manifest and new ones of files that it does not list, as far as the options choose
// them.
func (m *Manifest) all(ctx context.Context, o BagOptions) (list []Entry, err error) {
	missing, err := m.Missing(time.Time{})
	if err != nil {
		return nil, err
	}
	list = slices.Clone(m.Entries)
	for _, name := range missing {
		if o.leaves(m.dir, name) {
			continue
		}
		e, err := Measure(ctx, filepath.Join(m.dir, name), nil)
		if err != nil {
			return nil, err
		}
		e.File = name
		list = append(list, e)
	}
	return slices.DeleteFunc(list, func(e Entry) bool {
		return o.leaves(m.dir, e.File) ||
			!o.Since.IsZero() && e.Last.Before(o.Since) || !o.Until.IsZero() && !e.First.Before(o.Until)
	}), nil
}

// leaves reports whether a file of a folder is left out.
func (o BagOptions) leaves(dir, name string) bool {
	return o.Leave != nil && o.Leave(warc.File{Path: filepath.Join(dir, filepath.FromSlash(name)), Name: name})
}

// bag is a bag that is being written.
type bag struct {
	dir, to  string
	o        BagOptions
	manifest bytes.Buffer
	holds    BagContent
}

// add copies a file into the bag. The fault has a text if the file is not in it.
func (b *bag) add(ctx context.Context, e Entry) (fault Fault, err error) {
	fault.Entry = e
	from, name := filepath.Join(b.dir, filepath.FromSlash(e.File)), "data/"+e.File
	to := filepath.Join(b.to, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fault, err
	}
	var got string
	var size int64
	if b.o.Link {
		if got, size, err = hashFile(ctx, from, nil); err == nil {
			if from, err = filepath.EvalSymlinks(from); err == nil { // it may have been moved to another folder
				err = os.Link(from, to)
			}
		}
	} else {
		got, size, err = copyFile(ctx, from, to)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fault.Gone, fault.Text = true, "it is not here"
	case err != nil:
		return fault, err
	case got != e.SHA256:
		fault.Text = fmt.Sprintf("it has SHA-256 %s, and %s when it was sealed", got, e.SHA256)
	}
	if fault.Text != "" {
		if err := os.Remove(to); !errors.Is(err, fs.ErrNotExist) {
			return fault, err
		}
		return fault, nil
	}
	e.Size = size
	b.holds.Files, b.holds.Bytes = append(b.holds.Files, e), b.holds.Bytes+size
	// RFC 8493, section 2.1.3: line ends and percent signs in names are escaped.
	name = strings.NewReplacer("%", "%25", "\n", "%0A", "\r", "%0D").Replace(name)
	fmt.Fprintf(&b.manifest, "%s  %s\n", got, name)
	return fault, nil
}

// copyFile copies a file and returns the SHA-256 and the size of what it has written and synced.
func copyFile(ctx context.Context, from, to string) (digest string, size int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", 0, err
	}
	defer in.Close() //nolint:errcheck // nothing was written
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	size, err = Copy(ctx, io.MultiWriter(out, h), in)
	if err == nil {
		err = out.Sync()
	}
	return hex.EncodeToString(h.Sum(nil)), size, errors.Join(err, out.Close())
}

// info returns bag-info.txt.
func (b *bag) info() []byte {
	var text bytes.Buffer
	size := ""
	if b.o.Size != nil {
		size = b.o.Size(b.holds.Bytes)
	}
	for _, f := range slices.Concat(b.o.Info, []warc.Field{
		{Name: "Bagging-Date", Value: b.o.Now.UTC().Format(time.DateOnly)},
		{Name: "Bag-Software-Agent", Value: b.o.Software},
		{Name: "Bag-Size", Value: size},
		{Name: "Payload-Oxum", Value: fmt.Sprintf("%d.%d", b.holds.Bytes, len(b.holds.Files))},
	}) {
		if value := strings.Join(strings.Fields(f.Value), " "); value != "" { // one line
			text.WriteString(f.Name + ": " + value + "\n")
		}
	}
	return text.Bytes()
}

// finish writes the tag files and renames the bag to its final name.
func (b *bag) finish(m *Manifest) error {
	tags := map[string][]byte{}
	if b.o.About != nil {
		var err error
		if tags, err = b.o.About(b.holds); err != nil {
			return err
		}
	}
	maps.Copy(tags, map[string][]byte{
		"bagit.txt":           []byte("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"),
		"bag-info.txt":        b.info(),
		"manifest-sha256.txt": b.manifest.Bytes(),
	})
	for _, name := range []string{FileName, LogName, SignedName} {
		if chain, err := os.ReadFile(filepath.Join(m.dir, name)); err == nil {
			tags[name] = chain
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	var sums bytes.Buffer
	for name, text := range tags {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), name)
	}
	tags["tagmanifest-sha256.txt"] = sums.Bytes()
	for name, text := range tags {
		path := filepath.Join(b.to, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = fileio.Write(path, text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if err := os.Rename(b.to, b.o.Out); err != nil {
		return err
	}
	return fileio.SyncDir(filepath.Dir(b.o.Out))
}
