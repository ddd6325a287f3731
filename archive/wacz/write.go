package wacz

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/survey"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/atomicfile"
)

// The manifest of a package, and the file with its digest.
const (
	descriptorName       = "datapackage.json"
	descriptorDigestName = "datapackage-digest.json"
)

// waczVersion is the version of the specification.
const waczVersion = "1.1.1"

// Options say how to make a WACZ package.
type Options struct {
	Out                          string // path of the package; ends in .wacz
	Title, Description, Software string // of datapackage.json
	Now                          time.Time
	From                         Sources // files outside the package that may hold originals of its revisits
	Rewritten                    bool    // the files were just rewritten, which has reported missing originals
	Progress                     *warc.Progress
}

// Summary counts what is in a package.
type Summary struct {
	Files    int       `json:"files"`
	Captures int64     `json:"captures"`
	Pages    int       `json:"pages"`
	Bytes    int64     `json:"bytes"` // of its WARC files
	Errors   int       `json:"errors"`
	Requires []Require `json:"requires"`
}

// Require is a file that a package depends on, as in relation.requires of its manifest: a WARC file, or a package as a
// whole.
type Require struct {
	Filename string `json:"filename"`
	Hash     string `json:"hash"`
	Size     int64  `json:"size"`
	CrawlID  string `json:"crawlId,omitempty"` // of a package
	Revisits int    `json:"revisits"`          // revisits in the package that need the file
}

// resource is a file in a package, as listed in datapackage.json.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// datapackage is the manifest of a package.
type datapackage struct {
	Profile     string     `json:"profile"`
	Version     string     `json:"wacz_version"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Created     string     `json:"created"`
	Modified    string     `json:"modified"`
	Software    string     `json:"software"`
	Resources   []resource `json:"resources"`
	Relation    *relation  `json:"relation,omitempty"`
}

type relation struct {
	Requires []Require `json:"requires"`
}

// writer writes a package.
type writer struct {
	o         Options
	zip       *zip.Writer
	resources []resource
	sum       Summary
}

// Write makes a WACZ package of WARC files. It holds the unchanged files, a compressed index, a list of the pages
// (HTML with status 200), and the manifest with the hash and size of each file. The manifest names the files of
// o.From that hold originals of its revisits, in relation.requires. Write never overwrites a file. It reports damage
// and packs it as it is, but leaves out files that are still open.
func Write(ctx context.Context, paths []string, o Options, report func(warc.Finding) error) (Summary, error) {
	p := &writer{o: o, sum: Summary{Requires: []Require{}}}
	pass := report
	report = func(f warc.Finding) error {
		if f.Severity == warc.Error {
			p.sum.Errors++
		}
		return pass(f)
	}
	files, err := p.choose(paths, report)
	if err != nil {
		return p.sum, err
	}
	if err := os.MkdirAll(filepath.Dir(o.Out), 0o755); err != nil {
		return p.sum, fmt.Errorf("write %s: %w", o.Out, err)
	}
	out, err := atomicfile.Create(o.Out, 0o644)
	if err != nil {
		return p.sum, err
	}
	defer out.Discard()
	buffered := bufio.NewWriterSize(out, 128<<10)
	p.zip = zip.NewWriter(buffered)
	lines, err := os.CreateTemp(filepath.Dir(o.Out), ".index.tmp-*")
	if err != nil {
		return p.sum, fmt.Errorf("write %s: %w", o.Out, err)
	}
	defer func() {
		_ = lines.Close() // it is removed
		_ = os.Remove(lines.Name())
	}()
	indexed, err := index.Build(ctx, files, index.Options{Progress: o.Progress, Milliseconds: true}, lines, report)
	if err != nil {
		return p.sum, err
	}
	p.sum.Captures = indexed.Entries
	steps := []func() error{
		func() error { return p.archives(ctx, files) },
		func() error { return p.indexes(lines) },
		func() error { return p.pages(lines) },
		func() error { return p.requires(ctx, files, report) },
		p.manifest,
		p.zip.Close,
		buffered.Flush,
	}
	for _, step := range steps {
		if err := errors.Join(step(), ctx.Err()); err != nil {
			return p.sum, fmt.Errorf("write %s: %w", o.Out, err)
		}
	}
	err = out.New()
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: nothing is overwritten", err)
	}
	return p.sum, err
}

// choose returns the files to pack. In the package, a file has the last element of its path as its name.
func (p *writer) choose(paths []string, report func(warc.Finding) error) ([]string, error) {
	all, faults := warc.Files(paths)
	for _, f := range faults {
		if err := report(*f); err != nil {
			return nil, err
		}
	}
	var files []string
	names := map[string]string{}
	for _, f := range all {
		name := filepath.Base(f.Path)
		if strings.HasSuffix(name, warc.OpenSuffix) {
			err := report(warc.Finding{
				File: f.Path, Offset: -1, Severity: warc.Warning, Kind: warc.StillOpen,
				Text: "this file is still open and is left out",
			})
			if err != nil {
				return nil, err
			}
			continue
		}
		if other, taken := names[name]; taken {
			return nil, fmt.Errorf("%s and %s have the same name; a package can hold only one of them", other, f.Path)
		}
		names[name] = f.Path
		files = append(files, f.Path)
	}
	switch {
	case len(files) == 0 && p.sum.Errors > 0:
		return nil, fmt.Errorf("%w: no WARC file can be read", warc.ErrDamaged)
	case len(files) == 0:
		return nil, fmt.Errorf("%w: there is no WARC file to pack; files that end in .open are left out", warc.ErrNotFound)
	}
	return files, nil
}

// add writes one file of the package and notes its hash and size. A file that is already compressed is stored without
// further compression, so that replay tools can read from its middle.
func (p *writer) add(path string, stored bool, write func(io.Writer) error) error {
	method := zip.Deflate
	if stored {
		method = zip.Store
	}
	w, err := p.zip.CreateHeader(&zip.FileHeader{Name: path, Method: method, Modified: p.o.Now})
	if err != nil {
		return err
	}
	sum, size := sha256.New(), counter(0)
	if err := write(io.MultiWriter(w, sum, &size)); err != nil {
		return err
	}
	p.resources = append(p.resources, resource{
		Name: resourceName(path), Path: path, Hash: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Bytes: int64(size),
	})
	return nil
}

// resourceName returns the last element of a path as a valid name of a data package: lower case letters, digits, dash,
// dot and underscore.
func resourceName(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("-._", r) {
			return r
		}
		return '-'
	}, strings.ToLower(filepath.Base(path)))
}

// archives writes the WARC files.
func (p *writer) archives(ctx context.Context, files []string) error {
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = p.add("archive/"+filepath.Base(path), true, func(w io.Writer) error {
			n, err := io.Copy(w, f)
			p.sum.Bytes += n
			return err
		})
		if err = errors.Join(err, f.Close(), ctx.Err()); err != nil {
			return err
		}
		p.sum.Files++
	}
	return nil
}

// linesOf returns the lines of a temporary file, from its beginning.
func linesOf(f *os.File) (*bufio.Scanner, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return index.NewLines(f), nil
}

// blockLines is the number of lines of the index that are compressed together.
const blockLines = 3000

// indexes writes the index in blocks, each a gzip member, and a second index with the place of each block.
func (p *writer) indexes(file *os.File) error {
	lines, err := linesOf(file)
	if err != nil {
		return err
	}
	var second bytes.Buffer
	second.WriteString(`!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}` + "\n")
	err = p.add("indexes/index.cdx.gz", true, func(w io.Writer) error {
		written := counter(0)
		w = io.MultiWriter(w, &written)
		for more := lines.Scan(); more; {
			var block bytes.Buffer
			begin, z := written, gzip.NewWriter(&block)
			first := lines.Text()
			for n := 0; more && n < blockLines; n++ {
				if _, err := io.WriteString(z, lines.Text()+"\n"); err != nil {
					return err
				}
				more = lines.Scan()
			}
			if err := z.Close(); err != nil {
				return err
			}
			sum := sha256.Sum256(block.Bytes())
			if _, err := w.Write(block.Bytes()); err != nil {
				return err
			}
			key, _, _ := strings.Cut(first, " {")
			fmt.Fprintf(&second, `%s {"offset": %d, "length": %d, "digest": "sha256:%x", "filename": "index.cdx.gz"}`+"\n",
				key, begin, written-begin, sum)
		}
		return lines.Err()
	})
	if err != nil {
		return err
	}
	return p.add("indexes/index.idx", false, func(w io.Writer) error {
		_, err := second.WriteTo(w)
		return err
	})
}

// pageDate is the layout of dates of pages. Replay tools show the first capture at or after the date, so seconds are
// not enough.
const pageDate = "2006-01-02T15:04:05.000Z"

// pages writes the list of pages, at which readers of the package begin.
func (p *writer) pages(file *os.File) error {
	lines, err := linesOf(file)
	if err != nil {
		return err
	}
	return p.add("pages/pages.jsonl", false, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		err := enc.Encode(map[string]string{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"})
		for err == nil && lines.Scan() {
			var e index.Entry
			if e, err = index.ParseEntry(lines.Text()); err != nil || e.MIME != "text/html" || e.Status != "200" {
				continue
			}
			id := sha256.Sum256([]byte(e.Timestamp + e.URL))
			err = enc.Encode(struct {
				ID  string `json:"id"`
				URL string `json:"url"`
				TS  string `json:"ts"`
			}{hex.EncodeToString(id[:8]), e.URL, e.Date().Format(pageDate)})
			p.sum.Pages++
		}
		return errors.Join(err, lines.Err())
	})
}

// requires finds the files outside the package that its revisits depend on, and reports missing originals.
func (p *writer) requires(ctx context.Context, files []string, report func(warc.Finding) error) error {
	var hidden []warc.Finding
	inside, err := survey.New(ctx, files, p.o.Progress, func(warc.Finding) error { return nil }) // already reported
	if err != nil {
		return err
	}
	outside := new(survey.Survey)
	if len(p.o.From.Paths) > 0 {
		outside, err = survey.New(ctx, p.o.From.Paths, p.o.Progress, func(f warc.Finding) error {
			if f.Severity == warc.Error && !slices.Contains(files, f.File) && len(hidden) < warc.MaxFindings {
				hidden = append(hidden, f)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	counts := map[int32]int{}
	var lacking []warc.Finding
	for i, c := range inside.All() {
		if inside.Original(i) >= 0 {
			continue
		}
		if o := outside.FindOriginal(c); o >= 0 {
			counts[outside.At(o).File]++
		} else if !p.o.Rewritten && len(lacking) < warc.MaxFindings {
			lacking = append(lacking, warc.Finding{
				File: inside.Files[c.File].Path, Offset: c.Offset, Severity: warc.Error, Kind: warc.NoOriginal,
				Record: inside.IDOf(i), URI: c.Target,
				Text: lackingText(c),
			})
		}
	}
	if len(lacking) > 0 { // damage may be the reason
		lacking = append(hidden, lacking...)
	}
	for _, f := range lacking {
		if err := report(f); err != nil {
			return err
		}
	}
	return p.require(outside, counts, report)
}

// lackingText returns what is wrong with a revisit without original.
func lackingText(c survey.Capture) string {
	text := "the original is neither in the package nor in the other named files"
	if c.Container != "" {
		text += " (the revisit says it is in " + c.Container + ")"
	}
	return text + "; the revisit is packed as it is"
}

// require adds the needed files to the summary, with hash and size. It names a package instead of the files in it.
func (p *writer) require(outside *survey.Survey, counts map[int32]int, report func(warc.Finding) error) error {
	at := map[string]int{} // index in Requires, by path
	for i, f := range outside.Files {
		n := counts[int32(i)]
		if n == 0 {
			continue
		}
		r, path := Require{Filename: f.Name, Revisits: n}, f.Path
		var known Source
		if pack := f.Package(); pack != "" {
			known = p.o.From.of(pack)
			r.Filename, r.CrawlID, path = filepath.Base(pack), known.CrawlID, pack
		}
		if before, again := at[path]; again {
			p.sum.Requires[before].Revisits += n
			continue
		}
		var err error
		if r.Hash, r.Size, err = warc.HashFile(path); err != nil {
			return err
		}
		if known.differs(r.Hash) {
			err := report(warc.Finding{
				File: path, Offset: -1, Severity: warc.Error, Kind: warc.BlockDigest,
				Text: fmt.Sprintf("the package has the hash %s, its list says %s", r.Hash, known.Hash),
			})
			if err != nil {
				return err
			}
		}
		at[path] = len(p.sum.Requires)
		p.sum.Requires = append(p.sum.Requires, r)
	}
	return nil
}

// manifest writes datapackage.json and the file with its digest. Neither lists itself.
func (p *writer) manifest() error {
	d := datapackage{
		Profile: "data-package", Version: waczVersion, Title: p.o.Title, Description: p.o.Description, Software: p.o.Software,
		Created: p.o.Now.UTC().Format(time.RFC3339), Modified: p.o.Now.UTC().Format(time.RFC3339), Resources: p.resources,
	}
	if len(p.sum.Requires) > 0 {
		d.Relation = &relation{p.sum.Requires}
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	proof := map[string]string{"path": descriptorName, "hash": "sha256:" + hex.EncodeToString(sum[:])}
	digest, err := json.MarshalIndent(proof, "", "  ")
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		text []byte
	}{{"datapackage.json", text}, {"datapackage-digest.json", digest}} {
		err := p.add(file.name, false, func(w io.Writer) error {
			_, err := w.Write(file.text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
