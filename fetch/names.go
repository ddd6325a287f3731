package fetch

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServers are DNS servers in the order in which they are asked. The next one is asked only if the one before does
// not answer.
type nameServers []*nameServer

// nameServer is one DNS server.
type nameServer struct {
	resolver *net.Resolver
	failures atomic.Int32 // look-ups in a row that it did not answer
	retry    atomic.Int64 // Unix time in nanoseconds; before, a server that fails is asked last
}

const (
	// maxNameFailures is how many look-ups in a row a server may leave unanswered before it is asked last. The names of
	// strangers can lead to servers that never answer, which says nothing about this one.
	maxNameFailures = 5
	nameRetry       = 30 * time.Second
	nameTime        = 3 * time.Second // for one server, while there are others to ask
	// minNameTime is how long a server must have been asked for a look-up to say something about it. The context of a
	// look-up may end at once, because the daemon stops or the visit has no time left.
	minNameTime = time.Second
)

// newNameServers returns the servers at some addresses.
func newNameServers(addresses []netip.AddrPort) (all nameServers) {
	for _, a := range addresses {
		dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialNameServer(ctx, network, a.String())
		}
		all = append(all, &nameServer{resolver: &net.Resolver{PreferGo: true, Dial: dial}})
	}
	return all
}

// Lookup returns the addresses of a host: the answer of the first server that has one. "No such host" is an answer.
func (all nameServers) Lookup(ctx context.Context, host string) (found []netip.Addr, err error) {
	for i, s := range all.inOrder(time.Now()) {
		began := time.Now()
		one, cancel := ctx, context.CancelFunc(func() {})
		if left := len(all) - i; left > 1 {
			limit := nameTime
			if end, ok := ctx.Deadline(); ok {
				limit = min(limit, time.Until(end)/time.Duration(left))
			}
			one, cancel = context.WithTimeout(ctx, limit)
		}
		found, err = s.resolver.LookupNetIP(one, "ip", host)
		cancel()
		if answered(err) {
			s.failures.Store(0)
			return found, err
		}
		if ctx.Err() != nil && (i < len(all)-1 || time.Since(began) < minNameTime) {
			return nil, err // it had no time to answer
		}
		if s.failures.Add(1) >= maxNameFailures {
			s.retry.Store(time.Now().Add(nameRetry).UnixNano())
		}
	}
	return nil, err
}

// answered reports whether a look-up with this error was answered.
func answered(err error) bool {
	dns := (*net.DNSError)(nil)
	return err == nil || errors.As(err, &dns) && dns.IsNotFound
}

// inOrder returns the servers in the order in which they are asked.
func (all nameServers) inOrder(now time.Time) nameServers {
	fails := func(s *nameServer) bool {
		return s.failures.Load() >= maxNameFailures && now.UnixNano() < s.retry.Load()
	}
	if !slices.ContainsFunc(all, fails) {
		return all
	}
	first := make(nameServers, 0, len(all))
	for _, s := range all {
		if !fails(s) {
			first = append(first, s)
		}
	}
	for _, s := range all {
		if !slices.Contains(first, s) {
			first = append(first, s)
		}
	}
	return first
}

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
