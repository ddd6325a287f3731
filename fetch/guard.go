package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// ErrForbiddenAddress means that a host has an address that is not public and that no setting allows.
var ErrForbiddenAddress = errors.New("address is not public")

// special lists the blocks of the IANA special-purpose address registries that are not globally reachable, the blocks
// that embed IPv4 addresses (64:ff9b::/96, 2002::/16), and multicast. IPv6 blocks outside globalUnicast need not be
// listed: IANA has allocated nothing there.
var (
	globalUnicast = netip.MustParsePrefix("2000::/3")

	special = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),       // this network, RFC 791
		netip.MustParsePrefix("10.0.0.0/8"),      // private use, RFC 1918
		netip.MustParsePrefix("100.64.0.0/10"),   // shared address space, RFC 6598
		netip.MustParsePrefix("127.0.0.0/8"),     // loopback, RFC 1122
		netip.MustParsePrefix("169.254.0.0/16"),  // link local, RFC 3927
		netip.MustParsePrefix("172.16.0.0/12"),   // private use, RFC 1918
		netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments, RFC 6890
		netip.MustParsePrefix("192.0.2.0/24"),    // documentation, RFC 5737
		netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relay anycast, RFC 7526
		netip.MustParsePrefix("192.168.0.0/16"),  // private use, RFC 1918
		netip.MustParsePrefix("198.18.0.0/15"),   // benchmarking, RFC 2544
		netip.MustParsePrefix("198.51.100.0/24"), // documentation, RFC 5737
		netip.MustParsePrefix("203.0.113.0/24"),  // documentation, RFC 5737
		netip.MustParsePrefix("224.0.0.0/4"),     // multicast, RFC 5771
		netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and limited broadcast, RFC 1112
		netip.MustParsePrefix("2001::/23"),       // protocol assignments, RFC 2928; holds Teredo
		netip.MustParsePrefix("2001:db8::/32"),   // documentation, RFC 3849
		netip.MustParsePrefix("2002::/16"),       // 6to4, RFC 3056
		netip.MustParsePrefix("3fff::/20"),       // documentation, RFC 9637
	}
)

// Guard returns the dialer for everything that is fetched. It resolves names and tries addresses as [net.Dialer] does,
// but refuses every address that is neither public nor in an allowed prefix. It decides at the moment of connecting,
// so a name that later resolves to another address (DNS rebinding) is refused too. The error wraps
// [ErrForbiddenAddress] and names the host, the address and the setting. The networks in of are allowed for single
// hosts only. All this holds for every [Way], too.
func Guard(allow []netip.Prefix, of ...HostNetwork) Dialer {
	return guard(allow, of, systemNames())
}

// HostNetwork is a network that one host may be at, although its addresses are not public.
type HostNetwork struct {
	Host    string // without port; the hosts below it are others
	Network netip.Prefix
}

// unmapped returns a network with its addresses as IPv4, if it holds IPv4 addresses in IPv6 notation.
func unmapped(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

func guard(allow []netip.Prefix, of []HostNetwork, resolver *net.Resolver) Dialer {
	allow = slices.Clone(allow)
	for i, p := range allow {
		allow[i] = unmapped(p)
	}
	hosts := map[string][]netip.Prefix{}
	for _, n := range of {
		hosts[n.Host] = append(hosts[n.Host], unmapped(n.Network))
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if w := WayOf(ctx); w != nil {
			return w.dial(ctx, address, resolver, func(resolved string) error {
				return checkAddress(allow, hosts, address, resolved)
			})
		}
		d := net.Dialer{
			Resolver: resolver,
			ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
				return checkAddress(allow, hosts, address, resolved)
			},
		}
		return d.DialContext(ctx, network, address)
	}
}

// checkAddress returns an error if resolved, the numeric address of the host in asked, is forbidden. hosts holds the
// networks of single hosts.
func checkAddress(allow []netip.Prefix, hosts map[string][]netip.Prefix, asked, resolved string) error {
	to, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", asked, err)
	}
	ip := to.Addr().Unmap().WithZone("")
	inside := func(p netip.Prefix) bool { return p.Contains(ip) }
	if IsPublic(ip) || slices.ContainsFunc(allow, inside) {
		return nil
	}
	host, _, err := net.SplitHostPort(asked)
	if err != nil {
		host = asked
	}
	if slices.ContainsFunc(hosts[strings.TrimSuffix(host, ".")], inside) {
		return nil
	}
	return fmt.Errorf("%w: host %s is at %s; to crawl it, add its network to fetch.allow_networks and restart", ErrForbiddenAddress, host, ip)
}

// IsPublic reports whether ip, unmapped and without zone, is globally routable.
func IsPublic(ip netip.Addr) bool {
	if ip.Is6() && !globalUnicast.Contains(ip) {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) })
}
