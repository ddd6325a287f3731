package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ErrProxy means that a proxy does not work, which says nothing about the host.
var ErrProxy = errors.New("proxy does not work")

// ErrProxySilent means that a proxy did not answer, or hung up. The reason may be the proxy or the host.
var ErrProxySilent = errors.New("the proxy did not answer")

// The protocols of a proxy.
const (
	HTTPProxy   = "http"   // tunnels by CONNECT
	HTTPSProxy  = "https"  // the same, over TLS
	SOCKS5Proxy = "socks5" // RFC 1928
)

// Proxy is a server that connects to hosts on behalf of others. It may be on any address, because the operator names
// it. It receives the address of a host, never its name, so it cannot be led to an address that is not allowed. All
// requests go through a tunnel, so that their bytes stay exact.
type Proxy struct {
	Name     string // in the configuration; "" = no proxy
	Scheme   string // [HTTPProxy], [HTTPSProxy] or [SOCKS5Proxy]
	Address  string // host and port
	User     string // "" = no credentials
	Password string
	Roots    []*x509.Certificate // of an [HTTPSProxy], accepted in addition to the ones of the system
}

// fault returns the error of a proxy that does not work.
func (p *Proxy) fault(err error) error {
	return fmt.Errorf("%w: %s at %s: %w", ErrProxy, p.Name, p.Address, err)
}

// withoutValues is a context without values. A look-up of the proxy is no look-up of the host.
type withoutValues struct{ context.Context }

// Value returns nil.
func (withoutValues) Value(any) any { return nil }

// tunnel is a connection to a host through a proxy.
type tunnel struct {
	*net.TCPConn
	host net.Addr
}

// RemoteAddr returns the address of the host.
func (t *tunnel) RemoteAddr() net.Addr { return t.host }

// secureTunnel is a connection to a host through a proxy that is reached over TLS.
type secureTunnel struct {
	*tls.Conn
	below *net.TCPConn
	host  net.Addr
}

// RemoteAddr returns the address of the host.
func (t *secureTunnel) RemoteAddr() net.Addr { return t.host }

// SyscallConn returns the socket.
func (t *secureTunnel) SyscallConn() (syscall.RawConn, error) { return t.below.SyscallConn() }

// SetLinger says what the socket does when it is closed.
func (t *secureTunnel) SetLinger(sec int) error { return t.below.SetLinger(sec) }

// Close closes the connection without a message to the proxy, which could block.
func (t *secureTunnel) Close() error { return t.below.Close() }

// connect opens a tunnel to a numeric address with a port.
func (p *Proxy) connect(ctx context.Context, to string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(to)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	k, err := d.DialContext(withoutValues{ctx}, "tcp", p.Address)
	if err != nil {
		return nil, p.fault(err)
	}
	tcp, ok := k.(*net.TCPConn)
	if !ok {
		_ = k.Close() // nothing was sent
		return nil, errors.New("the connection to the proxy is not TCP")
	}
	stop := context.AfterFunc(ctx, func() { _ = k.SetDeadline(past) }) // fails only if the connection is already closed
	through, err := p.open(ctx, tcp, at)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = k.Close() // err says more
		return nil, err
	}
	return through, nil
}

// open opens a tunnel over a connection to the proxy.
func (p *Proxy) open(ctx context.Context, k *net.TCPConn, at netip.AddrPort) (net.Conn, error) {
	host := net.TCPAddrFromAddrPort(at)
	switch p.Scheme {
	case SOCKS5Proxy:
		return &tunnel{TCPConn: k, host: host}, p.socks(k, at)
	case HTTPSProxy:
		secure, err := p.secure(ctx, k)
		if err != nil {
			return nil, p.fault(fmt.Errorf("TLS handshake with it: %w", err))
		}
		return &secureTunnel{Conn: secure, below: k, host: host}, p.tunnel(secure, at.String())
	}
	return &tunnel{TCPConn: k, host: host}, p.tunnel(k, at.String())
}

// secure makes the TLS handshake with the proxy. Its certificate is verified, whatever is accepted of a site.
func (p *Proxy) secure(ctx context.Context, k net.Conn) (*tls.Conn, error) {
	name, _, err := net.SplitHostPort(p.Address)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if len(p.Roots) > 0 {
		if c.RootCAs, err = x509.SystemCertPool(); err != nil {
			return nil, fmt.Errorf("read the root certificates of the system: %w", err)
		}
	}
	for _, root := range p.Roots {
		c.RootCAs.AddCert(root)
	}
	secure := tls.Client(k, c)
	return secure, secure.HandshakeContext(ctx)
}

// maxHead is the maximum length of the answer to CONNECT.
const maxHead = 16 << 10

// tunnel asks an HTTP proxy for a tunnel.
func (p *Proxy) tunnel(k net.Conn, to string) error {
	ask := "CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n"
	if p.User != "" {
		encoded := base64.StdEncoding.EncodeToString([]byte(p.User + ":" + p.Password))
		ask += "Proxy-Authorization: Basic " + encoded + "\r\n"
	}
	if _, err := io.WriteString(k, ask+"\r\n"); err != nil {
		return p.fault(err)
	}
	head := make([]byte, 0, 256)
	for !strings.HasSuffix(string(head[max(0, len(head)-4):]), "\r\n\r\n") {
		one := [1]byte{}
		if _, err := io.ReadFull(k, one[:]); err != nil {
			return p.noAnswer(to, err)
		}
		if head = append(head, one[0]); len(head) > maxHead {
			return p.fault(errors.New("its answer to CONNECT is too long"))
		}
	}
	version, rest, _ := strings.Cut(string(head), " ")
	text, _, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(text, "\r", 2)[0]))
	switch {
	case err != nil || !strings.HasPrefix(version, "HTTP/1."):
		return p.fault(errors.New("it does not answer as an HTTP proxy"))
	case status/100 == 2:
		return nil
	case status/100 < 4, slices.Contains(refusesAll, status):
		return p.fault(fmt.Errorf("it answered CONNECT %s with status %d; check its address and its credentials", to, status))
	}
	return fmt.Errorf("the proxy %s did not connect to %s: status %d; if this holds for all sites, check which ports the proxy allows",
		p.Name, to, status)
}

// refusesAll lists the answers to CONNECT with which a proxy refuses all tunnels. With any other error it refuses one
// address or port. A page can link to any of them, so this must not count against the proxy.
var refusesAll = []int{
	http.StatusUnauthorized, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusProxyAuthRequired,
}

// noAnswer returns the error of a proxy that was asked for a tunnel and did not answer. A proxy that is slow waits for
// the host, and some hang up if they cannot reach it.
func (p *Proxy) noAnswer(to string, err error) error {
	return fmt.Errorf("%w: %s was asked to connect to %s: %w", ErrProxySilent, p.Name, to, err)
}

// The codes of RFC 1928 and RFC 1929.
const (
	socksVersion    = 5
	socksConnect    = 1
	socksIPv4       = 1
	socksName       = 3
	socksIPv6       = 4
	socksOpen       = 0 // no credentials
	socksPassword   = 2
	passwordVersion = 1
)

// socks asks a SOCKS5 proxy for a tunnel.
func (p *Proxy) socks(k net.Conn, at netip.AddrPort) error {
	method := byte(socksOpen)
	if p.User != "" {
		method = socksPassword
	}
	answer, err := exchangeBytes(k, []byte{socksVersion, 1, method}, 2)
	switch {
	case err != nil:
		return p.fault(err)
	case answer[0] != socksVersion:
		return p.fault(errors.New("it does not answer as a SOCKS5 proxy"))
	case answer[1] != method:
		return p.fault(errors.New("it wants other credentials; set or remove the secret of the proxy"))
	}
	if method == socksPassword {
		ask := append([]byte{passwordVersion, byte(len(p.User))}, p.User...)
		ask = append(append(ask, byte(len(p.Password))), p.Password...)
		if answer, err = exchangeBytes(k, ask, 2); err == nil && answer[1] != 0 {
			err = errors.New("it refused the credentials")
		}
		if err != nil {
			return p.fault(err)
		}
	}
	return p.askSocks(k, at)
}

// askSocks sends the request of RFC 1928 and reads the answer.
func (p *Proxy) askSocks(k net.Conn, at netip.AddrPort) error {
	kind := byte(socksIPv6)
	if at.Addr().Is4() {
		kind = socksIPv4
	}
	ask := append([]byte{socksVersion, socksConnect, 0, kind}, at.Addr().AsSlice()...)
	answer, err := exchangeBytes(k, append(ask, byte(at.Port()>>8), byte(at.Port())), 5)
	if err != nil {
		return p.noAnswer(at.String(), err)
	}
	rest := map[byte]int{socksIPv4: 4 - 1, socksIPv6: 16 - 1, socksName: int(answer[4])}[answer[3]] + 2
	if _, err := io.ReadFull(k, make([]byte, rest)); err != nil {
		return p.noAnswer(at.String(), err)
	}
	code := int(answer[1])
	if code == 0 {
		return nil
	}
	if why := socksRefusals[min(code, len(socksRefusals)-1)]; why != "" {
		return fmt.Errorf("the proxy %s did not connect to %s: %s", p.Name, at, why)
	}
	return p.fault(fmt.Errorf("it refused to connect to %s: code %d", at, code))
}

// socksRefusals says what the codes of RFC 1928 mean for the host; "" = the proxy does not work. A page can link to an
// address that the proxy does not allow, or of a family that it does not know, so these do not count against it.
var socksRefusals = [...]string{
	1: "general failure", 2: "its rules do not allow it", 3: "network unreachable", 4: "host unreachable",
	5: "connection refused", 6: "the time is over", 8: "it does not know this family of addresses", 9: "",
}

// exchangeBytes sends bytes and reads n bytes.
func exchangeBytes(k net.Conn, ask []byte, n int) ([]byte, error) {
	if _, err := k.Write(ask); err != nil {
		return nil, err
	}
	answer := make([]byte, n)
	_, err := io.ReadFull(k, answer)
	return answer, err
}
