package admin

import "io"

// maxRecorded is the part of an order, in bytes, that a recorder keeps: more than the audit log stores.
const maxRecorded = 4 << 10

// recorder is the body of a request that remembers its beginning.
type recorder struct {
	body io.ReadCloser
	kept []byte // the beginning of what was read
}

// Read reads from the body.
func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.kept = append(r.kept, p[:min(n, maxRecorded-len(r.kept))]...)
	return n, err
}

// Close closes the body.
func (r *recorder) Close() error { return r.body.Close() }
