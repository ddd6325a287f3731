package fetch

import (
	"errors"
	"io"

	"github.com/arcrawl/arcrawl/digest"
)

// recorder keeps the raw bytes of a response. The parser reads ahead, so what was received last may not belong to the
// response: the last peekSize bytes wait in pending until more comes, or until it is known where the response ended.
type recorder struct {
	spool   *spool
	hash    digest.Hash
	pending []byte // capacity pendingSize
	err     error  // our own fault; stays
}

// add takes bytes as the parser is given them.
func (r *recorder) add(p []byte) error {
	if len(r.pending)+len(p) <= cap(r.pending) {
		r.pending = append(r.pending, p...)
		return nil
	}
	sure := len(r.pending) + len(p) - peekSize
	old := min(sure, len(r.pending))
	r.keep(r.pending[:old])
	r.pending = r.pending[:copy(r.pending, r.pending[old:])]
	r.keep(p[:sure-old])
	r.pending = append(r.pending, p[sure-old:]...)
	return r.err
}

// keep makes p part of the record.
func (r *recorder) keep(p []byte) {
	if r.err != nil {
		return
	}
	if _, r.err = r.spool.Write(p); r.err == nil {
		_, _ = r.hash.Write(p) // never fails
	}
}

// end keeps what is pending but for the last unread bytes.
func (r *recorder) end(unread int) error {
	r.keep(r.pending[:len(r.pending)-unread])
	r.pending = r.pending[:0]
	return r.err
}

// wire is what a body is read from: bytes that came together with the head, then the connection. All that it gives
// out is recorded.
type wire struct {
	conn io.Reader
	rest []byte
	left int64 // raw bytes that the body may still have
	rec  *recorder
	err  error // stays
}

func (w *wire) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if w.left <= 0 {
		w.err = w.beyond()
		return 0, w.err
	}
	p = p[:min(int64(len(p)), w.left)]
	var n int
	if len(w.rest) > 0 {
		n = copy(p, w.rest)
		w.rest = w.rest[n:]
	} else {
		n, w.err = w.conn.Read(p)
	}
	w.left -= int64(n)
	if err := w.rec.add(p[:n]); err != nil {
		w.err = err
	}
	return n, w.err
}

// beyond is asked for more after the last byte that is allowed: is there more? A body that ends with the connection
// may be exactly as long as the limit.
func (w *wire) beyond() error {
	if len(w.rest) > 0 {
		return errMaxBody
	}
	if n, err := w.conn.Read(make([]byte, 1)); n == 0 && err != nil {
		return err
	}
	return errMaxBody
}

// payload digests a body as it is read, content coding and all.
type payload struct {
	body io.Reader
	hash digest.Hash
	size int64
	err  error // stays; io.EOF at the proper end
}

func (p *payload) Read(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n, err := p.body.Read(b)
	_, _ = p.hash.Write(b[:n]) // never fails
	p.size += int64(n)
	p.err = err
	return n, err
}

// sums is what reading a body gave.
type sums struct {
	payload, content         digest.Digest
	payloadSize, contentSize int64
	undecoded                error // why the content could not be read whole though the payload could
	err                      error // nil if the body came to its proper end
}

// readBody reads a body to its end, through the decoders if it has content codings. Where they give up, the rest of
// the payload is read all the same.
func readBody(c *codecs, codings []string, p *payload, most int64, buf []byte) sums {
	var s sums
	if len(codings) > 0 {
		s.content, s.contentSize, s.undecoded = c.digest(codings, p, most, buf)
	}
	for p.err == nil {
		_, _ = p.Read(buf) // the error stays in p
	}
	s.payload, s.payloadSize = p.hash.Sum(), p.size
	if !errors.Is(p.err, io.EOF) {
		s.err, s.undecoded = p.err, nil
	}
	if len(codings) == 0 {
		s.content, s.contentSize = s.payload, s.payloadSize
	}
	return s
}
