package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/fetch/h2"
)

// HTTP says which versions of HTTP a request may use.
type HTTP string

// The versions. HTTP/2 is used over TLS alone.
const (
	AutoHTTP  HTTP = "auto" // HTTP/1.1, and HTTP/2 where the TLS of a server refuses HTTP/1.1; "" means the same
	OnlyHTTP1 HTTP = "1.1"
	HTTP2     HTTP = "2" // and HTTP/1.1 where a server does not know HTTP/2
)

// The names of protocols in TLS.
const (
	alpnHTTP1 = "http/1.1"
	alpnHTTP2 = "h2"
)

// protocols returns which protocols are offered to a server. If it refuses them, then is offered to it on another
// connection.
func (h HTTP) protocols() (offered, then []string) {
	switch h {
	case HTTP2:
		return []string{alpnHTTP2, alpnHTTP1}, nil
	case OnlyHTTP1:
		return []string{alpnHTTP1}, nil
	}
	return []string{alpnHTTP1}, []string{alpnHTTP2}
}

// max2 is the maximum number of servers that are remembered to speak HTTP/2 alone.
const max2 = 10_000

// only2 remembers which servers speak HTTP/2 alone. The zero value remembers none.
type only2 struct {
	mu   sync.Mutex // guards keys
	keys map[string]struct{}
}

// has reports whether a server speaks HTTP/2 alone, as far as it is remembered.
func (o *only2) has(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.keys[key]
	return ok
}

// add remembers a server. It returns false if it was remembered before.
func (o *only2) add(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.keys[key]; known {
		return false
	}
	if o.keys == nil || len(o.keys) >= max2 {
		o.keys = map[string]struct{}{}
	}
	o.keys[strings.Clone(key)] = struct{}{}
	return true
}

// remove forgets a server.
func (o *only2) remove(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.keys, key)
}

// speaks2 reports whether the answer to a request over HTTP/1.1 begins with SETTINGS, and the next request may use
// HTTP/2. Such a server did not process the request.
func (x *exchange) speaks2(k *conn, received []byte) bool {
	const first = "\x04\x00\x00\x00\x00\x00" // kind, no flags and no stream; the length is before it
	_, then := x.request.HTTP.protocols()
	if len(received) < 3+len(first) || string(received[3:3+len(first)]) != first {
		return false
	}
	return then != nil && k.security != nil && x.client.only2.add(keyFor(x.request))
}

// isProtocolRefused reports whether a server refused all protocols that were offered in the TLS handshake. No request
// was sent to it then.
func isProtocolRefused(err error) bool {
	op := (*net.OpError)(nil)
	return errors.As(err, &op) && op.Op == "remote error" && strings.HasSuffix(op.Err.Error(), "no application protocol")
}

const (
	idleFrames    = 1000            // that are read before a connection is used again
	idleFrameTime = 5 * time.Second // for them
)

// ready reports whether an idle connection over HTTP/2 can be used. It reads what the server has sent meanwhile, until
// ctx is done.
func (k *conn) ready(ctx context.Context) bool {
	defer k.endWith(ctx)()
	limit := time.Now().Add(idleFrameTime)
	for range idleFrames {
		if !k.h2.Buffered() && k.peer.silent() {
			if k.SetReadDeadline(past) != nil {
				return false
			}
			if !k.h2.Waiting(isTimeout) {
				return true
			}
		}
		if k.limit(ctx, limit) != nil || k.h2.Idle() != nil {
			return false
		}
	}
	return false
}

// paced reads the bytes of a body from a connection, as far as they come fast enough. What reads frames must not see
// the end of a period, because a frame of which a part was read is lost after an error.
type paced struct {
	pace pace
	conn io.Reader
}

func (p *paced) Read(b []byte) (int, error) { return p.pace.read(p.conn, b) }

// beginBody sets the deadlines of a body.
func (x *exchange) beginBody(ctx context.Context, k *conn, w *wire) error {
	if k.h2 == nil {
		return w.pace.begin(ctx, k, x.request, time.Now())
	}
	below := &paced{conn: k.Conn}
	k.h2.From(below)
	return below.pace.begin(ctx, k, x.request, time.Now())
}

// over2 makes the exchange over HTTP/2, as send does over HTTP/1.1.
func (x *exchange) over2(ctx context.Context, k *conn) (keep, noAnswer bool, err error) {
	c, limits := x.capture, x.request.Limits
	c.IP, c.Security, c.Request, c.HTTP2 = k.ip, k.security, nil, true
	raw, secrets, err := requestBytes(x.request, overHTTP2)
	if err != nil {
		return false, false, err
	}
	k.ask()
	err = k.limit(ctx, time.Now().Add(limits.Headers))
	if err == nil {
		var sent bool
		if sent, err = k.h2.Ask(x.asked(), limits.MaxHead); sent {
			c.Request = redact(raw, secrets)
		}
	}
	head, repaired := []byte(nil), 0
	if err == nil {
		head, repaired, err = k.h2.Head(limits.MaxHead)
	}
	if err == nil {
		k.answered = true
		_, err = x.receive(ctx, k, head, nil)
		k.h2.From(k.Conn)
		c.Repaired += repaired
		keep = err == nil && ctx.Err() == nil && k.h2.Finish(c.Complete) && x.client.idle.max > 0
		return keep, false, err
	}
	if ctx.Err() != nil {
		return false, false, ctx.Err()
	}
	switch {
	case errors.Is(err, h2.ErrProtocol):
		err = fmt.Errorf("%w: %w", errNotHTTP, err)
	case errors.Is(err, h2.ErrMaxHead):
		err = fmt.Errorf("%w: %w", errMaxHead, err)
	default:
		noAnswer = !isTimeout(err) && !errors.Is(err, h2.ErrReset)
	}
	c.Head = nil
	c.Status, c.Misfortune = headStatus(err, nil)
	return false, noAnswer, nil
}

// excess returns an error if a body over HTTP/2 is longer than the head announces, as far as it has come: the body ends
// with the stream, so its head is wrong. unread is the number of bytes that were received and do not belong to the
// body. Over HTTP/1.1 nobody can know what they are.
func (k *conn) excess(res *http.Response, unread int) error {
	bodiless := res.StatusCode == http.StatusNoContent || res.StatusCode == http.StatusNotModified
	if k.h2 == nil || res.ContentLength < 0 || bodiless || unread == 0 && !k.h2.Excess() {
		return nil
	}
	return fmt.Errorf("%w of %d bytes", errExcess, res.ContentLength)
}

// asked returns the request as it is sent over HTTP/2.
func (x *exchange) asked() h2.Request {
	r := x.request
	out := h2.Request{
		Method: http.MethodGet, Scheme: r.URI.Scheme(), Authority: r.URI.Authority(), Path: r.URI.RequestTarget(),
		Body: r.Form,
	}
	add := func(fields []Field, secret bool) {
		for _, f := range fields {
			out.Fields = append(out.Fields, h2.Field{Name: strings.ToLower(f.Name), Value: f.Value, Secret: secret})
		}
	}
	add(r.Header, false)
	add(r.Secrets, true)
	if len(r.Form) > 0 {
		out.Method = http.MethodPost
		add(formFields(r), false)
	}
	return out
}
