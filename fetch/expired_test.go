package fetch_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/fetch"
)

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
