package fetch_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/arcrawl/arcrawl/fetch"
)

// A network that is allowed for one host is not allowed for the names of strangers that point to it.
func TestANetworkIsAllowedForOneHost(t *testing.T) {
	t.Parallel()
	address := serve(t, answering(withLength("", "hello"), true))
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	network := netip.MustParsePrefix("127.0.0.0/8")
	for _, c := range []struct {
		host, asked string
		allowed     bool
	}{
		{"127.0.0.1", "127.0.0.1", true},
		{"localhost", "localhost", true},
		{"intranet.library.example", "127.0.0.1", false},
		{"intranet.library.example", "localhost", false},
		{"library.example", "localhost", false},
	} {
		dial := fetch.Guard(nil, fetch.HostNetwork{Host: c.host, Network: network})
		k, err := dial(t.Context(), "tcp4", net.JoinHostPort(c.asked, port))
		if err == nil {
			k.Close()
		}
		if (err == nil) != c.allowed || err != nil && !errors.Is(err, fetch.ErrForbiddenAddress) {
			t.Errorf("%s, allowed for %s: %v, want allowed %v", c.asked, c.host, err, c.allowed)
		}
	}
}
