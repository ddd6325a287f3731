package crawler_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// TestAnExpiredCertificateIsAcceptedByPermissionOnly crawls two sites with expired certificates. Only one of them has
// tls.accept, and each of its visits says so.
func TestAnExpiredCertificateIsAcceptedByPermissionOnly(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
		DNSNames: []string{"old.example", "other.example"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	must(t, err)
	template.Raw = der
	parsed, err := x509.ParseCertificate(der)
	must(t, err)
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, r.URL.Path)
	}))
	site.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	site.StartTLS()
	t.Cleanup(site.Close)
	w := newWorld(t, t.TempDir(), "[politeness]\ndelay_factor = 0\nmin_delay = \"0s\"\n[seeds]\nuris = [\"https://old.example/\", \"https://other.example/\"]\n")
	w.hostFiles(map[string]string{"hosts.d/old.example.toml": "[tls]\naccept = \"expired\"\nuntil = 2999-12-31\n"})
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	refused, page := "", false
	w.crawlSite(site, &tls.Config{RootCAs: roots}, nil, func(r crawler.Report) (enough bool) {
		page = page || r.URI.String() == "https://old.example/"
		if r.URI.Host() == "other.example" {
			refused = r.Error
		}
		return page && refused != ""
	})
	if !strings.Contains(refused, "expired") {
		t.Errorf("the other site was answered with %q", refused)
	}
	responses, noted := 0, 0
	for _, r := range archivetest.CheckDir(t, w.path("warc")) {
		if r.Type() == "response" && strings.HasPrefix(r.Target(), "https://old.example/") {
			responses++
		}
		if strings.Contains(string(r.Block), "tlsAccepted: x509: certificate has expired") {
			noted++
		}
	}
	log, err := os.ReadFile(w.path("crawl.log"))
	if lines := strings.Count(string(log), "tls:expired"); err != nil || responses < 2 || noted != responses || lines != responses {
		t.Errorf("%d responses, %d metadata records and %d lines of crawl.log say that the certificate has expired; %v", responses, noted, lines, err)
	}
}

// crawlSite crawls a server of the machine, which answers for every host, until enough was reported. Every name has
// the two addresses of the machine.
func (w *world) crawlSite(
	site *httptest.Server, secure *tls.Config, change func(*crawler.Parts), enough func(crawler.Report) bool,
) {
	w.t.Helper()
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		found := []net.IPAddr{{IP: net.IPv6loopback}, {IP: net.IPv4(127, 0, 0, 1)}}
		httptrace.ContextClientTrace(ctx).DNSDone(httptrace.DNSDoneInfo{Addrs: found}) // as the resolver calls it
		return dialLoopback(ctx, network, site.Listener.Addr().String())
	}
	parts, shut := w.openWith(dial)
	client := fetch.New(fetch.Options{Dial: dial, SpoolDir: w.dir, TLS: secure})
	parts.Fetch = client
	if change != nil {
		change(&parts)
	}
	w.crawlUntil(parts, enough)
	_ = client.Close()
	shut()
}
