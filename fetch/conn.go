package fetch

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// past is a deadline that is over.
var past = time.Unix(1, 0)

// conn is one connection to a server, plain or TLS.
type conn struct {
	net.Conn
	key  string     // what it can be used for again
	ip   netip.Addr // the server's address; zero if the connection has none
	peer *peer      // to look into its socket
	idle time.Time  // since when nothing is asked of it
}

// connKey names what a connection may be used for: scheme, host and port. Its text is a part of u's.
func connKey(u uri.URI) string { return u.Origin().String() }

func remoteIP(c net.Conn) netip.Addr {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// until bounds all reading and writing from now on. When ctx is done a deadline in the past is set from outside,
// which must not be put off here.
func (k *conn) until(ctx context.Context, t time.Time) error {
	err := k.SetDeadline(t)
	if ctx.Err() != nil {
		err = k.SetDeadline(past)
	}
	return err
}

// abort closes without a word to the server. A TLS close would write, and could wait for that.
func (k *conn) abort() {
	if secure, ok := k.Conn.(*tls.Conn); ok {
		_ = secure.NetConn().Close() // nothing can be done about it, and nothing is lost
		return
	}
	_ = k.Close() // as above
}

// silent reports whether an idle connection is open and has nothing to read: what comes before the next request is sent
// is no answer to it.
func (k *conn) silent() bool {
	secure, ok := k.Conn.(*tls.Conn)
	if !k.peer.silent() {
		return false
	}
	if !ok {
		return true
	}
	// TLS may already hold a record that came together with the last response's end. With a deadline in the past
	// only such a record is read; the timeout does not break the connection.
	if err := secure.SetReadDeadline(past); err != nil {
		return false
	}
	n, err := secure.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// idleTimeout is how long a connection may be idle and still be used.
const idleTimeout = time.Minute

// idle keeps connections between exchanges: one for each key, the longest idle first in order.
type idle struct {
	max int

	mu     sync.Mutex // guards the fields below; not held while closing
	byKey  map[string]*list.Element
	order  *list.List // of *conn
	closed bool
}

func newIdle(maxIdle int) *idle {
	return &idle{max: maxIdle, byKey: map[string]*list.Element{}, order: list.New()}
}

// take gives the idle connection for key, if there is one that can be used.
func (p *idle) take(key string, now time.Time) (*conn, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	out := p.expire(now)
	var k *conn
	if e := p.byKey[key]; e != nil {
		k = p.remove(e)
	}
	p.mu.Unlock()
	closeAll(out)
	if k != nil && !k.silent() {
		k.abort()
		k = nil
	}
	return k, nil
}

// put keeps k for later, in place of an older one. The deadline of the last exchange stays: the next one sets its own.
func (p *idle) put(k *conn, now time.Time) {
	k.idle = now
	p.mu.Lock()
	out := p.expire(now)
	if e := p.byKey[k.key]; e != nil {
		out = append(out, p.remove(e))
	}
	if p.closed {
		out = append(out, k)
	} else {
		p.byKey[k.key] = p.order.PushBack(k)
	}
	for p.order.Len() > p.max {
		out = append(out, p.remove(p.order.Front()))
	}
	p.mu.Unlock()
	closeAll(out)
}

// expire takes out what has been idle for too long. The mutex is held.
func (p *idle) expire(now time.Time) []*conn {
	var out []*conn
	for e := p.order.Front(); e != nil && now.Sub(e.Value.(*conn).idle) >= idleTimeout; e = p.order.Front() {
		out = append(out, p.remove(e))
	}
	return out
}

// remove takes one element out. The mutex is held.
func (p *idle) remove(e *list.Element) *conn {
	k := p.order.Remove(e).(*conn)
	delete(p.byKey, k.key)
	return k
}

func (p *idle) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.clear()
}

// clear closes all idle connections, and tells how many these were.
func (p *idle) clear() int {
	p.mu.Lock()
	var out []*conn
	for e := p.order.Front(); e != nil; e = p.order.Front() {
		out = append(out, p.remove(e))
	}
	p.mu.Unlock()
	closeAll(out)
	return len(out)
}

// closeAll lets idle connections go; that a server is gone already does not matter.
func closeAll(ks []*conn) {
	for _, k := range ks {
		_ = k.Close()
	}
}
