package wacz

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
)

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
	return w.report(warc.Finding{
		File: path, Offset: -1, Severity: warc.Error, Kind: warc.BlockDigest,
		Text: fmt.Sprintf("the package has the hash %s, its list says %s", r.Hash, listed.Hash),
	})
}
