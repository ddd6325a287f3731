package fetch_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/demosite"
)

// proxyServer is a proxy of the test. It records what it is asked for.
type proxyServer struct {
	address string
	mu      sync.Mutex
	asked   []string
}

func (p *proxyServer) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, fmt.Sprintf(format, args...))
}

func (p *proxyServer) notes() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.asked, "; ")
}

// join copies between two connections until either ends.
func join(a net.Conn, from io.Reader, b net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(b, from); b.Close() })
	both.Go(func() { _, _ = io.Copy(a, b); a.Close() })
	both.Wait()
}

// httpProxy serves CONNECT. If status is set, it answers with it instead.
func httpProxy(t *testing.T, status string) *proxyServer {
	t.Helper()
	return httpProxyOver(t, status, func(c net.Conn) net.Conn { return c })
}

// httpsProxy serves CONNECT over TLS, with a certificate of a root of its own.
func httpsProxy(t *testing.T, status string) (*proxyServer, *x509.Certificate) {
	t.Helper()
	now := time.Now()
	certificate, _ := issue(t, now.Add(-time.Hour), now.Add(time.Hour), net.IPv4(127, 0, 0, 1))
	root, err := x509.ParseCertificate(certificate.Certificate[0])
	must(t, err)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	return httpProxyOver(t, status, func(c net.Conn) net.Conn { return tls.Server(c, config) }), root
}

func httpProxyOver(t *testing.T, status string, over func(net.Conn) net.Conn) *proxyServer {
	t.Helper()
	p := &proxyServer{}
	p.address = serve(t, func(c net.Conn, _ int) {
		c = over(c)
		r := bufio.NewReader(c)
		raw, ok := request(r)
		if !ok {
			return
		}
		line, rest, _ := strings.Cut(string(raw), "\r\n")
		words := strings.Fields(line)
		_, credentials, _ := strings.Cut(rest, "Proxy-Authorization: Basic ")
		credentials, _, _ = strings.Cut(credentials, "\r\n")
		user, _ := base64.StdEncoding.DecodeString(credentials)
		p.note("%s %s as %q", words[0], words[1], user)
		if status != "" {
			_, _ = io.WriteString(c, "HTTP/1.1 "+status+"\r\n\r\n")
			return
		}
		to, err := net.Dial("tcp", words[1])
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		join(c, r, to)
	})
	return p
}

// socksProxy serves SOCKS5 with a user name and a password. code is its answer to requests.
func socksProxy(t *testing.T, code byte) *proxyServer {
	t.Helper()
	p := &proxyServer{}
	p.address = serve(t, func(c net.Conn, _ int) {
		r := bufio.NewReader(c)
		read := func(n int) []byte {
			b := make([]byte, n)
			if _, err := io.ReadFull(r, b); err != nil {
				return make([]byte, n)
			}
			return b
		}
		methods := read(int(read(2)[1]))
		if len(methods) != 1 || methods[0] != 2 {
			_, _ = c.Write([]byte{5, 0xff})
			return
		}
		_, _ = c.Write([]byte{5, 2})
		user := read(int(read(2)[1]))
		password := read(int(read(1)[0]))
		_, _ = c.Write([]byte{1, 0})
		head := read(4)
		if head[3] != 1 {
			p.note("asked for an address of kind %d", head[3])
			return
		}
		ip, port := read(4), read(2)
		to := net.JoinHostPort(net.IP(ip).String(), fmt.Sprint(int(port[0])<<8|int(port[1])))
		p.note("CONNECT %s as %q", to, string(user)+":"+string(password))
		_, _ = c.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0})
		if code != 0 {
			return
		}
		if site, err := net.Dial("tcp", to); err == nil {
			join(c, r, site)
		}
	})
	return p
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	return port
}

// TestAProxyGetsAddressesThatAreAllowed fetches a page through proxies. The host is resolved here, by DNS servers of
// its own, so that a host at a forbidden address never reaches the proxy.
func TestAProxyGetsAddressesThatAreAllowed(t *testing.T) {
	t.Parallel()
	const password = "s3cret"
	site := serve(t, func(c net.Conn, n int) { answering(pageOf(n), false)(c, n) })
	port, dns := portOf(t, site), []netip.AddrPort{dnsServer(t, always(netip.MustParseAddr("127.0.0.1")))}
	overTLS, root := httpsProxy(t, "")
	for scheme, proxy := range map[string]*proxyServer{
		fetch.HTTPProxy: httpProxy(t, ""), fetch.HTTPSProxy: overTLS, fetch.SOCKS5Proxy: socksProxy(t, 0),
	} {
		way := fetch.NewWay(fetch.WayOptions{
			Proxy: fetch.Proxy{
				Name: "office", Scheme: scheme, Address: proxy.address, User: "arcrawl", Password: password,
				Roots: []*x509.Certificate{root},
			},
			Servers: dns,
		})
		r := fetch.Request{URI: parse(t, "http://news.example:"+port+"/"), Way: way}
		got := get(t, newClient(t, fetch.Options{}), r)
		if !strings.HasPrefix(block(t, got), "HTTP/1.1 200") || got.IP.String() != "127.0.0.1" || len(got.Lookup) != 1 ||
			got.TTLs[got.IP] != 300 {
			t.Errorf("%s: status %d, %v, address %s, look-up %v, valid for %v s",
				scheme, got.Status, got.Misfortune, got.IP, got.Lookup, got.TTLs)
		}
		want := fmt.Sprintf("CONNECT 127.0.0.1:%s as %q", port, "arcrawl:"+password)
		if proxy.notes() != want {
			t.Errorf("%s: the proxy was asked for %s, want %s", scheme, proxy.notes(), want)
		}
		if text := fmt.Sprintf("%s %v %+v", way, got.Misfortune, r); strings.Contains(text, password) {
			t.Errorf("%s: the password is shown: %s", scheme, text)
		}
		refused := get(t, newClient(t, fetch.Options{Dial: fetch.Guard(nil)}), r)
		if !errors.Is(refused.Misfortune, fetch.ErrForbiddenAddress) || errors.Is(refused.Misfortune, fetch.ErrProxy) {
			t.Errorf("%s: a host at a private address: status %d, %v", scheme, refused.Status, refused.Misfortune)
		}
		if proxy.notes() != want {
			t.Errorf("%s: the proxy was asked for a private address: %s", scheme, proxy.notes())
		}
	}
}

// TestFaultsOfAProxyAreToldFromFaultsOfTheHost asks proxies that refuse, fail, or do not exist.
func TestFaultsOfAProxyAreToldFromFaultsOfTheHost(t *testing.T) {
	t.Parallel()
	site := serve(t, func(c net.Conn, n int) { answering(pageOf(n), false)(c, n) })
	closed, err := demosite.FreeAddress()
	must(t, err)
	const user = "arcrawl"
	overTLS, root := httpsProxy(t, "407 Proxy Authentication Required")
	unknown, _ := httpsProxy(t, "")
	for _, c := range []struct {
		name, scheme, address, user string
		proxy                       bool // it is the proxy's fault
		want                        string
	}{
		{"nobody listens", fetch.HTTPProxy, closed, "", true, "connection refused"},
		{"it wants credentials", fetch.HTTPProxy, httpProxy(t, "407 Proxy Authentication Required").address, "", true, "status 407"},
		{"it forbids the port", fetch.HTTPProxy, httpProxy(t, "403 Forbidden").address, user, false, "which ports the proxy allows"},
		{"it does not know the kind of address", fetch.HTTPProxy, httpProxy(t, "400 Bad Request").address, "", false, "status 400"},
		{"it makes no tunnels", fetch.HTTPProxy, httpProxy(t, "405 Method Not Allowed").address, "", true, "status 405"},
		{"it cannot reach the host", fetch.HTTPProxy, httpProxy(t, "503 Service Unavailable").address, "", false, "status 503"},
		{"it is a web server", fetch.HTTPProxy, serve(t, answering("SSH-2.0 hello\r\n\r\n", true)), "", true, "does not answer as an HTTP proxy"},
		{"its answer has no end", fetch.HTTPProxy, serve(t, answering("HTTP/1.1 200 OK\r\n"+strings.Repeat("a", 20<<10), false)), "", true, "too long"},
		{"it hangs up", fetch.HTTPProxy, serve(t, func(c net.Conn, _ int) { request(bufio.NewReader(c)) }), "", false, "did not answer"},
		{"it wants credentials", fetch.HTTPSProxy, overTLS.address, "", true, "status 407"},
		{"its root is unknown", fetch.HTTPSProxy, unknown.address, "", true, "unknown authority"},
		{"it knows no TLS", fetch.HTTPSProxy, httpProxy(t, "").address, "", true, "TLS handshake"},
		{"it wants credentials", fetch.SOCKS5Proxy, socksProxy(t, 0).address, "", true, "wants other credentials"},
		{"it cannot reach the host", fetch.SOCKS5Proxy, socksProxy(t, 4).address, user, false, "host unreachable"},
		{"it forbids the address", fetch.SOCKS5Proxy, socksProxy(t, 2).address, user, false, "its rules do not allow it"},
		{"it fails", fetch.SOCKS5Proxy, socksProxy(t, 1).address, user, false, "general failure"},
		{"it does not know IPv6", fetch.SOCKS5Proxy, socksProxy(t, 8).address, user, false, "family of addresses"},
		{"it makes no tunnels", fetch.SOCKS5Proxy, socksProxy(t, 7).address, user, true, "code 7"},
		{"its code is unknown", fetch.SOCKS5Proxy, socksProxy(t, 255).address, user, true, "code 255"},
		{"it is a web server", fetch.SOCKS5Proxy, serve(t, func(c net.Conn, _ int) { io.WriteString(c, "HTTP/1.1 400\r\n\r\n") }), user, true, "SOCKS5"},
	} {
		t.Run(c.scheme+" "+c.name, func(t *testing.T) {
			t.Parallel()
			way := fetch.NewWay(fetch.WayOptions{
				Proxy: fetch.Proxy{
					Name: "office", Scheme: c.scheme, Address: c.address, User: c.user, Password: "s3cret",
					Roots: []*x509.Certificate{root},
				},
			})
			r := fetch.Request{URI: parse(t, "http://"+site+"/"), Way: way}
			if c.want == "TLS handshake" { // the proxy waits for the rest of a request
				r.Limits.Connect = time.Second
			}
			got := get(t, newClient(t, fetch.Options{}), r)
			if got.Status != fetch.ConnectFailed || errors.Is(got.Misfortune, fetch.ErrProxy) != c.proxy ||
				!strings.Contains(fmt.Sprint(got.Misfortune), c.want) || strings.Contains(fmt.Sprint(got.Misfortune), "s3cret") {
				t.Errorf("status %d, %v; want %q, a fault of the proxy: %t", got.Status, got.Misfortune, c.want, c.proxy)
			}
			if got.Request != nil {
				t.Errorf("a request was sent: %q", got.Request)
			}
		})
	}
}

// TestAConnectionThroughAProxyIsUsedAgain gets pages of several kinds of sites through an HTTP proxy, without and with
// TLS to the proxy. Bytes that a site sends between two requests are not taken for an answer.
func TestAConnectionThroughAProxyIsUsedAgain(t *testing.T) {
	t.Parallel()
	plain := serve(t, func(c net.Conn, n int) { answering(pageOf(n), false)(c, n) })
	rude := serve(t, func(c net.Conn, n int) { answering(pageOf(n)+"HTTP/1.1 201 Evil\r\n\r\n", false)(c, n) })
	server, trust := tlsConfigs(t)
	only1 := serve(t, func(c net.Conn, n int) { answering(pageOf(n), false)(tls.Server(c, server), n) })
	over2, _ := site2(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
	for _, scheme := range []string{fetch.HTTPProxy, fetch.HTTPSProxy} {
		for _, c := range []struct {
			address     string
			connections int
			is2         bool
		}{{"http://" + plain, 1, false}, {"https://" + only1, 1, false}, {over2, 1, true}, {"http://" + rude, 3, false}} {
			proxy, root := httpsProxy(t, "")
			if scheme == fetch.HTTPProxy {
				proxy = httpProxy(t, "")
			}
			client := newClient(t, fetch.Options{TLS: trust})
			way := fetch.NewWay(fetch.WayOptions{Proxy: fetch.Proxy{
				Name: "office", Scheme: scheme, Address: proxy.address, Roots: []*x509.Certificate{root},
			}})
			for range 3 {
				got := get(t, client, fetch.Request{URI: parse(t, c.address+"/"), Way: way, HTTP: fetch.HTTP2})
				if got.Status != 200 || !got.Complete || got.HTTP2 != c.is2 {
					t.Errorf("%s, %s: status %d, HTTP/2 %t, %v", scheme, c.address, got.Status, got.HTTP2, got.Misfortune)
				}
				time.Sleep(10 * time.Millisecond) // for what the site sends between two requests
			}
			if n := strings.Count(proxy.notes(), "CONNECT"); n != c.connections {
				t.Errorf("%s, %s: %d connections, want %d", scheme, c.address, n, c.connections)
			}
		}
	}
}

// TestAHostWithManyAddressesIsTriedAtFew asks a proxy for a host at sixty addresses, none of which can be reached.
func TestAHostWithManyAddressesIsTriedAtFew(t *testing.T) {
	t.Parallel()
	var all []netip.Addr
	for i := range 60 {
		all = append(all, netip.AddrFrom4([4]byte{127, 0, 0, byte(i + 1)}))
	}
	proxy := httpProxy(t, "503 Service Unavailable")
	way := fetch.NewWay(fetch.WayOptions{
		Proxy:   fetch.Proxy{Name: "office", Scheme: fetch.HTTPProxy, Address: proxy.address},
		Servers: []netip.AddrPort{dnsServer(t, always(all...))},
	})
	got := get(t, newClient(t, fetch.Options{}), fetch.Request{URI: parse(t, "http://news.example/"), Way: way})
	if n := strings.Count(proxy.notes(), "CONNECT"); got.Status != fetch.ConnectFailed || n < 2 || n > 20 {
		t.Errorf("status %d, %v; the proxy was asked for %d addresses", got.Status, got.Misfortune, n)
	}
}

// TestAConnectionIsUsedOnlyForItsWay fetches a page in three ways. Each has a connection of its own, which is used
// again.
func TestAConnectionIsUsedOnlyForItsWay(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	from := map[int]string{}
	site := serve(t, func(c net.Conn, n int) {
		mu.Lock()
		from[n], _, _ = net.SplitHostPort(c.RemoteAddr().String())
		mu.Unlock()
		answering(pageOf(n), false)(c, n)
	})
	proxy := httpProxy(t, "")
	client := newClient(t, fetch.Options{})
	source := func() *fetch.Way {
		return fetch.NewWay(fetch.WayOptions{Sources: []netip.Addr{netip.MustParseAddr("127.0.0.3")}})
	}
	ways := []*fetch.Way{nil, source(), fetch.NewWay(fetch.WayOptions{
		Proxy: fetch.Proxy{Name: "office", Scheme: fetch.HTTPProxy, Address: proxy.address},
	}), fetch.NewWay(fetch.WayOptions{
		Proxy: fetch.Proxy{Name: "office", Scheme: fetch.HTTPProxy, Address: proxy.address, User: "x"},
	})}
	for range 2 {
		ways[1] = source() // as a reload makes a new one
		for i, w := range ways {
			got := get(t, client, fetch.Request{URI: parse(t, "http://"+site+"/"), Way: w})
			wantContent(t, got, fmt.Sprintf("connection %d", i+1))
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if from[1] != "127.0.0.1" || from[2] != "127.0.0.3" {
		t.Errorf("the connections came from %v", from)
	}
}

// TestTheFamilyOfAddressesDecides asks for a family that a host does not have.
func TestTheFamilyOfAddressesDecides(t *testing.T) {
	t.Parallel()
	site := serve(t, func(c net.Conn, n int) { answering(pageOf(n), false)(c, n) })
	dns := []netip.AddrPort{dnsServer(t, always(netip.MustParseAddr("127.0.0.1")))}
	v6 := []netip.Addr{netip.MustParseAddr("::1")}
	for _, c := range []struct {
		o    fetch.WayOptions
		want int
	}{
		{fetch.WayOptions{Family: fetch.OnlyIPv4}, 200},
		{fetch.WayOptions{Family: fetch.PreferIPv6}, 200},
		{fetch.WayOptions{Family: fetch.OnlyIPv6}, fetch.ConnectFailed},
		{fetch.WayOptions{Sources: v6}, fetch.ConnectFailed},
	} {
		c.o.Servers = dns
		r := fetch.Request{URI: parse(t, "http://news.example:"+portOf(t, site)+"/"), Way: fetch.NewWay(c.o)}
		if got := get(t, newClient(t, fetch.Options{}), r); got.Status != c.want || len(got.Lookup) != 1 {
			t.Errorf("%s: status %d, %v, look-up %v; want %d", r.Way, got.Status, got.Misfortune, got.Lookup, c.want)
		}
	}
}

// TestTheNextDNSServerIsAskedOnlyAfterAFailure looks up hosts at servers that refuse, fail or answer.
func TestTheNextDNSServerIsAskedOnlyAfterAFailure(t *testing.T) {
	t.Parallel()
	closed, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	closed.Close()
	down := netip.MustParseAddrPort(closed.LocalAddr().String())
	const lookups = 40
	for _, c := range []struct {
		name         string
		first        dnsmessage.RCode
		down         bool // nobody listens at the first address
		want         int  // status
		least, most  int  // look-ups that reach the first server
		least2, max2 int  // look-ups that reach the second one
	}{
		{"the first one answers", dnsmessage.RCodeSuccess, false, 200, lookups, lookups, 0, 0},
		{"the first one says that there is no such host", dnsmessage.RCodeNameError, false, fetch.DNSFailed, lookups, lookups, 0, 0},
		{"the first one fails", dnsmessage.RCodeServerFailure, false, 200, 5, 9, lookups, lookups},
		{"the first one is down", 0, true, 200, 0, 0, lookups, lookups},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := serve(t, func(conn net.Conn, n int) { answering(pageOf(n), false)(conn, n) })
			var asked, asked2 lookupCount
			first := dnsServerWith(t, func(q dnsmessage.Question) ([]netip.Addr, dnsmessage.RCode) {
				asked.add(q.Name.String())
				if c.first != dnsmessage.RCodeSuccess {
					return nil, c.first
				}
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, c.first
			})
			if c.down {
				first = down
			}
			second := dnsServerWith(t, func(q dnsmessage.Question) ([]netip.Addr, dnsmessage.RCode) {
				asked2.add(q.Name.String())
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, 0
			})
			way := fetch.NewWay(fetch.WayOptions{Servers: []netip.AddrPort{first, second}})
			client := newClient(t, fetch.Options{})
			for i := range lookups {
				u := parse(t, fmt.Sprintf("http://host%d.example:%s/", i, portOf(t, site)))
				if got := get(t, client, fetch.Request{URI: u, Way: way}); got.Status != c.want {
					t.Fatalf("look-up %d: status %d, %v; want %d", i, got.Status, got.Misfortune, c.want)
				}
			}
			if n := asked.names(); n < c.least || n > c.most {
				t.Errorf("%d of %d look-ups reached the first server, want %d to %d", n, lookups, c.least, c.most)
			}
			if n := asked2.names(); n < c.least2 || n > c.max2 {
				t.Errorf("%d of %d look-ups reached the second server, want %d to %d", n, lookups, c.least2, c.max2)
			}
		})
	}
}

// lookupCount counts the names that a server was asked for.
type lookupCount struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (c *lookupCount) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !strings.HasSuffix(name, ".example.") {
		return // with a domain that the machine searches
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[name] = true
}

func (c *lookupCount) names() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seen)
}

// TestOldTLSAndOtherRootsAreAcceptedOnlyInTheirWay connects to a server that knows only TLS 1.0, with a certificate of
// a root of its own.
func TestOldTLSAndOtherRootsAreAcceptedOnlyInTheirWay(t *testing.T) {
	t.Parallel()
	now := time.Now()
	certificate, _ := issue(t, now.Add(-time.Hour), now.Add(time.Hour), net.IPv4(127, 0, 0, 1))
	root, err := x509.ParseCertificate(certificate.Certificate[0])
	must(t, err)
	address := serve(t, func(conn net.Conn, n int) {
		answering(pageOf(n), false)(tls.Server(conn, &tls.Config{
			Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10,
		}), n)
	})
	client := newClient(t, fetch.Options{})
	roots := []*x509.Certificate{root}
	for _, c := range []struct {
		o    fetch.WayOptions
		want string
	}{
		{fetch.WayOptions{MinTLS: tls.VersionTLS10, Roots: roots}, ""},
		{fetch.WayOptions{Roots: roots}, "protocol version"},
		{fetch.WayOptions{MinTLS: tls.VersionTLS10}, "unknown authority"},
		{fetch.WayOptions{}, "protocol version"},
	} {
		got := get(t, client, fetch.Request{URI: parse(t, "https://"+address+"/"), Way: fetch.NewWay(c.o)})
		ok := got.Status == 200 && got.Security.Version == "tls/1.0"
		if c.want != "" {
			ok = got.Status == fetch.ConnectFailed && strings.Contains(fmt.Sprint(got.Misfortune), c.want)
		}
		if !ok {
			t.Errorf("%s: status %d, %v; want %q", fetch.NewWay(c.o), got.Status, got.Misfortune, c.want)
		}
	}
}

// TestReachGoesTheGivenWay opens a connection through a proxy that does not exist.
func TestReachGoesTheGivenWay(t *testing.T) {
	t.Parallel()
	site := serve(t, func(c net.Conn, n int) { answering(pageOf(n), false)(c, n) })
	client := newClient(t, fetch.Options{})
	dead := fetch.NewWay(fetch.WayOptions{
		Proxy: fetch.Proxy{Name: "x", Scheme: fetch.HTTPProxy, Address: "127.0.0.1:1"},
	})
	if ctx := t.Context(); !client.Reach(ctx, nil, site, time.Second) || client.Reach(ctx, dead, site, time.Second) {
		t.Error("a canary is not asked in the given way")
	}
}

// TestRootsOfSitesAndOfAProxyAreNotConfused compares ways with the same certificates in other lists. A connection of
// one of them must not be used for another.
func TestRootsOfSitesAndOfAProxyAreNotConfused(t *testing.T) {
	t.Parallel()
	a, b := &x509.Certificate{Raw: []byte("0a")}, &x509.Certificate{Raw: []byte("0b")}
	way := func(sites, proxy []*x509.Certificate) *fetch.Way {
		return fetch.NewWay(fetch.WayOptions{
			Roots: sites, Proxy: fetch.Proxy{Name: "office", Scheme: fetch.HTTPSProxy, Address: "10.0.0.1:3128", Roots: proxy},
		})
	}
	one := way([]*x509.Certificate{a}, []*x509.Certificate{b})
	if !one.Same(way([]*x509.Certificate{a}, []*x509.Certificate{b})) {
		t.Error("equal ways are not the same")
	}
	if one.Same(way([]*x509.Certificate{a, b}, nil)) {
		t.Error("a way whose proxy has a root is the same as one where all sites have it")
	}
}
