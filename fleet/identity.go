package fleet

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"time"
)

// The bounds of connections to another node. dialTime is with the handshake.
const (
	dialTime    = 3 * time.Second
	connections = 16 // to each node
)

// nodeIdentity is the key of this process, and its certificate.
type nodeIdentity struct {
	certificate tls.Certificate
	print       []byte
}

// newIdentity makes an identity. The times in the certificate mean nothing: it holds as long as the process.
func newIdentity() (*nodeIdentity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for connections between nodes: %w", err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "arcrawl node"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for connections between nodes: %w", err)
	}
	print := sha256.Sum256(der)
	return &nodeIdentity{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, print[:]}, nil
}

// printOf returns the fingerprint of the certificate at the other end of a connection; nil if there is none.
func printOf(s *tls.ConnectionState) []byte {
	if s == nil || len(s.PeerCertificates) == 0 {
		return nil
	}
	sum := sha256.Sum256(s.PeerCertificates[0].Raw)
	return sum[:]
}

// config returns what both sides of a connection have in common.
func (i *nodeIdentity) config(verify func(tls.ConnectionState) error) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{i.certificate},
		InsecureSkipVerify: true, // there is no authority: verify compares the certificate itself
		VerifyConnection:   verify, SessionTicketsDisabled: true,
	}
}

var errStranger = errors.New("its certificate is not the one that a node of this cluster has noted in the database")

// Listen accepts only connections whose other end has a certificate that known accepts.
func (i *nodeIdentity) Listen(l net.Listener, known func(print []byte) bool) net.Listener {
	c := i.config(func(s tls.ConnectionState) error {
		if !known(printOf(&s)) {
			return errStranger
		}
		return nil
	})
	c.ClientAuth, c.NextProtos = tls.RequireAnyClientCert, []string{"http/1.1"}
	return tls.NewListener(l, c)
}

type addressKey struct{}

// toNode returns a request to the process that listens at an address and has a certificate with a fingerprint. Its URL
// has the fingerprint as host, so that connections to different processes are never confused.
func toNode(r *http.Request, address string, print []byte) *http.Request {
	r = r.WithContext(context.WithValue(r.Context(), addressKey{}, address))
	u := *r.URL
	u.Scheme, u.Host = "https", hex.EncodeToString(print)
	r.URL, r.Host = &u, address
	return r
}

// Client returns a client for requests of [ToNode]. It follows no redirect and uses no proxy.
func (i *nodeIdentity) Client(within time.Duration) *http.Client {
	dial := func(ctx context.Context, network, host string) (net.Conn, error) {
		address, _ := ctx.Value(addressKey{}).(string)
		name, _, err := net.SplitHostPort(host)
		if err != nil {
			return nil, err
		}
		want, err := hex.DecodeString(name)
		if err != nil {
			return nil, err
		}
		d := tls.Dialer{NetDialer: &net.Dialer{Timeout: dialTime}, Config: i.config(func(s tls.ConnectionState) error {
			if !bytes.Equal(printOf(&s), want) {
				return errStranger
			}
			return nil
		})}
		return d.DialContext(ctx, network, address)
	}
	return &http.Client{
		Timeout:       within,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialTLSContext: dial, MaxConnsPerHost: connections, DisableCompression: true,
			DisableKeepAlives: true, // a new connection finds out quickly that a node is frozen
		},
	}
}
