package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch/h2"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/uri"
)

// ErrClosed is returned by [Client.Fetch] after [Client.Close], and by the readers of a closed [Capture].
var ErrClosed = errors.New("closed")

// Field is one header field of a request.
type Field struct{ Name, Value string }

// Redacted replaces the values of [Request].Secrets in [Capture].Request.
const Redacted = "[redacted]"

// Limits holds the bounds of one exchange. A field that is zero or negative means the value of [DefaultLimits], except
// MinRate.
type Limits struct {
	Connect time.Duration // maximum for name resolution, TCP and TLS handshake together
	Headers time.Duration // maximum from the first byte of the request to the last byte of the response head
	Body    time.Duration // maximum for the whole body

	// A body that brings fewer than MinRate bytes a second, over any period of length Grace, is cut. Zero
	// allows any rate.
	MinRate int64
	Grace   time.Duration

	MaxHead    int64 // bytes of the response head, informational responses included
	MaxBody    int64 // raw bytes of the body, chunked framing included
	MaxContent int64 // bytes of the body after content codings are undone
}

// DefaultLimits returns the limits that apply where the configuration says nothing else. The times are similar to
// Heritrix's (20 s for the socket, 20 min for a URI).
func DefaultLimits() Limits {
	return Limits{
		Connect: 20 * time.Second, Headers: 30 * time.Second, Body: 20 * time.Minute,
		MinRate: 100, Grace: 30 * time.Second,
		MaxHead: 256 << 10, MaxBody: 1 << 30, MaxContent: 1 << 30,
	}
}

// orDefaults returns l with the default in each field that is not set.
func (l Limits) orDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		MinRate:    l.MinRate,
		Grace:      orDefault(l.Grace, d.Grace),
		Connect:    orDefault(l.Connect, d.Connect),
		Headers:    orDefault(l.Headers, d.Headers),
		Body:       orDefault(l.Body, d.Body),
		MaxHead:    orDefault(l.MaxHead, d.MaxHead),
		MaxBody:    orDefault(l.MaxBody, d.MaxBody),
		MaxContent: orDefault(l.MaxContent, d.MaxContent),
	}
}

// orDefault returns v if it is positive, and d otherwise.
func orDefault[T ~int | ~int64](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

// Head is the head of a response whose body is about to be transferred. [Request].Stop decides by it.
type Head struct {
	Status        int
	Header        http.Header
	ContentLength int64 // as announced by the server; -1 if it is unknown
}

// Request is one GET, or one POST of a form.
type Request struct {
	URI    uri.URI
	Header []Field // sent in this order after Host; must not have Host, Connection or framing fields
	Limits Limits

	// Secrets are sent after the fields of Header. [Capture].Request has [Redacted] instead of their values.
	Secrets []Field

	// Form is sent as the body of a POST if it is not empty. [Capture].Request has [Redacted] instead of it.
	Form []byte

	// AcceptExpired accepts a certificate that has expired and is valid otherwise. [Security].Accepted says so.
	AcceptExpired bool

	HTTP HTTP // which versions of HTTP may be used; "" = [AutoHTTP]

	Way *Way // how to connect; nil = the usual way

	// Stop returns true to end the download. It is not called if there is no body to transfer; nil means never.
	Stop func(Head) bool

	// Space is asked for disk space before a body is received; nil means that there is always space.
	Space Space

	// Crowded reports whether slow visits hold the workers that others wait for. A body must then bring a hundred times
	// [Limits].MinRate. Crowded is called at most once in each period of [Limits].Grace; nil means never.
	Crowded func() bool
}

// Space is the disk space for a body. A func would be allocated for each visit.
type Space interface {
	// Reserve asks for n bytes before they are received: at the beginning of a body for its announced length, and again
	// each time that a body grows beyond what was reserved. If it returns an error, the body is not received, and the
	// Capture is Refused.
	Reserve(n int64) error
}

// A Dialer opens a connection, as [net.Dialer.DialContext] does.
type Dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// Options make a [Client]. The zero value is usable.
type Options struct {
	// Dial opens connections; nil means Guard(nil), which refuses every address that is not public.
	Dial Dialer

	TLS         *tls.Config // nil means Go's defaults. It is cloned; ServerName and ALPN are set for each connection
	SpoolDir    string      // folder for the bytes of responses beyond SpoolMemory; "" means os.TempDir()
	SpoolMemory int64       // bytes of each response kept in memory; 0 means 256 KiB, negative means none
	MaxIdle     int         // maximum number of idle connections; 0 means 256, negative means none

	Now func() time.Time // the time of day, which dates captures; nil means time.Now
}

// Client makes exchanges and keeps idle connections between them. It may be used by many goroutines at once.
type Client struct {
	dial    Dialer
	now     func() time.Time
	tls     *tls.Config
	idle    *idle
	only2   only2
	spools  *spools
	codecs  *codecs
	heads   sync.Pool // of *[headSize]byte
	buffers sync.Pool // of *buffers
	wholes  sync.Pool // of *[]byte, for decoded contents
}

// New returns a client. It should be closed.
func New(o Options) *Client {
	c := &Client{
		dial: o.Dial, now: o.Now, codecs: &codecs{},
		heads:   sync.Pool{New: func() any { return new([headSize]byte) }},
		buffers: sync.Pool{New: newBuffers},
		wholes:  sync.Pool{New: func() any { return new([]byte) }},
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.dial == nil {
		c.dial = Guard(nil)
	}
	c.tls = &tls.Config{}
	if o.TLS != nil {
		c.tls = o.TLS.Clone()
	}
	if c.tls.MinVersion == 0 {
		c.tls.MinVersion = tls.VersionTLS12
	}
	memory := o.SpoolMemory
	if memory == 0 {
		memory = 256 << 10
	}
	c.spools = &spools{dir: o.SpoolDir, memory: memory, create: os.CreateTemp}
	c.spools.segments.New = func() any { return new([segmentSize]byte) }
	maxIdle := o.MaxIdle
	if maxIdle == 0 {
		maxIdle = 256
	}
	c.idle = newIdle(maxIdle)
	return c
}

// Close closes the idle connections. Exchanges in progress continue, and captures stay readable. It may be called
// again.
func (c *Client) Close() error {
	c.idle.close()
	return nil
}

// Fetch makes one exchange. The caller closes the capture. An error is a problem on our side, and there is no capture
// then: the request is not allowed, the spool could not be written (errors.Is finds syscall.ENOSPC), no file is left
// for a connection (syscall.EMFILE), or ctx is done.
func (c *Client) Fetch(ctx context.Context, r Request) (got *Capture, err error) {
	defer panics.Recover(&err)
	last := closeNow
	if c.idle.max > 0 {
		last = keepAlive
	}
	raw, secrets, err := requestBytes(r, last)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", r.URI, err)
	}
	r.Limits = r.Limits.orDefaults()
	began := time.Now()
	x := &exchange{client: c, request: r, raw: raw, secrets: secrets, capture: &Capture{
		URI:       r.URI,
		Started:   c.now().UTC(),
		client:    c,
		spool:     c.spools.open(),
		maxDecode: r.Limits.MaxContent,
	}}
	err = x.run(ctx)
	x.capture.Took = time.Since(began)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fetch %s: %w", r.URI, err), x.capture.Close())
	}
	return x.capture, nil
}

// connect dials the host of r and, for https, makes the TLS handshake. It stores in the capture what the name
// resolved to, also if it returns an error. If the server refuses the protocol, connect offers it the other one.
func (c *Client) connect(ctx context.Context, r Request, into *Capture) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Limits.Connect)
	defer cancel()
	offered, then := r.HTTP.protocols()
	known := then != nil && r.URI.Scheme() == "https" && c.only2.has(keyFor(r))
	if known {
		offered, then = then, offered
	}
	k, err := c.connectAs(ctx, r, offered, into)
	if err == nil || then == nil || !isProtocolRefused(err) {
		return k, err
	}
	if k, err = c.connectAs(ctx, r, then, into); err != nil {
		return nil, err
	}
	if known {
		c.only2.remove(keyFor(r))
	} else {
		c.only2.add(keyFor(r))
	}
	return k, nil
}

// connectAs makes a connection for one of the protocols.
func (c *Client) connectAs(
	ctx context.Context, r Request, protocols []string, into *Capture,
) (*conn, error) {
	u := r.URI
	ttls := new(ttlsOfNames)
	trace := &httptrace.ClientTrace{DNSDone: func(done httptrace.DNSDoneInfo) { into.Lookup = addresses(done.Addrs) }}
	asking := httptrace.WithClientTrace(withTTLs(WithWay(ctx, r.Way), ttls), trace)
	plain, err := c.dial(asking, "tcp", u.Address())
	if into.Lookup != nil {
		into.TTLs = ttls.get()
	}
	if err != nil {
		return nil, err
	}
	k := &conn{Conn: plain, key: strings.Clone(keyFor(r)), ip: remoteIP(plain), peer: newPeer(plain)}
	k.tcp, _ = plain.(lingerer)
	if u.Scheme() != "https" {
		return k, nil
	}
	config := c.tls.Clone()
	config.ServerName, config.NextProtos = strings.TrimSuffix(u.Hostname(), "."), protocols
	if err := r.Way.tune(config); err != nil {
		k.abort()
		return nil, err
	}
	accepted := ""
	if r.AcceptExpired && !config.InsecureSkipVerify {
		config.InsecureSkipVerify = true // verified by the next line
		config.VerifyConnection = func(s tls.ConnectionState) (err error) {
			accepted, err = verifyUnlessExpired(config, s.PeerCertificates, time.Now())
			return err
		}
	}
	secure := tls.Client(plain, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = plain.Close() // the error of the handshake says more
		return nil, fmt.Errorf("TLS handshake with %s: %w", u.Address(), err)
	}
	k.Conn, k.security = secure, securityOf(secure.ConnectionState())
	k.security.Accepted = accepted
	if secure.ConnectionState().NegotiatedProtocol == alpnHTTP2 {
		k.h2 = h2.New(secure)
	}
	return k, nil
}

// maxLookup is the maximum number of addresses of a name that are kept.
const maxLookup = 64

// addresses returns the addresses that a name resolved to, sorted.
func addresses(found []net.IPAddr) (all []netip.Addr) {
	for _, a := range found[:min(len(found), maxLookup)] {
		if ip, ok := netip.AddrFromSlice(a.IP); ok {
			all = append(all, ip.Unmap())
		}
	}
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

// The sizes of the buffers of one exchange. A head longer than headSize gets a buffer of its own. peekSize bounds how
// far the parser can read beyond the response.
const (
	headSize    = 8 << 10
	peekSize    = 8 << 10
	pendingSize = 32 << 10
	copySize    = 32 << 10
)

// buffers is the memory that an exchange needs once the head is there. Later exchanges reuse it. While an exchange
// waits for the server it holds only the memory for a head, because hundreds of exchanges may wait at the same time.
type buffers struct {
	parser  *bufio.Reader // the parser reads from it
	pending []byte        // for recorder.pending
	copy    []byte
	block   digest.Hash // of the whole response
	body    digest.Hash
	strong  digest.StrongHash // of the payload
	gate    gatedReader
	rec     recorder
	wire    wire
	payload payload
}

func newBuffers() any {
	return &buffers{
		parser:  bufio.NewReaderSize(nil, peekSize),
		pending: make([]byte, 0, pendingSize),
		copy:    make([]byte, copySize),
		block:   digest.New(),
		body:    digest.New(),
		strong:  digest.NewStrong(),
	}
}

func (c *Client) putBuffers(b *buffers) {
	b.parser.Reset(nil)
	b.gate, b.rec, b.wire, b.payload = gatedReader{}, recorder{}, wire{}, payload{}
	c.buffers.Put(b)
}
