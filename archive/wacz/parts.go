package wacz

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// listProfile is the profile of a list of packages.
const listProfile = "multi-wacz-package"

// ListName returns the path of the list of the packages that [Write] makes with a maximum size: x.json for x.wacz.
func ListName(out string) string { return strings.TrimSuffix(out, ".wacz") + ".json" }

// partsOf divides files among packages, in their order. With a maximum size the packages of x.wacz are x-001.wacz and
// so on, and x.json is the list of them.
func (p *packing) partsOf(files []warc.File) error {
	var size int64
	for _, f := range files {
		last := len(p.parts) - 1
		if last < 0 || p.o.MaxSize > 0 && size+f.Size > p.o.MaxSize {
			p.parts, size, last = append(p.parts, part{}), 0, last+1
		}
		size += f.Size
		p.parts[last].files = append(p.parts[last].files, f.Path)
		p.partOf[f.Path] = last
	}
	if p.o.MaxSize == 0 {
		p.parts[0].out = p.o.Out
		return nil
	}
	made := []string{ListName(p.o.Out)}
	for n := range p.parts {
		p.parts[n].out = fmt.Sprintf("%s-%03d.wacz", strings.TrimSuffix(p.o.Out, ".wacz"), n+1)
		made = append(made, p.parts[n].out)
	}
	for _, name := range made {
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("write %s: %w: nothing is overwritten", name, os.ErrExist)
		}
	}
	return nil
}

func (w *writer) title() string {
	if w.o.MaxSize == 0 || w.o.Title == "" {
		return w.o.Title
	}
	return fmt.Sprintf("%s (part %d of %d)", w.o.Title, w.number+1, len(w.parts))
}

// removeParts removes the first n packages, because a later one could not be written.
func (p *packing) removeParts(n int) error {
	var errs []error
	for _, part := range p.parts[:n] {
		errs = append(errs, os.Remove(part.out))
	}
	return errors.Join(errs...)
}

// writeList writes the list of packages, if there is to be one.
func (p *packing) writeList() error {
	if p.o.MaxSize == 0 {
		return nil
	}
	list := List{Profile: listProfile, Title: p.o.Title, Description: p.o.Description}
	for _, part := range p.parts {
		list.Resources = append(list.Resources, part.made)
	}
	p.sum.Parts = list.Resources
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	name := ListName(p.o.Out)
	if err := fileio.Write(name, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the list of packages %s: %w", filepath.Base(name), err)
	}
	return nil
}

// survey reads the references of all files to pack, and of the files that may hold their originals.
func (p *packing) survey(ctx context.Context) (err error) {
	var files []string
	for _, part := range p.parts {
		files = append(files, part.files...)
	}
	quiet := func(warc.Finding) error { return nil } // the index reports damage
	if p.inside, err = depend.New(ctx, files, p.o.Progress, quiet); err != nil {
		return err
	}
	p.outside = new(depend.Survey)
	if len(p.o.From.Paths) == 0 {
		return nil
	}
	p.outside, err = depend.New(ctx, p.o.From.Paths, p.o.Progress, func(f warc.Finding) error {
		if f.Severity == warc.Error && !slices.Contains(files, f.File) && len(p.hidden) < warc.MaxFindings {
			p.hidden = append(p.hidden, f)
		}
		return nil
	})
	return err
}

// requires finds the files outside the package that its revisits depend on, and reports missing originals.
func (w *writer) requires() error {
	files, earlier := map[int32]int{}, map[int]int{} // numbers of revisits
	var lacking []warc.Finding
	for i, c := range w.inside.All() {
		if w.partOf[w.inside.Files[c.File].Path] != w.number {
			continue
		}
		if o := w.inside.Original(i); o >= 0 {
			if n := w.partOf[w.inside.Files[w.inside.At(o).File].Path]; n < w.number {
				earlier[n]++
			}
			continue
		}
		if o := w.outside.FindOriginal(c); o >= 0 {
			files[w.outside.At(o).File]++
		} else if !w.o.Rewritten && len(lacking) < warc.MaxFindings {
			lacking = append(lacking, warc.Finding{
				File: w.inside.Files[c.File].Path, Offset: c.Offset, Severity: warc.Error, Kind: warc.NoOriginal,
				Record: w.inside.IDOf(i), URI: c.Target, Text: lackingText(c),
			})
		}
	}
	if len(lacking) > 0 { // damage may be the reason
		lacking, w.hidden = append(w.hidden, lacking...), nil
	}
	for _, f := range lacking {
		if err := w.report(f); err != nil {
			return err
		}
	}
	for n := range w.number {
		if made := w.parts[n].made; earlier[n] > 0 {
			w.needs = append(w.needs, Require{
				Filename: made.Name, Hash: made.Hash, Size: made.Bytes, Revisits: earlier[n],
			})
		}
	}
	return w.require(files)
}

// lackingText returns what is wrong with a revisit without original.
func lackingText(c depend.Capture) string {
	text := "the original is neither in the package nor in the other named files"
	if c.Container != "" {
		text += " (the revisit says it is in " + c.Container + ")"
	}
	return text + "; the revisit is packed as it is"
}

// require adds files outside all parts to what the package needs, with hash and size. It names a package instead of the
// files in it. counts has the numbers of revisits.
func (w *writer) require(counts map[int32]int) error {
	at := map[string]int{} // index in w.needs, by path
	var paths []string
	for i, f := range w.outside.Files {
		n := counts[int32(i)]
		if n == 0 {
			continue
		}
		r, path := Require{Filename: f.Name, Revisits: n}, f.Path
		var listed Source
		if pack := f.Package(); pack != "" {
			listed = w.o.From.of(pack)
			r.Filename, r.CrawlID, path = filepath.Base(pack), listed.CrawlID, pack
		}
		if before, again := at[path]; again {
			w.needs[before].Revisits += n
			continue
		}
		if err := w.hash(&r, path, listed); err != nil {
			return err
		}
		at[path], paths = len(w.needs), append(paths, path)
		w.needs = append(w.needs, r)
	}
	for _, path := range paths {
		r := w.needs[at[path]]
		if n, known := w.known[path]; known {
			w.sum.Requires[n].Revisits += r.Revisits
			continue
		}
		w.known[path] = len(w.sum.Requires)
		w.sum.Requires = append(w.sum.Requires, r)
	}
	return nil
}

// hash adds the hash and the size of a required file. It reports a package that is another than its list says.
func (w *writer) hash(r *Require, path string, listed Source) (err error) {
	if n, known := w.known[path]; known {
		r.Hash, r.Size = w.sum.Requires[n].Hash, w.sum.Requires[n].Size
		return nil
	}
	if r.Hash, r.Size, err = warc.HashFile(path); err != nil || !listed.differs(r.Hash) {
		return err
	}
	return w.report(*warc.FileFinding(path, warc.BlockDigest,
		fmt.Sprintf("the package has the hash %s, its list says %s", r.Hash, listed.Hash)))
}

// List is a list of packages: a multi-WACZ list, as ReplayWeb.page opens it, and Browsertrix writes it.
type List struct {
	Profile     string   `json:"profile,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Resources   []Listed `json:"resources"`
}

// Listed is a package in a [List].
type Listed struct {
	Name    string `json:"name"`
	Path    string `json:"path"` // relative to the list
	Hash    string `json:"hash,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
	CrawlID string `json:"crawlId,omitempty"`
}

// Source names a package in relation.requires, as a list or a flag has it.
type Source struct{ CrawlID, Hash string }

// Sources are files and folders that may hold originals, with crawl ids and hashes of the packages among them.
type Sources struct {
	Paths    []string
	Packages map[string]Source // by path
	CrawlID  string            // of all other packages
}

// ReadSources returns the files and folders of paths. A path that ends in .json is a list of packages, and stands for
// these.
func ReadSources(paths []string) (Sources, error) {
	s := Sources{Packages: map[string]Source{}}
	for _, p := range paths {
		if !strings.HasSuffix(strings.ToLower(p), ".json") {
			s.Paths = append(s.Paths, p)
			continue
		}
		list, err := readList(p)
		if err != nil {
			return s, fmt.Errorf("read the list of packages %s: %w", p, err)
		}
		for _, r := range list.Resources {
			file := filepath.FromSlash(r.Path)
			if file == "" {
				file = r.Name
			}
			if strings.Contains(r.Path, "://") {
				return s, fmt.Errorf("read the list of packages %s: %s is on the network; download it and name the local file",
					p, r.Path)
			}
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(p), file)
			}
			s.Paths = append(s.Paths, file)
			s.Packages[file] = Source{r.CrawlID, r.Hash}
		}
	}
	return s, nil
}

func readList(file string) (l List, err error) {
	text, err := warc.ReadFile(file, maxDescriptor)
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err == nil && len(l.Resources) == 0 {
		err = errors.New(`it has no "resources"`)
	}
	return l, err
}

// of returns the crawl id and the hash of a package, if a list or a flag has them.
func (s Sources) of(path string) Source {
	known := s.Packages[path]
	if known.CrawlID == "" {
		known.CrawlID = s.CrawlID
	}
	return known
}

// differs reports whether a hash is not the one that is known. Browsertrix writes hashes without their algorithm.
func (s Source) differs(hash string) bool {
	want := strings.TrimPrefix(strings.ToLower(s.Hash), "sha256:")
	_, err := hex.DecodeString(want)
	return want != "" && err == nil && want != strings.TrimPrefix(hash, "sha256:")
}
