package warc

import "sync/atomic"

// Progress counts how much of a set of files has been read. Its methods are safe for concurrent use. A nil *Progress
// counts nothing.
type Progress struct {
	done, total, files, all atomic.Int64
}

// Bytes returns the bytes read so far, and the size of all files.
func (p *Progress) Bytes() (done, total int64) { return p.done.Load(), p.total.Load() }

// Files returns the number of files that are finished, and of all files.
func (p *Progress) Files() (done, total int64) { return p.files.Load(), p.all.Load() }

// Expect adds files that are going to be read.
func (p *Progress) Expect(files []File) {
	if p == nil {
		return
	}
	p.all.Add(int64(len(files)))
	for _, f := range files {
		p.total.Add(f.Size)
	}
}

// AddBytes counts bytes that were read.
func (p *Progress) AddBytes(n int64) {
	if p != nil {
		p.done.Add(n)
	}
}

// AddFile counts a file that is finished.
func (p *Progress) AddFile() {
	if p != nil {
		p.files.Add(1)
	}
}
