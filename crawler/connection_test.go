package crawler_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
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
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestTheArchiveSaysWhatTheConnectionWas crawls a site over TLS whose name resolves to other addresses after a while.
func TestTheArchiveSaysWhatTheConnectionWas(t *testing.T) {
	t.Parallel()
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<a href=/1>1</a><a href=/2>2</a><p>", r.URL.Path)
	}))
	t.Cleanup(site.Close)
	w := newWorld(t, t.TempDir(), "[warc]\nseries_names = [\"embargo\"]\n[politeness]\ndelay_factor = 0\nmin_delay = \"0s\"\n"+
		"[seeds]\nuris = [\"https://paper.example/\"]\n")
	w.host("paper.example.toml", "[warc]\nseries = \"embargo\"\n")
	var indexed []string
	visits := 0
	w.crawlSite(site, &tls.Config{InsecureSkipVerify: true}, func(p *crawler.Parts) {
		p.IndexCapture = func(c crawler.Captured) error {
			if strings.HasPrefix(c.Record.URI, "dns:") {
				indexed = append(indexed, fmt.Sprint(c.Record.URI, " ", c.ContentType, " ", c.Record.Length > 0))
				return errors.New("the index is broken") // it can be made again, so the crawl continues
			}
			return nil
		}
	}, func(r crawler.Report) bool { visits++; return strings.HasSuffix(r.URI.String(), "/2") })
	certificate := fmt.Sprintf("tlsCertificate: sha256:%x\r\n", sha256.Sum256(site.Certificate().Raw))
	kinds := map[string]int{}
	for _, r := range archivetest.CheckDir(t, w.path("warc")) {
		if !strings.HasPrefix(r.File, "test-embargo-") {
			t.Errorf("the %s record of %s is in %s, not in the series of its host", r.Type(), r.Target(), r.File)
		}
		protocols := strings.Join(r.Header.Values("WARC-Protocol"), " ") + " " + r.Header.Get("WARC-Cipher-Suite")
		switch {
		case r.Target() == "dns:paper.example":
			kinds["dns"]++
			if text := string(r.Block[14:]); text != "\npaper.example.\tIN\tA\t127.0.0.1\npaper.example.\tIN\tAAAA\t::1\n" {
				t.Errorf("the look-up is archived as %q", r.Block)
			}
		case r.Type() == "response", r.Type() == "request":
			kinds[r.Type()]++
			if asked := r.Type() + " of " + r.Target(); kinds[asked] > 0 {
				t.Errorf("the archive has a second %s: the error of the index ended a visit", asked)
			} else {
				kinds[asked]++
			}
			if protocols != "http/1.1 tls/1.3 TLS_AES_128_GCM_SHA256" && protocols != "http/1.1 tls/1.3 TLS_AES_256_GCM_SHA384" &&
				protocols != "http/1.1 tls/1.3 TLS_CHACHA20_POLY1305_SHA256" {
				t.Errorf("the %s record of %s has the protocols %q", r.Type(), r.Target(), protocols)
			}
			if r.Type() == "response" && r.Header.Get("WARC-IP-Address") != "127.0.0.1" {
				t.Errorf("the record of %s has the address %q", r.Target(), r.Header.Get("WARC-IP-Address"))
			}
		case strings.Contains(string(r.Block), certificate):
			kinds["certificate"]++
		}
	}
	if kinds["dns"] != 1 || kinds["response"] < 3 || kinds["request"] < 3 || kinds["certificate"] < 3 || visits < 3 {
		t.Errorf("%d visits on new connections; records: %v, want one of a look-up", visits, kinds)
	}
	if got := strings.Join(indexed, ", "); got != "dns:paper.example text/dns true" {
		t.Errorf("the index was notified of %q", got)
	}
}

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

// TestACrawlOverHTTP2IsArchivedInTheFormOfHTTP1 crawls two hosts of one server, one of them over HTTP/2, until their
// pages were visited twice.
func TestACrawlOverHTTP2IsArchivedInTheFormOfHTTP1(t *testing.T) {
	t.Parallel()
	site := httptest.NewUnstartedServer(http.HandlerFunc(servePages))
	site.EnableHTTP2 = true
	site.StartTLS()
	t.Cleanup(site.Close)
	w := newWorld(t, t.TempDir(), "[politeness]\ndelay_factor = 0\nmin_delay = \"0s\"\n[midfetch]\nproof = 0\naudit_share = 0\n"+
		"[[wait]]\nmime = \".*\"\nrule = \"fixed\"\nevery = \"1s\"\n[seeds]\nuris = [\"https://two.example/\", \"https://one.example/\"]\n")
	w.hostFiles(map[string]string{"hosts.d/two.example.toml": "[fetch]\nhttp = \"2\"\n"})
	seen := map[string]int{}
	w.crawlSite(site, &tls.Config{InsecureSkipVerify: true}, nil, func(r crawler.Report) (enough bool) {
		seen[r.URI.String()]++
		for _, host := range []string{"one", "two"} {
			enough = seen["https://"+host+".example/1"] >= 2 && seen["https://"+host+".example/2"] >= 1
			if !enough {
				break
			}
		}
		return enough
	})
	kinds := map[string]int{}
	for _, r := range archivetest.CheckDir(t, w.path("warc")) {
		rest, page := strings.CutPrefix(r.Target(), "https://")
		if !page || r.Type() == "metadata" {
			continue
		}
		host, _, _ := strings.Cut(rest, "/")
		kinds[host+" "+r.Type()]++
		protocols := strings.Join(r.Header.Values("WARC-Protocol"), " ")
		text := string(r.Block)
		switch {
		case host == "one.example" && protocols != "http/1.1 tls/1.3", host == "two.example" && protocols != "h2 tls/1.3":
			t.Errorf("the %s record of %s has the protocols %q", r.Type(), r.Target(), protocols)
		case r.Type() != "revisit" && !strings.Contains(strings.SplitAfter(text, "\r\n")[0], "HTTP/1.1"), host == "two.example" && strings.Contains(strings.ToLower(text), "transfer-encoding:"):
			t.Errorf("the %s record of %s begins with %.200q", r.Type(), r.Target(), text)
		case host == "two.example" && r.Type() == "response" && !strings.Contains(text, "\r\nx-asked: HTTP/2.0\r\n"):
			t.Errorf("the answer of %s is %.200q", r.Target(), text)
		}
	}
	for _, kind := range []string{"two.example response", "two.example request", "two.example revisit", "one.example response"} {
		if kinds[kind] == 0 {
			t.Errorf("the archive has no %s: %v", kind, kinds)
		}
	}
	testcrawl.CheckArchive(t, w.dir)
	t.Run("read by warcio", func(t *testing.T) {
		slow.Test(t)
		pages := 0
		for _, r := range foreign.Records(t, finishedFiles(t, w.dir)...) {
			if len(r.Errors) > 0 {
				t.Errorf("the %s record of %s: %q", r.Type, r.Target, r.Errors)
			}
			if r.Type == "response" && strings.HasPrefix(r.Target, "https://two.example/") {
				pages++
				if r.PayloadLength == 0 || !strings.HasPrefix(r.Status, "HTTP/1.1 ") {
					t.Errorf("%s: status %q, payload of %d bytes", r.Target, r.Status, r.PayloadLength)
				}
			}
		}
		if pages < 3 {
			t.Errorf("warcio reads %d answers over HTTP/2", pages)
		}
	})
}

// servePages serves three pages, of which one has a validator. All else is elsewhere.
func servePages(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("X-Asked", r.Proto)
	switch r.URL.Path {
	case "/":
		_, _ = fmt.Fprint(w, "<a href=/1>1</a><a href=/2>2</a> the first page of", r.Host)
	case "/1":
		w.Header().Set("Etag", `"one"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = fmt.Fprint(w, strings.Repeat("a page that has not changed ", 5000), r.Host)
	default:
		// Each host says it in its own words: the second of two equal answers would be a revisit record.
		http.Error(w, "there is no such page at "+r.Host, http.StatusNotFound)
	}
}
