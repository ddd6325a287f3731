package fetch

import (
	"context"
	"maps"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// systemNames returns a resolver that asks the DNS servers of the system and notices the TTLs. Where the system has a
// resolver of its own, or the program has set [net.DefaultResolver] to one, that is used, and TTLs are not known.
func systemNames() *net.Resolver {
	if runtime.GOOS != "linux" || net.DefaultResolver.Dial != nil {
		return net.DefaultResolver
	}
	return &net.Resolver{PreferGo: true, Dial: dialNameServer}
}

// maxTTLs is the maximum number of addresses whose TTL is kept.
const maxTTLs = 64

// ttlsOfNames holds how many seconds the addresses of a look-up are valid. The zero value is empty.
type ttlsOfNames struct {
	mu  sync.Mutex // guards all
	all map[netip.Addr]uint32
}

// get returns the TTL of each address, as far as it is known; nil if none is.
func (t *ttlsOfNames) get() map[netip.Addr]uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.all)
}

// ttlKey is the key of TTLs in a context.
type ttlKey struct{}

// withTTLs returns a context with which a look-up notes the TTLs.
func withTTLs(ctx context.Context, t *ttlsOfNames) context.Context {
	return context.WithValue(ctx, ttlKey{}, t)
}

// dialNameServer connects to a DNS server.
func dialNameServer(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	t, _ := ctx.Value(ttlKey{}).(*ttlsOfNames)
	if err != nil || t == nil {
		return c, err
	}
	switch c := c.(type) {
	case *net.UDPConn:
		return &dnsPackets{UDPConn: c, t: t}, nil
	case *net.TCPConn:
		return &dnsStream{TCPConn: c, t: t}, nil
	}
	return c, nil
}

// dnsPackets is a connection to a DNS server over UDP. The resolver recognizes it by its methods.
type dnsPackets struct {
	*net.UDPConn
	t     *ttlsOfNames
	asked question
}

func (c *dnsPackets) Write(b []byte) (int, error) {
	c.asked = questionIn(b)
	return c.UDPConn.Write(b)
}

func (c *dnsPackets) Read(b []byte) (int, error) {
	n, err := c.UDPConn.Read(b)
	c.t.note(c.asked, b[:n])
	return n, err
}

// dnsStream is a connection to a DNS server over TCP. The resolver reads a message in one piece, if it comes in one.
type dnsStream struct {
	*net.TCPConn
	t     *ttlsOfNames
	asked question
}

// Write writes a message behind its length, as the resolver does in one call.
func (c *dnsStream) Write(b []byte) (int, error) {
	c.asked = questionIn(b[min(len(b), 2):])
	return c.TCPConn.Write(b)
}

func (c *dnsStream) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	c.t.note(c.asked, b[:n])
	return n, err
}

// question identifies a message and its answer. The zero value has no answer.
type question struct {
	id   uint16
	name string // in lower case
	kind dnsmessage.Type
}

// questionIn returns the question of a message; the zero value if it has none.
func questionIn(message []byte) question {
	var p dnsmessage.Parser
	h, err := p.Start(message)
	if err != nil {
		return question{}
	}
	q, err := p.Question()
	if err != nil {
		return question{}
	}
	return question{h.ID, strings.ToLower(q.Name.String()), q.Type}
}

// note notes the TTLs of the answer to a question. Other messages, and what cannot be read, are left to the resolver.
func (t *ttlsOfNames) note(asked question, message []byte) {
	var p dnsmessage.Parser
	h, err := p.Start(message)
	if err != nil || !h.Response || asked == (question{}) || questionIn(message) != asked || p.SkipAllQuestions() != nil {
		return
	}
	for {
		h, err := p.AnswerHeader()
		if err != nil {
			return
		}
		var ip netip.Addr
		switch h.Type {
		case dnsmessage.TypeA:
			r, err := p.AResource()
			if err != nil {
				return
			}
			ip = netip.AddrFrom4(r.A)
		case dnsmessage.TypeAAAA:
			r, err := p.AAAAResource()
			if err != nil {
				return
			}
			ip = netip.AddrFrom16(r.AAAA)
		default:
			if p.SkipAnswer() != nil {
				return
			}
			continue
		}
		t.add(ip.Unmap(), h.TTL)
	}
}

// add adds a TTL. One with the highest bit is 0 (RFC 2181, 8), and the shortest of several counts.
func (t *ttlsOfNames) add(ip netip.Addr, ttl uint32) {
	if ttl > 1<<31-1 {
		ttl = 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before, known := t.all[ip]
	switch {
	case known:
		t.all[ip] = min(before, ttl)
	case len(t.all) < maxTTLs:
		if t.all == nil {
			t.all = map[netip.Addr]uint32{}
		}
		t.all[ip] = ttl
	}
}
