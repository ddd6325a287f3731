package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

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

// isBroken reports whether a body in chunks ended because of the syntax of a chunk, or before its first byte.
func (w *wire) isBroken(s bodyResult) bool {
	whole := w.err == nil || errors.Is(w.err, io.EOF)
	return s.err != nil && (s.payloadSize == 0 || whole && !errors.Is(s.err, io.ErrUnexpectedEOF))
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
	broken                   bool  // the chunks do not follow their syntax: readers disagree about what the payload is
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

// crowdedFactor is the factor of [Limits].MinRate while [Request].Crowded reports true.
const crowdedFactor = 100

// pace makes sure that a body is received fast enough. It divides the time of the body into periods. The deadline of
// the connection is the end of the present period, so a body that is received within one period costs nothing more
// than a body without a minimum rate.
//
// A read that fails at the end of a period loses no bytes, neither on a plain connection nor on TLS, and the next read
// continues.
type pace struct {
	ctx      context.Context
	conn     *conn
	crowded  func() bool
	minRate  int64
	period   time.Duration
	ends     time.Time // of the present period
	last     time.Time // end of all periods
	received int64     // in the present period
}

// begin begins the first period of a body.
func (p *pace) begin(ctx context.Context, k *conn, r Request, now time.Time) error {
	*p = pace{
		ctx: ctx, conn: k, crowded: r.Crowded, minRate: r.Limits.MinRate, period: r.Limits.Grace,
		last: now.Add(r.Limits.Body),
	}
	return p.next(now)
}

// next begins a period.
func (p *pace) next(now time.Time) error {
	p.ends, p.received = p.last, 0
	if p.minRate > 0 && now.Add(p.period).Before(p.last) {
		p.ends = now.Add(p.period)
	}
	return p.conn.limitBody(p.ctx, p.ends, p.last)
}

// read reads from the connection. At the end of a period it begins the next one if enough bytes have come.
func (p *pace) read(from io.Reader, b []byte) (int, error) {
	for {
		n, err := from.Read(b)
		p.received += int64(n)
		if n > 0 || err == nil || p.conn == nil || !isTimeout(err) || p.ctx.Err() != nil {
			return n, err
		}
		now := time.Now()
		if !now.Before(p.last) {
			return n, err
		}
		if err := p.check(now); err != nil {
			return n, err
		}
		if err := p.next(now); err != nil {
			return n, err
		}
	}
}

// check returns an error if too few bytes were received in the period that ends now. If this process itself was late,
// because the machine slept or the disk was busy, that is not the server's fault.
func (p *pace) check(now time.Time) error {
	if now.Sub(p.ends) > p.period/2 {
		return nil
	}
	rate := p.minRate
	if p.crowded != nil && p.crowded() {
		rate = min(rate, math.MaxInt64/crowdedFactor) * crowdedFactor
	}
	if float64(p.received) >= float64(rate)*p.period.Seconds() {
		return nil
	}
	return fmt.Errorf("%w: %d bytes in %s, and at least %d bytes a second are required",
		errTooSlow, p.received, p.period, rate)
}

// How much is reserved at a time for a body whose length is not known. firstRoom suffices for most pages. What follows
// doubles with each reservation, from nextRoom to maxRoom.
const (
	firstRoom = 256 << 10
	nextRoom  = 1 << 20
	maxRoom   = 64 << 20
)

// room reserves disk space for a body, before it is received.
type room struct {
	space   Space // nil = there is always space
	left    int64 // how much of the reservation is left
	next    int64 // how much is reserved next
	refused error
}

// begin reserves the announced length of a body, or firstRoom if it is not known.
func (r *room) begin(q Request, length int64) error {
	if q.Space == nil {
		return nil
	}
	if length < 0 {
		length = firstRoom
	}
	*r = room{space: q.Space, left: min(length, q.Limits.MaxBody), next: nextRoom}
	return q.Space.Reserve(r.left)
}

// take takes n bytes of the reservation, and makes it larger if they do not fit.
func (r *room) take(n int) error {
	if r.left -= int64(n); r.left >= 0 || r.space == nil {
		return nil
	}
	more := max(r.next, -r.left)
	if r.refused = r.space.Reserve(more); r.refused != nil {
		return r.refused
	}
	r.left += more
	r.next = min(2*r.next, maxRoom)
	return nil
}
