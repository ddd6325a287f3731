package fetch

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// answerTo returns the answer to a question: an alias whose IPv4 address is valid for 300 seconds, its IPv6 address for
// 60. Over UDP it is truncated if the name asks for that.
func answerTo(question []byte, udp bool) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	m.Response, m.Additionals = true, nil
	q, alias := m.Questions[0], dnsmessage.MustNewName("cdn.example.")
	if m.Truncated = udp && q.Name.String() == "long.example."; !m.Truncated {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 5},
			Body:   &dnsmessage.CNAMEResource{CNAME: alias},
		}}
		switch q.Type {
		case dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: alias, Class: q.Class, TTL: 300},
				Body:   &dnsmessage.AResource{A: [4]byte{192, 0, 2, 7}},
			})
		case dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: alias, Class: q.Class, TTL: 60},
				Body:   &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr("2001:db8::7").As16()},
			})
		}
	}
	b, err := m.Pack()
	if err != nil {
		return nil
	}
	return b
}

// forged returns the answer of a stranger who does not know the number of the question, and says that all is valid for
// a second.
func forged(answer []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(answer) != nil {
		return nil
	}
	m.ID++
	m.Truncated = false
	for i := range m.Answers {
		m.Answers[i].Header.TTL = 1
	}
	b, err := m.Pack()
	if err != nil {
		return nil
	}
	return b
}

// serveNames answers questions over UDP and TCP at the same port. Over UDP a stranger is faster.
func serveNames(t *testing.T) (address string) {
	t.Helper()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = udp.LocalAddr().String()
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		udp.Close()
		t.Skipf("the port of the UDP socket is taken over TCP: %v", err)
	}
	done := make(chan bool, 2)
	t.Cleanup(func() { udp.Close(); tcp.Close(); <-done; <-done })
	go func() {
		defer func() { done <- true }()
		for b := make([]byte, 1500); ; {
			n, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			answer := answerTo(b[:n], true)
			_, _ = udp.WriteTo(forged(answer), from)
			_, _ = udp.WriteTo(answer, from)
		}
	}()
	go func() {
		defer func() { done <- true }()
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			size := make([]byte, 2)
			if _, err := io.ReadFull(c, size); err == nil {
				question := make([]byte, binary.BigEndian.Uint16(size))
				if _, err := io.ReadFull(c, question); err == nil {
					b := answerTo(question, false)
					_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...))
				}
			}
			c.Close()
		}
	}()
	return address
}

// TestALookUpNotesTheTTLs looks up names whose answers come over UDP and TCP.
func TestALookUpNotesTheTTLs(t *testing.T) {
	t.Parallel()
	at := serveNames(t)
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialNameServer(ctx, network, at)
	}}
	four, six := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")
	for _, name := range []string{"short.example.", "long.example."} {
		var ttls ttlsOfNames
		found, err := r.LookupNetIP(withTTLs(t.Context(), &ttls), "ip", name)
		if got := ttls.get(); err != nil || len(found) != 2 || len(got) != 2 || got[four] != 300 || got[six] != 60 {
			t.Errorf("%s: %v, %v, ttlsOfNames %v", name, found, err, got)
		}
		if _, err := r.LookupNetIP(t.Context(), "ip", name); err != nil {
			t.Errorf("%s, when nobody asks for the ttlsOfNames: %v", name, err)
		}
	}
}

// TestTTLsAreBounded notes answers of a server that exaggerates, and bytes that are no answer.
func TestTTLsAreBounded(t *testing.T) {
	t.Parallel()
	var ttls ttlsOfNames
	for _, message := range [][]byte{nil, {0, 1}, make([]byte, 12), make([]byte, 500)} {
		ttls.note(questionIn(message), message)
	}
	if got := ttls.get(); got != nil {
		t.Errorf("bytes that are no answer: %v", got)
	}
	for i := range 300 {
		ttls.add(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 1<<31+5)
	}
	first := netip.AddrFrom4([4]byte{10, 0, 0, 0})
	if got := ttls.get(); len(got) != maxTTLs || got[first] != 0 {
		t.Errorf("%d addresses, the first one for %d s", len(got), got[first])
	}
}

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
