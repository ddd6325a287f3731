package fetch

import (
	"errors"
	"io"

	"github.com/arcrawl/arcrawl/digest"
)

// recorder records the raw bytes of a response. The parser reads ahead, so the last bytes received may not belong to
// the response. They stay in pending, at least peekSize of them, until more come or until it is known where the
// response ended.
type recorder struct {
	spool   *spool
	hash    digest.Hash
	pending []byte // capacity pendingSize
	err     error  // the spool could not be written; permanent
}

// add takes bytes that the parser reads.
func (r *recorder) add(p []byte) error {
	if len(r.pending)+len(p) <= cap(r.pending) {
		r.pending = append(r.pending, p...)
		return nil
	}
	certain := len(r.pending) + len(p) - peekSize
	old := min(certain, len(r.pending))
	r.keep(r.pending[:old])
	r.pending = r.pending[:copy(r.pending, r.pending[old:])]
	r.keep(p[:certain-old])
	r.pending = append(r.pending, p[certain-old:]...)
	return r.err
}

// keep writes p to the record.
func (r *recorder) keep(p []byte) {
	if r.err != nil {
		return
	}
	if _, r.err = r.spool.Write(p); r.err == nil {
		_, _ = r.hash.Write(p) // never fails
	}
}

// end ends the record. The last unread bytes do not belong to it.
func (r *recorder) end(unread int) error {
	r.keep(r.pending[:len(r.pending)-unread])
	r.pending = r.pending[:0]
	return r.err
}

// wire reads a body: first the bytes that came together with the head, then the connection. It records all bytes read.
type wire struct {
	conn io.Reader
	rest []byte
	left int64 // how many more raw bytes the body may have
	rec  *recorder
	pace pace
	room room
	err  error // permanent
}

func (w *wire) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if w.left <= 0 {
		w.err = w.endAtLimit()
		return 0, w.err
	}
	p = p[:min(int64(len(p)), w.left)]
	var n int
	if len(w.rest) > 0 {
		n = copy(p, w.rest)
		w.rest = w.rest[n:]
	} else {
		n, w.err = w.pace.read(w.conn, p)
	}
	w.left -= int64(n)
	if err := w.room.take(n); err != nil {
		w.err = err
	} else if err := w.rec.add(p[:n]); err != nil {
		w.err = err
	}
	return n, w.err
}

// endAtLimit returns the error after the last byte that is allowed. It is errMaxBody only if there is another byte: a
// body that ends with the connection may be exactly as long as the limit.
func (w *wire) endAtLimit() error {
	if len(w.rest) > 0 {
		return errMaxBody
	}
	if n, err := w.pace.read(w.conn, make([]byte, 1)); n == 0 && err != nil {
		return err
	}
	return errMaxBody
}

// payload computes the digest of a body while it is read, before its content coding is undone.
type payload struct {
	body   io.Reader
	hash   digest.Hash
	strong digest.StrongHash
	size   int64
	err    error // permanent; io.EOF at the proper end
}

func (p *payload) Read(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n, err := p.body.Read(b)
	_, _ = p.hash.Write(b[:n]) // never fails
	_, _ = p.strong.Write(b[:n])
	p.size += int64(n)
	p.err = err
	return n, err
}

// bodyResult holds the digests and sizes of a body that was read.
type bodyResult struct {
	payload, content         digest.Digest
	payloadSize, contentSize int64
	undecoded                error // why the content is not whole although the payload is
	err                      error // nil if the body ended properly
}

// readBody reads a body to its end, through decoders if it has content codings. If a decoder fails, the rest of the
// payload is still read.
func readBody(c *codecs, codings []string, p *payload, maxContent int64, buf []byte) bodyResult {
	var s bodyResult
	if len(codings) > 0 {
		s.content, s.contentSize, s.undecoded = c.digest(codings, p, maxContent, buf)
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
