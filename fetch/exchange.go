package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/arcrawl/arcrawl/digest"
)

// exchange is one call of [Client.Fetch].
type exchange struct {
	client  *Client
	request Request
	raw     []byte // the exact bytes of the request
	secrets []span // of raw
	capture *Capture
}

// run makes the exchange on an idle connection. If there is none, or if nothing could be sent on it, run uses a new
// one.
func (x *exchange) run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k, err := x.client.idle.take(ctx, keyFor(x.request), time.Now())
	if err != nil {
		return err
	}
	if k != nil && k.expired() && !x.request.AcceptExpired {
		k.abort()
		k = nil
	}
	if k != nil {
		noAnswer, err := x.on(ctx, k)
		if err != nil || !noAnswer {
			return err
		}
		if x.capture.Request != nil {
			x.capture.Repeat = true
			return nil
		}
	}
	k, err = x.client.connect(ctx, x.request, x.capture)
	if outOfResources(err) && x.client.idle.clear() > 0 {
		k, err = x.client.connect(ctx, x.request, x.capture)
	}
	if ctx.Err() != nil {
		if err == nil {
			k.abort()
		}
		return ctx.Err()
	}
	if outOfResources(err) {
		return fmt.Errorf("connect to %s: %w; raise the limit of open files (ulimit -n, LimitNOFILE), or lower crawl.workers", x.request.URI.Address(), err)
	}
	if err != nil {
		c := x.capture
		c.Request, c.Head, c.IP, c.Security = nil, nil, netip.Addr{}, nil
		c.Status, c.Misfortune = connectStatus(err), connectError(x.request.URI.Address(), err)
		return nil
	}
	_, err = x.on(ctx, k)
	return err
}

// on makes the exchange on k, and then keeps or closes k. noAnswer means that the connection ended before the first
// byte of an answer.
func (x *exchange) on(ctx context.Context, k *conn) (noAnswer bool, err error) {
	stop := k.endWith(ctx)
	var keep bool
	if k.h2 != nil {
		keep, noAnswer, err = x.over2(ctx, k)
	} else {
		keep, noAnswer, err = x.send(ctx, k)
	}
	if stop() && keep {
		x.client.idle.put(k, time.Now())
	} else {
		k.abort()
	}
	return noAnswer, err
}

// endWith ends all reading and writing when ctx is done, until stop is called.
func (k *conn) endWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = k.SetDeadline(past) }) // fails only if the connection is already closed
}

// send sends the request and reads the answer.
func (x *exchange) send(ctx context.Context, k *conn) (keep, noAnswer bool, err error) {
	c, limits := x.capture, x.request.Limits
	c.IP, c.Security, c.Request, c.HTTP2 = k.ip, k.security, nil, false
	k.ask()
	err = k.limit(ctx, time.Now().Add(limits.Headers))
	if err == nil {
		var n int
		if n, err = k.Write(x.raw); n > 0 {
			c.Request = redact(x.raw[:n:n], x.secrets)
		}
	}
	buf := x.client.heads.Get().(*[headSize]byte)
	defer x.client.heads.Put(buf)
	head, rest := buf[:0], []byte(nil)
	if err == nil {
		head, rest, err = readHead(k, head, limits.MaxHead)
	}
	if err == nil {
		k.answered = true
		keep, err = x.receive(ctx, k, head, rest)
		return keep, false, err
	}
	if ctx.Err() != nil {
		return false, false, ctx.Err()
	}
	c.Head = bytes.Clone(head)
	c.Status, c.Misfortune = headStatus(err, head)
	c.Repeat = c.Status == NotHTTP && x.speaks2(k, head)
	return false, len(head) == 0 && !isTimeout(err), nil
}

// receive reads the response that begins with head. rest is what was read after the head.
func (x *exchange) receive(ctx context.Context, k *conn, head, rest []byte) (keep bool, err error) {
	c, limits := x.capture, x.request.Limits
	b := x.client.buffers.Get().(*buffers)
	defer x.client.putBuffers(b)
	b.block.Reset()
	b.rec = recorder{spool: c.spool, hash: b.block, pending: b.pending[:0]}
	b.wire = wire{conn: k, rest: rest, left: limits.MaxBody, rec: &b.rec}
	if k.h2 != nil {
		b.wire.conn = k.h2
	}
	b.gate = gatedReader{body: &b.wire}
	rec, w := &b.rec, &b.wire
	c.Head = bytes.Clone(head)
	res, repaired, err := parse(b.parser, &b.gate, c.Head)
	if err != nil {
		c.Status, c.Misfortune = NotHTTP, fmt.Errorf("read response head: %w", err)
		return false, nil
	}
	c.Status, c.Header, c.Repaired, c.Misfortune = res.StatusCode, res.Header, repaired, nil
	rec.keep(head)
	if x.stops(res) {
		c.Stopped = true
		return false, x.seal(rec, 0)
	}
	if res.Body != http.NoBody {
		if err := w.room.begin(x.request, res.ContentLength); err != nil {
			return false, x.refuse(rec, err)
		}
		w.err = x.beginBody(ctx, k, w)
	}
	codings := digest.ContentCodings(res.Header.Values("Content-Encoding"))
	c.Framing, c.OddFraming = digest.Framing(len(res.TransferEncoding) > 0, codings), isOddlyFramed(c.Head)
	b.body.Reset()
	b.strong.Reset()
	b.payload = payload{body: res.Body, hash: b.body, strong: b.strong}
	s := readBody(x.client.codecs, codings, &b.payload, limits.MaxContent, b.copy)
	if s.err != nil && w.err != nil && !errors.Is(w.err, io.EOF) {
		s.err = w.err // the parser does not always return it
	}
	s.broken = len(res.TransferEncoding) > 0 && w.isBroken(s)
	unread := 0
	switch {
	case rec.err != nil:
		return false, rec.err
	case w.room.refused != nil:
		return false, x.refuse(rec, w.room.refused)
	case s.err != nil && ctx.Err() != nil:
		return false, ctx.Err()
	case s.err == nil:
		unread = b.parser.Buffered()
		s.err = k.excess(res, unread)
	}
	if c.Status != http.StatusNotModified {
		b.strong.SumTo(&c.SHA256)
	}
	x.conclude(s)
	keep = c.Complete && !res.Close && unread == 0 && len(w.rest) == 0 && x.client.idle.max > 0 &&
		c.Status != http.StatusSwitchingProtocols
	return keep, x.seal(rec, unread)
}

// stops asks [Request].Stop whether to end the download, if there is a body to transfer.
func (x *exchange) stops(res *http.Response) bool {
	if x.request.Stop == nil || res.Body == http.NoBody {
		return false
	}
	return x.request.Stop(Head{Status: res.StatusCode, Header: res.Header, ContentLength: res.ContentLength})
}

// refuse ends the record after the head, and frees the space of what was received of the body.
func (x *exchange) refuse(rec *recorder, cause error) error {
	c := x.capture
	c.Refused, c.Misfortune = true, fmt.Errorf("read body: %w", cause)
	if err := c.spool.Close(); err != nil {
		return err
	}
	c.spool = x.client.spools.open()
	rec.spool, rec.pending = c.spool, rec.pending[:0]
	rec.hash.Reset()
	rec.keep(c.Head)
	return x.seal(rec, 0)
}

// conclude stores in the capture how the body ended.
func (x *exchange) conclude(s bodyResult) {
	c := x.capture
	c.PayloadSize, c.ContentSize = s.payloadSize, s.contentSize
	if s.err != nil {
		if !s.broken {
			c.PartDigest = s.payload
		}
		if c.Truncated = truncationOf(s.err); c.Truncated == TruncatedLength {
			c.PrefixDigest = s.payload
		}
		c.Misfortune = fmt.Errorf("read body: %w", s.err)
		return
	}
	c.Complete = true
	if c.Status == http.StatusNotModified {
		return
	}
	c.PayloadDigest = s.payload
	if c.undecoded = s.undecoded; s.undecoded != nil {
		c.Misfortune = fmt.Errorf("decode body: %w", s.undecoded)
		return
	}
	c.ContentDigest = s.content
}

// seal ends the record, without the last unread bytes.
func (x *exchange) seal(rec *recorder, unread int) error {
	err := rec.end(unread)
	x.capture.BlockSize, x.capture.BlockDigest = x.capture.spool.size, rec.hash.Sum()
	return err
}
