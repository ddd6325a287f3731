package daemon_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/audit"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// certificate writes a new certificate for 127.0.0.1 and its key, and returns the certificate.
func certificate(t *testing.T, dir string, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	archivetest.Must(t, err)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "arcrawl test"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	archivetest.Must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	archivetest.Must(t, err)
	daemontest.Write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	daemontest.Write(t, filepath.Join(dir, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	moment := now.Add(time.Duration(serial) * time.Second)
	archivetest.Must(t, os.Chtimes(filepath.Join(dir, "cert.pem"), moment, moment))
	cert, err := x509.ParseCertificate(der)
	archivetest.Must(t, err)
	return cert
}

// TestDaemonServesOtherMachinesWithTLS listens on all addresses with a certificate, which is renewed while it runs.
func TestDaemonServesOtherMachinesWithTLS(t *testing.T) {
	t.Parallel()
	var first *x509.Certificate
	l := daemontest.Start(t, func(dir, main string) string {
		first = certificate(t, dir, 1)
		remote := "listen = \"0.0.0.0:0\"\nremote = \"tls\"\ntls_cert = \"cert.pem\"\ntls_key = \"key.pem\""
		return strings.Replace(main, `listen = "127.0.0.1:0"`, remote, 1)
	})
	l.WaitFor(t, "serving the admin API")
	port := regexp.MustCompile(`https://[^"]*:(\d+)/`).FindStringSubmatch(l.Text())
	if port == nil {
		t.Fatalf("the log names no https address:\n%s", l.Text())
	}
	all, err := access.List(filepath.Join(l.Dir, "admin.token"))
	archivetest.Must(t, err)
	status := func(cert *x509.Certificate, scheme, path, secret string) int {
		roots := x509.NewCertPool()
		roots.AddCert(cert)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
		client := http.Client{Transport: transport}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s://127.0.0.1:%s%s", scheme, port[1], path), nil)
		archivetest.Must(t, err)
		r.Header.Set("Authorization", "Bearer "+secret)
		got, err := client.Do(r)
		if err != nil {
			return 0
		}
		return errCode(got)
	}
	for _, c := range []struct {
		scheme, path, secret string
		want                 int
	}{
		{"https", "/api/v1/status", all[0].Secret, 200},
		{"https", "/api/v1/status", "wrong", 401},
		{"https", "/healthz", "", 200},
		{"https", "/readyz", "", 200},
		{"http", "/healthz", "", 400},
	} {
		if got := status(first, c.scheme, c.path, c.secret); got != c.want {
			t.Errorf("%s %s with %q: status %d, want %d", c.scheme, c.path, c.secret, got, c.want)
		}
	}
	second := certificate(t, l.Dir, 2)
	if got := status(second, "https", "/healthz", ""); got != 200 {
		t.Errorf("with the renewed certificate: status %d, want 200", got)
	}
	if got := status(first, "https", "/healthz", ""); got != 0 {
		t.Errorf("a client that trusts the old certificate is answered with %d", got)
	}
}

func errCode(got *http.Response) int {
	_ = got.Body.Close()
	return got.StatusCode
}

// TestDaemonRecordsTheUserOfTheSocket sends an order through the socket.
func TestDaemonRecordsTheUserOfTheSocket(t *testing.T) {
	t.Parallel()
	l := daemontest.Start(t)
	l.Visited(t)
	us, err := user.Current()
	archivetest.Must(t, err)
	c := api.NewClient(filepath.Join(l.Dir, "state", "admin.sock"))
	if err := c.Health(t.Context()); err != nil {
		t.Errorf("the daemon is not healthy: %v", err)
	}
	if _, err := c.Pause(t.Context(), api.Reason{Reason: "works"}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Audit(t.Context(), audit.Filter{}, 1)
	if err != nil || len(got.Entries) != 1 {
		t.Fatalf("the audit log is %+v, %v", got, err)
	}
	if e := got.Entries[0]; e.Who != us.Username || e.Way != access.Socket || e.What != "pause" || e.Result != audit.Done {
		t.Errorf("recorded %+v, want a pause by %s", e, us.Username)
	}
}
