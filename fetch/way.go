package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Family says which addresses of a host are used, and which of them first.
type Family string

// The families.
const (
	AnyFamily  Family = "any"         // as the system prefers
	PreferIPv4 Family = "prefer-ipv4" // IPv6 only if no IPv4 address answers
	PreferIPv6 Family = "prefer-ipv6"
	OnlyIPv4   Family = "ipv4"
	OnlyIPv6   Family = "ipv6"
)

// WayOptions describe a [Way]. The zero value is the usual way.
type WayOptions struct {
	Proxy   Proxy               // zero = none
	Sources []netip.Addr        // local addresses of connections, at most one of each family; not used for a proxy
	Family  Family              // "" = [AnyFamily]
	Servers []netip.AddrPort    // DNS servers, each asked if those before do not answer; nil = the servers of the system
	MinTLS  uint16              // oldest accepted version of TLS; 0 = the client's
	Roots   []*x509.Certificate // accepted in addition to the client's
}

// Way says how connections to a host are made, where that differs from the usual. A connection made in one way is never
// used for a request with another. A nil Way is the usual one.
type Way struct {
	o     WayOptions
	names nameServers // nil = the dialer's own resolver is used
	key   string      // differs for different ways
}

// NewWay returns a way, nil if the options ask for nothing unusual.
func NewWay(o WayOptions) *Way {
	o.Family = cmp.Or(o.Family, AnyFamily)
	w := &Way{o: o, names: newNameServers(o.Servers)}
	sum := sha256.New()
	for _, roots := range [][]*x509.Certificate{o.Roots, o.Proxy.Roots} {
		for _, c := range roots {
			sum.Write(c.Raw)
		}
		sum.Write([]byte("end of the list")) // no certificate begins so
	}
	fmt.Fprintf(sum, "%q %q %q %q", o.Proxy.Scheme, o.Proxy.Address, o.Proxy.User, o.Proxy.Password)
	text := w.String()
	if text == "" && len(o.Servers) == 0 {
		return nil
	}
	w.key = fmt.Sprint(" ", text, " ", o.Servers, " ", hex.EncodeToString(sum.Sum(nil)))
	return w
}

// Same reports whether two ways are the same.
func (w *Way) Same(other *Way) bool {
	if w == nil || other == nil {
		return w == other
	}
	return w.key == other.key
}

// Proxy returns the name of the proxy, "" if there is none.
func (w *Way) Proxy() string {
	if w == nil {
		return ""
	}
	return w.o.Proxy.Name
}

// String returns what is unusual about the way in a few words without spaces or commas. It has no secrets.
func (w *Way) String() string {
	if w == nil {
		return ""
	}
	var parts []string
	if w.o.Proxy.Name != "" {
		parts = append(parts, "proxy="+w.o.Proxy.Name)
	} else {
		for _, a := range w.o.Sources {
			parts = append(parts, "source="+a.String())
		}
	}
	if w.o.Family != AnyFamily {
		parts = append(parts, "ip="+string(w.o.Family))
	}
	if len(w.o.Servers) > 0 {
		parts = append(parts, "dns=own")
	}
	if w.o.MinTLS != 0 {
		parts = append(parts, "min-tls="+strings.TrimPrefix(tls.VersionName(w.o.MinTLS), "TLS "))
	}
	if len(w.o.Roots) > 0 {
		parts = append(parts, "roots=own")
	}
	return strings.Join(parts, "+")
}

// wayKey is the key of a way in a context.
type wayKey struct{}

// WithWay returns a context with which the dialer of [Guard] connects in a certain way.
func WithWay(ctx context.Context, w *Way) context.Context {
	if w == nil {
		return ctx
	}
	return context.WithValue(ctx, wayKey{}, w)
}

// WayOf returns the way of a context, nil if it has none.
func WayOf(ctx context.Context) *Way {
	w, _ := ctx.Value(wayKey{}).(*Way)
	return w
}

// keyFor returns the key under which a connection for a request may be used again.
func keyFor(r Request) string {
	key := connKey(r.URI)
	if r.HTTP != AutoHTTP && r.HTTP != "" {
		key += " HTTP/" + string(r.HTTP)
	}
	if r.Way != nil {
		key += r.Way.key
	}
	return key
}

// tune changes what TLS accepts.
func (w *Way) tune(c *tls.Config) error {
	if w == nil {
		return nil
	}
	if w.o.MinTLS != 0 {
		c.MinVersion = w.o.MinTLS
	}
	if c.MinVersion < tls.VersionTLS12 {
		// Servers that know only old versions often know only what is off by default.
		for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
			if !strings.Contains(suite.Name, "RC4") {
				c.CipherSuites = append(c.CipherSuites, suite.ID)
			}
		}
	}
	if len(w.o.Roots) == 0 {
		return nil
	}
	roots := c.RootCAs
	if roots == nil {
		system, err := x509.SystemCertPool()
		if err != nil {
			return fmt.Errorf("read the root certificates of the system: %w", err)
		}
		roots = system
	} else {
		roots = roots.Clone()
	}
	for _, root := range w.o.Roots {
		roots.AddCert(root)
	}
	c.RootCAs = roots
	return nil
}

// maxAddresses is the maximum number of addresses of a host that are tried. A host may name thousands.
const maxAddresses = 20

// minAttempt is the minimum time for one of several addresses of a host, as far as there is time.
const minAttempt = 2 * time.Second

// dial connects to a host and a port. The host is always resolved here. check returns an error if an address must not
// be connected to, by whatever way; resolver resolves unless the way has DNS servers of its own.
func (w *Way) dial(
	ctx context.Context, address string, resolver *net.Resolver, check func(resolved string) error,
) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	all, err := w.lookup(ctx, resolver, host)
	if err != nil {
		return nil, err
	}
	all = all[:min(len(all), maxAddresses)]
	var first error
	for i, ip := range all {
		to := net.JoinHostPort(ip.String(), port)
		if err = check(to); err != nil {
			err = &net.OpError{Op: "dial", Net: "tcp", Err: err}
		} else {
			var k net.Conn
			if k, err = w.attempt(ctx, to, ip, len(all)-i); err == nil {
				return k, nil
			}
		}
		if first == nil {
			first = err
		}
		if errors.Is(err, ErrProxy) || ctx.Err() != nil {
			break
		}
	}
	if errors.Is(err, ErrProxy) {
		return nil, err
	}
	return nil, first
}

// attempt connects to one address. left is the number of addresses that share the time, this one included.
func (w *Way) attempt(ctx context.Context, to string, ip netip.Addr, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		now := time.Now()
		share := max(end.Sub(now)/time.Duration(left), minAttempt)
		short, cancel := context.WithDeadline(ctx, now.Add(share))
		defer cancel()
		ctx = short
	}
	if w.o.Proxy.Name != "" {
		return w.o.Proxy.connect(ctx, to)
	}
	var d net.Dialer
	for _, a := range w.o.Sources {
		if a.Is4() == ip.Is4() {
			d.LocalAddr = &net.TCPAddr{IP: a.AsSlice(), Zone: a.Zone()}
		}
	}
	return d.DialContext(ctx, "tcp", to)
}

// lookup returns the addresses of a host that the way may use, the first to try first.
func (w *Way) lookup(ctx context.Context, resolver *net.Resolver, host string) ([]netip.Addr, error) {
	all := []netip.Addr{}
	if ip, err := netip.ParseAddr(host); err == nil {
		all = append(all, ip.Unmap())
	} else {
		if all, err = w.resolve(ctx, resolver, host); err != nil {
			return nil, err
		}
	}
	for i := range all {
		all[i] = all[i].Unmap()
	}
	found := len(all)
	all = slices.DeleteFunc(all, func(ip netip.Addr) bool { return !w.uses(ip) })
	if len(all) == 0 && found > 0 {
		return nil, fmt.Errorf("the host %s has no address of the family that network.ip or network.source asks for", host)
	}
	if w.o.Family == PreferIPv4 || w.o.Family == PreferIPv6 {
		first := w.o.Family == PreferIPv4
		slices.SortStableFunc(all, func(a, b netip.Addr) int {
			switch {
			case a.Is4() == b.Is4():
				return 0
			case a.Is4() == first:
				return -1
			}
			return 1
		})
	}
	return all, nil
}

// resolve returns all addresses of a host name.
func (w *Way) resolve(ctx context.Context, resolver *net.Resolver, host string) ([]netip.Addr, error) {
	switch {
	case w.names != nil:
		return w.names.Lookup(ctx, host)
	case resolver == nil:
		resolver = net.DefaultResolver
	}
	return resolver.LookupNetIP(ctx, "ip", host)
}

// uses reports whether the way may use an address.
func (w *Way) uses(ip netip.Addr) bool {
	switch {
	case w.o.Family == OnlyIPv4 && !ip.Is4(), w.o.Family == OnlyIPv6 && ip.Is4():
		return false
	case w.o.Proxy.Name != "" || len(w.o.Sources) == 0:
		return true
	}
	return slices.ContainsFunc(w.o.Sources, func(a netip.Addr) bool { return a.Is4() == ip.Is4() })
}

// Reach reports whether a connection to an address, a host and a port, can be opened in a way within a time. It sends
// nothing.
func (c *Client) Reach(ctx context.Context, w *Way, address string, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(WithWay(ctx, w), limit)
	defer cancel()
	k, err := c.dial(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = k.Close() // nothing was sent
	return true
}
