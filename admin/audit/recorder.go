package audit

import "io"

// maxRecorded is the part of an order, in bytes, that a [Recorder] keeps.
const maxRecorded = 2 * maxPart

// Recorder is the body of a request that remembers its beginning.
type Recorder struct {
	Body io.ReadCloser
	kept []byte
}

// Read reads from the body.
func (r *Recorder) Read(p []byte) (int, error) {
	n, err := r.Body.Read(p)
	r.kept = append(r.kept, p[:min(n, maxRecorded-len(r.kept))]...)
	return n, err
}

// Close closes the body.
func (r *Recorder) Close() error { return r.Body.Close() }

// Beginning returns the beginning of what was read.
func (r *Recorder) Beginning() []byte { return r.kept }
