package fetch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/uri"
)

func TestHeadsAreRepaired(t *testing.T) {
	t.Parallel()
	const status = "HTTP/1.1 200 OK\r\n"
	for _, row := range []struct {
		name, fields string
		header       map[string]string
		length       int64
		repaired     int
	}{
		{"nothing to repair", "A: b\r\nContent-Length: 2\r\n", map[string]string{"A": "b"}, 2, 0},
		{"a folded line", "A: b\r\n c\r\nContent-Length: 2\r\n", map[string]string{"A": "b c"}, 2, 1},
		{"a control byte", "A: b\x01c\r\nContent-Length: 2\r\n", map[string]string{"A": "b c"}, 2, 1},
		{"a zero byte", "Server: x\x00\r\nContent-Length: 2\r\n", map[string]string{"Server": "x"}, 2, 1},
		{"a carriage return", "A: b\rc\r\nContent-Length: 2\r\n", map[string]string{"A": "b c"}, 2, 1},
		{"a delete byte in a folded line", "A: b\r\n\tc\x7fd\r\nContent-Length: 2\r\n", map[string]string{"A": "b c d"}, 2, 2},
		{"a control byte in the type", "Content-Type: text/html\x02\r\nContent-Length: 2\r\n", map[string]string{"Content-Type": "text/html"}, 2, 1},
		{"a control byte in a length", "Content-Length: 2\x03\r\nA: b\r\n", map[string]string{"A": "b"}, 2, 1},
		{"a folded length", "A: \x01\r\nContent-Length:\r\n 2\r\n", map[string]string{"A": ""}, 2, 2},
		{"no field", "rubbish\r\nA: b\r\nContent-Length: 2\r\n", map[string]string{"A": "b"}, 2, 1},
	} {
		head := status + row.fields + "\r\n"
		res, repaired, err := parse(bufio.NewReader(nil), &gatedReader{body: strings.NewReader("hi")}, []byte(head))
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		for name, want := range row.header {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", row.name, name, got, want)
			}
		}
		if res.ContentLength != row.length || repaired != row.repaired {
			t.Errorf("%s: length %d, %d lines repaired; want %d and %d", row.name, res.ContentLength, repaired, row.length, row.repaired)
		}
	}
}

// A quadratic repair would allocate once for each line, and copy the value each time.
func TestFoldedLinesAreRepairedInLinearTime(t *testing.T) {
	head := []byte("HTTP/1.1 200 OK\r\nrubbish\r\nA: b\r\n" + strings.Repeat(" \n", 256<<10) + "\r\n\r\n")
	var did repair
	allocations := testing.AllocsPerRun(1, func() { _, did = clean(head) })
	if did.folded != 256<<10 || allocations > 100 {
		t.Errorf("%d lines were unfolded with %.0f allocations, want %d with at most 100", did.folded, allocations, 256<<10)
	}
}

// faultyDecoder panics as a decoder with a fault would.
type faultyDecoder struct{}

func (faultyDecoder) Read([]byte) (int, error) { panic("index out of range") }

// An error of the coding leaves the record whole: the rest of the payload is read without the decoder.
func TestPanicOfADecoderIsAnErrorOfTheCoding(t *testing.T) {
	t.Parallel()
	l := &layer{codecs: &codecs{}, coding: "br", from: bytes.NewReader(nil), decoder: faultyDecoder{}}
	_, err := l.Read(make([]byte, 10))
	if panicked := (*panics.Error)(nil); !errors.Is(err, ErrCoding) || !errors.As(err, &panicked) {
		t.Errorf("the error is %v, want %v and the panic", err, ErrCoding)
	}
	if l.decoder != nil {
		t.Error("the faulty decoder may be used again")
	}
	l.release()
}

// TestSecretFieldsAreReplacedInWhatIsKept cuts a request at each byte: no part of a secret is ever kept.
func TestSecretFieldsAreReplacedInWhatIsKept(t *testing.T) {
	t.Parallel()
	u, err := uri.Parse("http://a.example/page")
	if err != nil {
		t.Fatal(err)
	}
	raw, secrets, err := requestBytes(Request{URI: u, Header: []Field{
		{Name: "A", Value: "1"}, {Name: "B", Value: "2"},
	}, Secrets: []Field{{Name: "Authorization", Value: "XYZ"}, {Name: "Cookie", Value: "ZZZZZZZZZZZZZZZ"}}}, keepAlive)
	if err != nil {
		t.Fatal(err)
	}
	want := "GET /page HTTP/1.1\r\nHost: a.example\r\nA: 1\r\nB: 2\r\n" +
		"Authorization: [redacted]\r\nCookie: [redacted]\r\nConnection: keep-alive\r\n\r\n"
	if got := string(redact(raw, secrets)); got != want {
		t.Errorf("kept:\n%s\nwant:\n%s", got, want)
	}
	for n := range raw {
		if got := string(redact(raw[:n], secrets)); strings.ContainsAny(got, "XYZ") {
			t.Fatalf("after %d bytes this is kept: %q", n, got)
		}
	}
	if _, _, err := requestBytes(Request{URI: u, Secrets: []Field{{Name: "A", Value: "XYZ\r\n"}}}, keepAlive); err == nil ||
		strings.Contains(err.Error(), "XYZ") {
		t.Errorf("a secret with a line end: %v", err)
	}
}

// TestAPeriodOfABodyDoesNotEndWriting writes to a connection after the end of a period of its body, as HTTP/2 does to
// receive more. A write that fails would break TLS, and cut the body.
func TestAPeriodOfABodyDoesNotEndWriting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, there) }()
		defer func() { _, _ = here.Close(), there.Close() }()
		k, p := &conn{Conn: here}, pace{}
		r := Request{Limits: Limits{Body: time.Hour, Grace: time.Second, MinRate: 1}}
		if err := p.begin(t.Context(), k, r, time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if _, err := k.Write([]byte("more")); err != nil {
			t.Errorf("write after the first period: %v", err)
		}
		if _, err := k.Read(make([]byte, 1)); !isTimeout(err) {
			t.Errorf("read after the first period: %v", err)
		}
		time.Sleep(time.Hour)
		if _, err := k.Write([]byte("more")); !isTimeout(err) {
			t.Errorf("write after the end of the body: %v", err)
		}
	})
}

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
