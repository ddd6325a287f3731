package verify

import (
	"context"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/parallel"
)

// addNewer adds records that a crawl wrote next to the verification. Originals of revisits in an open file can
// be in files that were opened after the folders were listed, or behind what was read of another open file. A crawl
// writes an original before its revisits, so one more look after reading suffices. Such records are only targets of
// references. If no reference needs them, addNewer does nothing.
func (v *verification) addNewer(ctx context.Context, paths []string, res *resolver) error {
	if !v.needsNewer(*res) {
		return nil
	}
	listed, _ := warc.FilesNamed(paths, warc.IsArchive)
	again := slices.DeleteFunc(listed, func(f warc.File) bool {
		i := indexOf(res.files, f)
		return i >= 0 && !isOpen(res.files[i])
	})
	results := make([]*scan, len(again))
	for i, f := range again {
		at := indexOf(res.files, f)
		if at < 0 {
			at, res.files = len(res.files), append(res.files, f)
		}
		results[i] = &scan{file: f, index: int32(at), known: true, records: map[string]int{}}
	}
	last := map[int32]int64{} // offsets of the last records that are known of each file
	for _, f := range v.facts {
		last[f.File] = max(last[f.File], f.Offset+1)
	}
	work := func(ctx context.Context, i int) error { return results[i].run(ctx, nil) }
	return parallel.Each(ctx, len(again), work, func(i int) error {
		for _, f := range results[i].facts {
			if f.Offset >= last[f.File] {
				v.facts = append(v.facts, f)
			}
		}
		return nil
	})
}

// needsNewer reports whether a record in an open file names a record that is not there.
func (v *verification) needsNewer(res resolver) bool {
	return slices.ContainsFunc(v.refs, func(ref reference) bool {
		return isOpen(res.files[ref.file]) && slices.ContainsFunc(res.follow(ref), func(f warc.Finding) bool {
			return f.Kind == warc.NoOriginal || f.Kind == warc.Dangling
		})
	})
}

// isOpen reports whether a file was open when it was listed.
func isOpen(f warc.File) bool { return strings.HasSuffix(f.Path, warc.OpenSuffix) }

// indexOf returns the place of a file in a list, open or sealed; -1 = it is not there.
func indexOf(files []warc.File, f warc.File) int {
	path := strings.TrimSuffix(f.Path, warc.OpenSuffix)
	return slices.IndexFunc(files, func(g warc.File) bool { return strings.TrimSuffix(g.Path, warc.OpenSuffix) == path })
}
