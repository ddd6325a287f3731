package fetch

import (
	"context"
	"net"
	"net/netip"
	"testing"
)

// TestALookupThatIsInterruptedIsNoFailureOfItsServer interrupts look-ups at a server that does not answer, as when the
// daemon stops or a visit has no time left.
func TestALookupThatIsInterruptedIsNoFailureOfItsServer(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	all := newNameServers([]netip.AddrPort{netip.MustParseAddrPort(silent.LocalAddr().String())})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * maxNameFailures {
		if _, err := all.Lookup(ctx, "www.example"); err == nil {
			t.Fatal("a silent server has answered")
		}
	}
	if n := all[0].failures.Load(); n != 0 {
		t.Errorf("%d interrupted look-ups count as failures of their server, want none", n)
	}
}
