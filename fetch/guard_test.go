package fetch_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/arcrawl/arcrawl/fetch"
)

func TestIsPublic(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"0.0.0.0", "0.255.255.255", "10.0.0.1", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
		"172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.255",
		"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "100:0:0:1::1", "2001::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::", "3fff::1",
		"4000::1", "5f00::1", "fc00::1", "fdff::1", "fe80::1", "fec0::1", "ff02::1",
	} {
		if fetch.IsPublic(netip.MustParseAddr(s)) {
			t.Errorf("IsPublic(%s) = true, want false", s)
		}
	}
	for _, s := range []string{
		"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.0",
		"192.0.1.1", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2a00:1450::1",
	} {
		if !fetch.IsPublic(netip.MustParseAddr(s)) {
			t.Errorf("IsPublic(%s) = false, want true", s)
		}
	}
}

func TestGuardRefusesForbiddenAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, address, shown string }{
		{"loopback", "127.0.0.1:80", "127.0.0.1"},
		{"IPv6 loopback", "[::1]:80", "::1"},
		{"IPv4 inside IPv6", "[::ffff:10.0.0.1]:80", "10.0.0.1"},
		{"link local with a zone", "[fe80::1%lo]:80", "fe80::1"},
		{"a cloud's metadata service", "169.254.169.254:80", "169.254.169.254"},
	} {
		conn, err := fetch.Guard([]netip.Prefix{netip.MustParsePrefix("192.168.0.0/16")})(t.Context(), "tcp", c.address)
		if conn != nil || !errors.Is(err, fetch.ErrForbiddenAddress) {
			t.Fatalf("%s: dialling %s: %v, want ErrForbiddenAddress", c.name, c.address, err)
		}
		for _, part := range []string{" " + c.shown + ";", "fetch.allow_networks", "host " + strings.Trim(strings.TrimSuffix(c.address, ":80"), "[]")} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not contain %q", c.name, err, part)
			}
		}
	}
}

func TestGuardAcceptsNetworksInEitherForm(t *testing.T) {
	t.Parallel()
	address := serve(t, func(c net.Conn, n int) { answering(pageOf(n), false)(c, n) })
	for _, prefix := range []string{"127.0.0.1/32", "127.0.0.0/8", "::ffff:127.0.0.0/104", "0.0.0.0/0"} {
		conn, err := fetch.Guard([]netip.Prefix{netip.MustParsePrefix(prefix)})(t.Context(), "tcp", address)
		if err != nil {
			t.Errorf("allowed %s: %v", prefix, err)
			continue
		}
		conn.Close()
	}
}

// always returns a function that returns the same addresses each time.
func always(addresses ...netip.Addr) func() []netip.Addr {
	return func() []netip.Addr { return addresses }
}

// dnsServer answers every question for an IPv4 address with the result of addresses.
func dnsServer(t *testing.T, addresses func() []netip.Addr) netip.AddrPort {
	t.Helper()
	return dnsServerWith(t, func(q dnsmessage.Question) ([]netip.Addr, dnsmessage.RCode) {
		if q.Type != dnsmessage.TypeA {
			return nil, dnsmessage.RCodeSuccess
		}
		return addresses(), dnsmessage.RCodeSuccess
	})
}

// dnsServerWith starts a server of names that answers with the addresses and the code that answer returns.
func dnsServerWith(t *testing.T, answer func(dnsmessage.Question) ([]netip.Addr, dnsmessage.RCode)) netip.AddrPort {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	done := make(chan bool)
	t.Cleanup(func() { server.Close(); <-done })
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			q := m.Questions[0]
			addresses, code := answer(q)
			m.RCode = code
			if q.Type == dnsmessage.TypeA {
				for _, a := range addresses {
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 300},
						Body:   &dnsmessage.AResource{A: a.As4()},
					})
				}
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = server.WriteTo(answer, from)
			}
		}
	}()
	return netip.MustParseAddrPort(server.LocalAddr().String())
}

func TestGuardRefusesANameThatMovesToAForbiddenAddress(t *testing.T) {
	t.Parallel()
	allowed, forbidden := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	allow := []netip.Prefix{netip.PrefixFrom(allowed, 32)}
	address := serve(t, func(c net.Conn, n int) {
		answering("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", true)(c, n)
	})
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	for _, c := range []struct {
		name   string
		answer func(n int64) []netip.Addr
		want   []int // statuses of visits one after the other
	}{
		{"it moves", func(n int64) []netip.Addr { return []netip.Addr{[]netip.Addr{allowed, forbidden}[min(n, 2)-1]} }, []int{200, -2, -2}},
		{"it has both", func(int64) []netip.Addr { return []netip.Addr{forbidden, allowed} }, []int{200, 200}},
		{"it has none", func(int64) []netip.Addr { return nil }, []int{-1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			server := dnsServer(t, func() []netip.Addr { return c.answer(asked.Add(1)) })
			resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "udp", server.String())
			}}
			client := newClient(t, fetch.Options{Dial: fetch.GuardWith(allow, resolver)})
			for i, want := range c.want {
				got := get(t, client, fetch.Request{URI: parse(t, "http://news.example:"+port+"/")})
				if got.Status != want || (want == -2) != errors.Is(got.Misfortune, fetch.ErrForbiddenAddress) {
					t.Errorf("visit %d: status %d, %v, want %d", i+1, got.Status, got.Misfortune, want)
				}
			}
		})
	}
}

// TestForbiddenAddressSaysWhatToDo checks that the misfortune of a host with a private address is short and ends with
// the remedy. A client without a dialer refuses such a host.
func TestForbiddenAddressSaysWhatToDo(t *testing.T) {
	t.Parallel()
	client := fetch.New(fetch.Options{})
	defer client.Close()
	got := get(t, client, fetch.Request{URI: parse(t, "http://127.0.0.1:8099/")})
	const want = "address is not public: host 127.0.0.1 is at 127.0.0.1; to crawl it, add its network to fetch.allow_networks and restart"
	if got.Status != fetch.ConnectFailed || got.Misfortune == nil || got.Misfortune.Error() != want {
		t.Errorf("status %d, %v; want %q", got.Status, got.Misfortune, want)
	}
}

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

// TestExpiredCertificatesAreAcceptedOnlyIfAsked connects to servers with certificates that are wrong in several ways.
// An accepted one is recorded, also when the connection is used again.
func TestExpiredCertificatesAreAcceptedOnlyIfAsked(t *testing.T) {
	t.Parallel()
	now := time.Now()
	past, future := now.Add(-48*time.Hour), now.Add(48*time.Hour)
	for _, c := range []struct {
		name          string
		from, until   time.Time
		host          net.IP
		trusted, asks bool
		want          string // of the misfortune; "" = a page
		accepted      bool
	}{
		{"valid", past, future, net.IPv4(127, 0, 0, 1), true, true, "", false},
		{"expired", past, now.Add(-time.Hour), net.IPv4(127, 0, 0, 1), true, true, "", true},
		{"expired and not asked for", past, now.Add(-time.Hour), net.IPv4(127, 0, 0, 1), true, false, "expired", false},
		{"not valid yet", future, future.Add(time.Hour), net.IPv4(127, 0, 0, 1), true, true, "not yet valid", false},
		{"expired, of another host", past, now.Add(-time.Hour), net.IPv4(127, 0, 0, 2), true, true, "127.0.0.2", false},
		{"expired, of nobody", past, now.Add(-time.Hour), net.IPv4(127, 0, 0, 1), false, true, "unknown authority", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			certificate, root := issue(t, c.from, c.until, c.host)
			if !c.trusted {
				root = x509.NewCertPool()
			}
			address := serve(t, func(conn net.Conn, _ int) {
				secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}})
				r := bufio.NewReader(secure)
				for n := 1; n <= 3; n++ {
					if _, err := r.Peek(1); err != nil {
						return
					}
					request(r)
					io.WriteString(secure, pageOf(n))
				}
			})
			client := newClient(t, fetch.Options{TLS: &tls.Config{RootCAs: root}})
			for range 2 {
				got := get(t, client, fetch.Request{URI: parse(t, "https://"+address+"/"), AcceptExpired: c.asks})
				if c.want != "" {
					if got.Status != fetch.ConnectFailed || !strings.Contains(fmt.Sprint(got.Misfortune), c.want) {
						t.Errorf("status %d, %v; want a failure with %q", got.Status, got.Misfortune, c.want)
					}
					continue
				}
				if got.Status != 200 || got.Security == nil ||
					strings.Contains(got.Security.Accepted, "expired") != c.accepted ||
					!strings.HasPrefix(got.Security.Version, "tls/1.") || !strings.HasPrefix(got.Security.Certificate, "sha256:") {
					t.Errorf("status %d, %+v, %v; accepted: want %t", got.Status, got.Security, got.Misfortune, c.accepted)
				}
			}
			got := get(t, client, fetch.Request{URI: parse(t, "https://"+address+"/")})
			if valid := c.want == "" && !c.accepted; (got.Status == 200) != valid {
				t.Errorf("status %d on a connection that is not asked to accept an expired certificate", got.Status)
			}
		})
	}
}

// issue returns a certificate of an address, and the roots that verify it.
func issue(t *testing.T, from, until time.Time, host net.IP) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: from, NotAfter: until,
		IPAddresses: []net.IP{host}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	must(t, err)
	parsed, err := x509.ParseCertificate(der)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}
