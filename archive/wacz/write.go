// Package wacz makes and checks WACZ packages, in version 1.1.1 of the specification.
//
// A package is a ZIP file with WARC files, an index of their captures, a list of pages, and a manifest with the digest
// of each file. [Write] makes one. [Check] compares one with its manifest.
package wacz

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
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
	Rights, Access, Available    string // the same: terms of Dublin Core, if set
	Now                          time.Time
	From                         Sources           // files outside the package that may hold originals of its revisits
	Rewritten                    bool              // the files were just rewritten, which has reported missing originals
	NoText                       bool              // leave title and text of the pages out
	Key                          *ecdsa.PrivateKey // signs the package; nil = it is not signed
	Identity                     *Identity         // whose key that is; nil = the signature is anonymous
	Logs                         Logs
	Leave                        func(warc.File) bool // reports which files are left out; nil = none
	Progress                     *warc.Progress

	// MaxSize is the maximum size of the WARC files in one package, in bytes. If it is set, Write makes several packages
	// and a list of them. A file that is larger gets a package of its own. 0 = one package.
	MaxSize int64
}

// Summary counts what is in a package, or in all packages of a list.
type Summary struct {
	Files    int       `json:"files"`
	Captures int64     `json:"captures"`
	Pages    int       `json:"pages"`
	Bytes    int64     `json:"bytes"` // of its WARC files
	Errors   int       `json:"errors"`
	Requires []Require `json:"requires"`
	Parts    []Listed  `json:"parts,omitempty"` // packages of the list
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
	Rights      string     `json:"rights,omitempty"`
	Access      string     `json:"accessRights,omitempty"`
	Available   string     `json:"available,omitempty"` // the end of an embargo
	Created     string     `json:"created"`
	Modified    string     `json:"modified"`
	Software    string     `json:"software"`
	Resources   []resource `json:"resources"`
	Relation    *relation  `json:"relation,omitempty"`
}

type relation struct {
	Requires []Require `json:"requires"`
}

// packing makes one package, or the packages of a list.
type packing struct {
	o       Options
	report  func(warc.Finding) error
	sum     Summary
	parts   []part
	partOf  map[string]int // index in parts, by path of a WARC file
	inside  *depend.Survey // of all parts
	outside *depend.Survey // of o.From
	hidden  []warc.Finding // damage in files of o.From
	known   map[string]int // index in sum.Requires, by path
}

// part is a package.
type part struct {
	out   string
	files []string
	made  Listed // once it is written
}

// writer writes a package.
type writer struct {
	*packing
	number    int // of the part
	zip       *zip.Writer
	resources []resource
	needs     []Require
}

// Write makes a WACZ package of WARC files. It holds the unchanged files, a compressed index, a list of the pages
// (HTML with status 200) with their titles and texts, and the manifest with the hash and size of each file. The
// manifest names the files of o.From that hold originals of its revisits, in relation.requires. Write never overwrites
// a file. It reports damage and packs it as it is, but leaves out files that are still open.
//
// With o.MaxSize it makes several packages and a list of them, as [packing.partsOf] names them.
func Write(ctx context.Context, paths []string, o Options, report func(warc.Finding) error) (Summary, error) {
	p := &packing{o: o, sum: Summary{Requires: []Require{}}, partOf: map[string]int{}, known: map[string]int{}}
	p.report = warc.CountErrors(&p.sum.Errors, report)
	files, err := p.choose(paths)
	if err != nil {
		return p.sum, err
	}
	if err := p.partsOf(files); err != nil {
		return p.sum, err
	}
	if err := os.MkdirAll(filepath.Dir(o.Out), 0o755); err != nil {
		return p.sum, fmt.Errorf("write %s: %w", o.Out, err)
	}
	if err := p.survey(ctx); err != nil {
		return p.sum, fmt.Errorf("write %s: %w", o.Out, err)
	}
	for n := range p.parts {
		if err := p.write(ctx, n); err != nil {
			return p.sum, errors.Join(fmt.Errorf("write %s: %w", p.parts[n].out, err), p.removeParts(n))
		}
	}
	return p.sum, p.writeList()
}

func (p *packing) write(ctx context.Context, number int) error {
	part := &p.parts[number]
	out, err := fileio.Create(part.out, 0o644)
	if err != nil {
		return err
	}
	defer out.Discard()
	sum, size := sha256.New(), counter(0)
	buffered := bufio.NewWriterSize(io.MultiWriter(out, sum, &size), 128<<10)
	w := &writer{packing: p, number: number, zip: zip.NewWriter(buffered)}
	lines, err := os.CreateTemp(filepath.Dir(part.out), ".index.tmp-*")
	if err != nil {
		return err
	}
	defer func() {
		_ = lines.Close() // it is removed
		_ = os.Remove(lines.Name())
	}()
	indexing := index.Options{Progress: p.o.Progress, Milliseconds: true}
	indexed, err := index.Build(ctx, part.files, indexing, lines, p.report)
	if err != nil {
		return err
	}
	p.sum.Captures += indexed.Entries
	steps := []func() error{
		func() error { return w.archives(ctx, part.files) },
		func() error { return w.indexes(lines) },
		func() error { return w.pages(lines, part.files) },
		func() error { return w.logs(lines) },
		w.requires,
		w.manifest,
		w.zip.Close,
		buffered.Flush,
	}
	for _, step := range steps {
		if err := errors.Join(step(), ctx.Err()); err != nil {
			return err
		}
	}
	err = out.New()
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: nothing is overwritten", err)
	}
	part.made = Listed{
		Name: filepath.Base(part.out), Path: filepath.Base(part.out), Bytes: int64(size),
		Hash: "sha256:" + hex.EncodeToString(sum.Sum(nil)),
	}
	return err
}

// choose returns the files to pack. In the package, a file has the last element of its path as its name.
func (p *packing) choose(paths []string) ([]warc.File, error) {
	all, faults := warc.Files(paths)
	if err := warc.ReportAll(faults, p.report); err != nil {
		return nil, err
	}
	var files []warc.File
	names := map[string]string{}
	for _, f := range warc.Without(all, p.o.Leave) {
		name := filepath.Base(f.Path)
		if strings.HasSuffix(name, warc.OpenSuffix) {
			if err := p.report(warc.LeftOut(f.Path)); err != nil {
				return nil, err
			}
			continue
		}
		if other, taken := names[name]; taken {
			return nil, fmt.Errorf("%s and %s have the same name; a package can hold only one of them", other, f.Path)
		}
		names[name] = f.Path
		files = append(files, f)
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

func (p *writer) addText(path string, text []byte) error {
	return p.add(path, false, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
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
	return p.addText("indexes/index.idx", second.Bytes())
}

// manifest writes datapackage.json and the file with its digest. Neither lists itself. py-wacz wants one date in both,
// and authsign no date after the time stamp, nor one of more than [maxDelay] before it: a large package is dated again.
func (p *writer) manifest() error {
	text, proof, stamped, err := p.describe(p.o.Now)
	delay := stamped.Sub(p.o.Now.Truncate(time.Second))
	if err == nil && !stamped.IsZero() && (delay < 0 || delay > maxDelay) {
		text, proof, _, err = p.describe(stamped)
	}
	if err != nil {
		return err
	}
	digest, err := json.MarshalIndent(proof, "", "  ")
	if err != nil {
		return err
	}
	if err := p.addText(descriptorName, text); err != nil {
		return err
	}
	return p.addText(descriptorDigestName, digest)
}

// describe returns the two files of [writer.manifest], and the time of the time stamp if there is one.
func (p *writer) describe(created time.Time) (text []byte, proof descriptorDigest, stamped time.Time, err error) {
	d := datapackage{
		Profile: "data-package", Version: waczVersion, Title: p.title(), Description: p.o.Description, Software: p.o.Software,
		Rights: p.o.Rights, Access: p.o.Access, Available: p.o.Available,
		Created: timestamp(created), Modified: timestamp(created), Resources: p.resources,
	}
	if len(p.needs) > 0 {
		d.Relation = &relation{p.needs}
	}
	if text, err = json.MarshalIndent(d, "", "  "); err != nil {
		return nil, proof, stamped, err
	}
	sum := sha256.Sum256(text)
	proof = descriptorDigest{Path: descriptorName, Hash: "sha256:" + hex.EncodeToString(sum[:])}
	switch {
	case p.o.Identity != nil:
		proof.SignedData, stamped, err = signAs(p.o.Identity, p.o.Key, proof.Hash, p.o.Software, created)
	case p.o.Key != nil:
		proof.SignedData, err = sign(p.o.Key, proof.Hash, p.o.Software, created)
	}
	return text, proof, stamped, err
}

// counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
