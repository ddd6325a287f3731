package warc

import "sync/atomic"

// Progress tells how far a command has come. Its methods may be called while the command runs.
type Progress struct {
	done, total, files, all atomic.Int64
}

// Bytes are those read so far, and those of all files.
func (p *Progress) Bytes() (done, total int64) { return p.done.Load(), p.total.Load() }

// Files are those finished so far, and all.
func (p *Progress) Files() (done, total int64) { return p.files.Load(), p.all.Load() }

// Expect says what is to come.
func (p *Progress) Expect(files []File) {
	p.all.Add(int64(len(files)))
	for _, f := range files {
		p.total.Add(f.Size)
	}
}

// AddBytes counts bytes that were read.
func (p *Progress) AddBytes(n int64) { p.done.Add(n) }

// AddFile counts a file that is finished.
func (p *Progress) AddFile() { p.files.Add(1) }
