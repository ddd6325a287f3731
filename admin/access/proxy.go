package access

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxy says which reverse proxies are trusted, and how they name users.
type Proxy struct {
	Networks []netip.Prefix // whose X-Forwarded-For, X-Forwarded-Proto and user header are believed
	Header   string         // that names the user; "" = none
	Role     Role           // of users whom the proxy names and the file of users does not; None refuses them
}

// peer returns the address of the other end of the connection, and whether it is a trusted proxy.
func (p Proxy) peer(r *http.Request) (netip.Addr, bool) {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	return at.Addr().Unmap(), p.trusts(at.Addr())
}

func (p Proxy) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(p.Networks, func(n netip.Prefix) bool { return n.Contains(a.Unmap().WithZone("")) })
}

// address returns the address of the client: the last one in X-Forwarded-For that is no trusted proxy. Addresses
// before it are the client's own words.
func (p Proxy) address(r *http.Request) netip.Addr {
	at, trusted := p.peer(r)
	if !trusted {
		return at
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		hop = strings.TrimSpace(hop)
		a, err := netip.ParseAddr(hop)
		if err != nil {
			with, err := netip.ParseAddrPort(hop)
			if err != nil {
				return at
			}
			a = with.Addr()
		}
		if at = a.Unmap(); !p.trusts(at) {
			return at
		}
	}
	return at
}

// encrypted reports whether the browser sent a request over TLS to a trusted proxy.
func (p Proxy) encrypted(r *http.Request) bool {
	_, trusted := p.peer(r)
	return trusted && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// user returns the user whom a trusted proxy names. A header that appears twice names nobody.
func (p Proxy) user(r *http.Request, known []User) (User, bool) {
	name := p.names(r)
	if name == "" {
		return User{}, false
	}
	if at := userAt(known, name); at >= 0 {
		return known[at], true
	}
	return User{Name: name, Role: p.Role}, p.Role > None
}

// names returns the name in the header of a trusted proxy, or "".
func (p Proxy) names(r *http.Request) string {
	if p.Header == "" {
		return ""
	}
	_, trusted := p.peer(r)
	all := r.Header.Values(p.Header)
	if !trusted || len(all) != 1 || CheckName(all[0]) != nil {
		return ""
	}
	return all[0]
}

// Place returns the part of an address that one client can choose: of IPv6, a network of 64 bits.
func Place(a netip.Addr) string {
	if a.Is6() {
		if n, err := a.WithZone("").Prefix(64); err == nil {
			return n.String()
		}
	}
	return a.String()
}

// hostOf returns a Host header without its port.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
