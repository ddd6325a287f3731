package crawler_test

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/archivetest"
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
