package fetch

import (
	"container/list"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/fetch/h2"
	"github.com/arcrawl/arcrawl/uri"
)

// past is a deadline that has expired.
var past = time.Unix(1, 0)

// conn is one connection to a server, plain or TLS.
type conn struct {
	net.Conn
	key  string     // scheme, host and port for which it can be reused
	ip   netip.Addr // the server's address; zero if the connection has none
	peer *peer      // to look into its socket
	idle time.Time  // end of its last exchange

	tcp      lingerer // to say what its socket does when it is closed; nil if it has none
	resets   bool     // the socket is reset when it is closed
	answered bool     // the last request has an answer

	security *Security // nil without TLS
	h2       *h2.Conn  // nil over HTTP/1.1
}

// Security holds what TLS negotiated for a connection.
type Security struct {
	Version     string // in the words of WARC-Protocol: "tls/1.3"
	CipherSuite string // its IANA name
	Certificate string // "sha256:" and the hexadecimal digest of the server's own certificate
	Accepted    string // why the certificate is not valid, although it was accepted; "" if it is valid
}

// expired reports whether the certificate of the server was accepted although it has expired.
func (k *conn) expired() bool { return k.security != nil && k.security.Accepted != "" }

// securityOf returns what TLS negotiated.
func securityOf(s tls.ConnectionState) *Security {
	out := &Security{
		Version:     "tls/" + strings.TrimPrefix(tls.VersionName(s.Version), "TLS "),
		CipherSuite: tls.CipherSuiteName(s.CipherSuite),
	}
	if len(s.PeerCertificates) > 0 {
		sum := sha256.Sum256(s.PeerCertificates[0].Raw)
		out.Certificate = "sha256:" + hex.EncodeToString(sum[:])
	}
	return out
}

// verifyUnlessExpired verifies the certificates of a server. If its own certificate has expired and was valid until
// then, it returns no error, and says in accepted why the certificate is not valid now.
func verifyUnlessExpired(c *tls.Config, chain []*x509.Certificate, now time.Time) (accepted string, _ error) {
	if len(chain) == 0 {
		return "", errors.New("the server has no certificate")
	}
	o := x509.VerifyOptions{
		Roots: c.RootCAs, DNSName: c.ServerName, CurrentTime: now, Intermediates: x509.NewCertPool(),
	}
	for _, intermediate := range chain[1:] {
		o.Intermediates.AddCert(intermediate)
	}
	_, err := chain[0].Verify(o)
	if err == nil || !now.After(chain[0].NotAfter) {
		return "", err
	}
	o.CurrentTime = chain[0].NotAfter
	if _, errThen := chain[0].Verify(o); errThen != nil {
		return "", errThen
	}
	return err.Error(), nil
}

// connKey returns the scheme, host and port of a URI. Its text shares memory with the URI's.
func connKey(u uri.URI) string { return u.Origin().String() }

// remoteIP returns the address of the server, zero if the connection has none.
func remoteIP(c net.Conn) netip.Addr {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// limit sets the deadline of all further reading and writing. When ctx is done, another goroutine sets a deadline in
// the past, which must not be extended here.
func (k *conn) limit(ctx context.Context, t time.Time) error {
	err := k.SetDeadline(t)
	if ctx.Err() != nil {
		err = k.SetDeadline(past)
	}
	return err
}

// limitBody sets the deadlines of a body: the end of the present period for reading, and the end of all for writing.
// Over HTTP/2 the client writes while it reads. TLS does not survive a write at the end of a period, as it survives a
// read.
func (k *conn) limitBody(ctx context.Context, read, write time.Time) error {
	err := k.SetWriteDeadline(write)
	if err == nil {
		err = k.SetReadDeadline(read)
	}
	if ctx.Err() != nil {
		err = k.SetDeadline(past)
	}
	return err
}

// lingerer is a socket, as [net.TCPConn] is.
type lingerer interface{ SetLinger(sec int) error }

// ask notes that a request is about to be sent. If the connection is closed before it has an answer, also because the
// process is killed, it is reset: the kernel would otherwise still send the request when the network works again,
// although nobody waits for the answer and the host's rest is counted from before. The socket stays so until
// [conn.finish], which saves two system calls for each request.
func (k *conn) ask() {
	k.answered = false
	if k.tcp != nil && !k.resets {
		k.resets = k.tcp.SetLinger(0) == nil // fails only if the connection is already closed
	}
}

// finish prepares the socket for its end: what is left is sent if the last request has an answer.
func (k *conn) finish() {
	if k.resets && k.answered {
		_ = k.tcp.SetLinger(-1) // as in ask
	}
}

// Close closes the connection.
func (k *conn) Close() error {
	k.finish()
	return k.Conn.Close()
}

// abort closes the connection without writing to the server. A TLS close would write, and could block.
func (k *conn) abort() {
	if secure, ok := k.Conn.(*tls.Conn); ok {
		k.finish()
		_ = secure.NetConn().Close() // an error changes nothing: the connection is not used again
		return
	}
	_ = k.Close() // as above
}

// silent reports whether an idle connection is open and has nothing to read. Bytes that come before the next request is
// sent are not an answer to it.
func (k *conn) silent() bool {
	if !k.peer.silent() {
		return false
	}
	switch k.Conn.(type) {
	case *tls.Conn, *secureTunnel:
	default:
		return true
	}
	// TLS may already hold a record that came together with the end of the last response. With a deadline in the past
	// only such a record is read. The timeout does not break the connection.
	if err := k.SetReadDeadline(past); err != nil {
		return false
	}
	n, err := k.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// usable reports whether an idle connection can be used again.
func (k *conn) usable(ctx context.Context) bool {
	if k.h2 != nil {
		return k.ready(ctx)
	}
	return k.silent()
}

// idleTimeout is how long a connection may be idle and still be used.
const idleTimeout = time.Minute

// idle keeps connections between exchanges, one for each key.
type idle struct {
	max int

	mu     sync.Mutex // guards the fields below; not held while closing
	byKey  map[string]*list.Element
	order  *list.List // of *conn, the longest idle first
	closed bool
}

func newIdle(maxIdle int) *idle {
	return &idle{max: maxIdle, byKey: map[string]*list.Element{}, order: list.New()}
}

// take removes and returns the idle connection for key. It returns nil if there is none, or if it cannot be used again.
func (p *idle) take(ctx context.Context, key string, now time.Time) (*conn, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	old := p.expire(now)
	var k *conn
	if e := p.byKey[key]; e != nil {
		k = p.remove(e)
	}
	p.mu.Unlock()
	closeAll(old)
	if k != nil && !k.usable(ctx) {
		k.abort()
		k = nil
	}
	return k, nil
}

// put keeps k for later instead of an older connection with its key. The deadline of the last exchange stays in force
// until the next exchange sets its own.
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

// expire removes and returns the connections that have been idle for too long. The mutex is held.
func (p *idle) expire(now time.Time) []*conn {
	var out []*conn
	for e := p.order.Front(); e != nil && now.Sub(e.Value.(*conn).idle) >= idleTimeout; e = p.order.Front() {
		out = append(out, p.remove(e))
	}
	return out
}

// remove removes and returns one connection. The mutex is held.
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

// clear closes all idle connections, and returns how many there were.
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

// closeAll closes idle connections. Errors do not matter: the server may have closed them already.
func closeAll(ks []*conn) {
	for _, k := range ks {
		_ = k.Close()
	}
}
