package depend

import (
	"strings"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// The bounds of a batch.
const (
	maxBatchFiles    = 256
	maxBatchCaptures = 250_000
)

// Batch adds many files to an index, some at a time.
type Batch struct {
	dir      string
	files    []*Collector
	captures int
}

// NewBatch returns a batch for the index in a folder of WARC files.
func NewBatch(dir string) *Batch { return &Batch{dir: dir} }

// Add adds a file that has been read. It ignores files that are still open.
func (b *Batch) Add(c *Collector) error {
	if strings.HasSuffix(c.file.Path, warc.OpenSuffix) {
		return nil
	}
	b.files, b.captures = append(b.files, c), b.captures+len(c.captures)
	if len(b.files) < maxBatchFiles && b.captures < maxBatchCaptures {
		return nil
	}
	return b.Flush()
}

// Flush writes what is left.
func (b *Batch) Flush() error {
	if len(b.files) == 0 {
		return nil
	}
	err := Put(b.dir, b.files...)
	b.files, b.captures = nil, 0
	return err
}

// Uncovered returns which of some files of a folder its index does not cover as they are.
func Uncovered(dir string, names []string) (list []string, err error) {
	s, err := load(dir)
	if err != nil {
		return nil, err
	}
	x := &Index{store: s, here: map[string]warc.File{}}
	for _, name := range names {
		x.here[name] = warc.File{Path: s.folderPath(name), Name: name}
	}
	fresh := x.fresh()
	for _, name := range names {
		if !fresh[name] {
			list = append(list, name)
		}
	}
	return list, nil
}
