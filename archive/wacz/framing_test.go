package wacz

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// changingSite sends four payloads, at each request with the next framing and coding.
type changingSite struct {
	t    testing.TB
	mu   sync.Mutex // guards the fields below
	n    map[string]int
	sent map[string]string // SHA-256 of the body, by the URI without its scheme and the time
}

// framings are the letters of a visit each: a plain text with a length (l) or in chunks (c); gzip with a length (L) or
// in chunks (C), and the same bytes without the header Content-Encoding (p); br with a length (b) or in chunks (B);
// deflate with a length (d) or in chunks (D).
const framings = "lclccllLCLCCLLpLpCpCLpclbBbbBBdDddDDlbBdDc"

// codings are the content codings of framings.
var codings = map[byte]string{
	'L': "gzip", 'C': "gzip", 'p': "gzip", 'b': "br", 'B': "br", 'd': "deflate", 'D': "deflate",
}

// oddPaths are the other pages of the site, which only a long run visits: their addresses are odd, or their content
// or status changes too. None redirects: pywb sends no body with a redirect, and a browser follows it.
var oddPaths = []string{
	"/a|b", "/x[1]", "/p;jsessionid=1A2B3C", "/q?z=1&a=[2]|^", "/caf%C3%A9", "/100%25", "/News?ID=7&id=7", "/changes", "/gone",
}

// ServeHTTP sends a page; a second host is one framing ahead.
func (s *changingSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := r.Host + r.RequestURI
	if r.URL.Path != "/" && !slices.Contains(oddPaths, r.RequestURI) {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	n := s.n[page]
	s.n[page]++
	s.mu.Unlock()
	kind := framings[(n+len(page))%len(framings)]
	body := strings.Repeat("<p>the same text each time</p>\n", 40)
	if r.URL.Path == "/changes" {
		body += fmt.Sprint("<p>text ", n/3)
	}
	if coding := codings[kind]; coding != "" {
		body = archivetest.Coded(s.t, coding, strings.Repeat("<p>another text</p>\n", 100)+strconv.Itoa(1<<62))
		if kind != 'p' {
			w.Header().Set("Content-Encoding", coding)
		}
	}
	w.Header().Set("Content-Type", "text/html")
	if !strings.ContainsRune("cCBD", rune(kind)) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	if r.URL.Path == "/gone" && n%4 == 3 {
		w.WriteHeader(http.StatusNotFound)
	}
	sum := sha256.Sum256([]byte(body))
	s.mu.Lock()
	s.sent[page+" "+index.Stamp(time.Now(), true)] = hex.EncodeToString(sum[:])
	s.mu.Unlock()
	_, _ = io.WriteString(w, body[:len(body)/2])
	_ = http.NewResponseController(w).Flush() // the client notices what is missing
	_, _ = io.WriteString(w, body[len(body)/2:])
}

// sentAll reports captures that are not what the site sent at their time.
func (s *changingSite) sentAll(all []wanted) {
	s.t.Helper()
	for _, c := range all {
		_, page, _ := strings.Cut(c.URI, "//")
		if s.n[page] > 0 && c.Sums[1] != s.sent[page+" "+c.Stamp] {
			s.t.Errorf("%s %s is not what was sent", c.Stamp, c.URI)
		}
	}
}

// secure returns the certificate of example.com, and what lets two of five connections to it speak HTTP/1.1.
func secure(t testing.TB) (cert string, c *tls.Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	own := s.TLS.Certificates[0]
	var n atomic.Int64
	c = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		protocols := []string{"h2", "http/1.1"}
		return &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: protocols["11010"[n.Add(1)%5]-'0':]}, nil
	}}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]})), c
}

// versions returns how many captures of example.com are over each version of HTTP.
func versions(t *testing.T, l *archivetest.Archive) map[string]int {
	t.Helper()
	n := map[string]int{"h2": 0, "http/1.1": 0}
	files, _ := warc.Files([]string{l.Dir})
	for _, f := range files {
		archivetest.Must(t, warc.EachRecord(t.Context(), f, nil, warc.NewFindings(f), func(rec *warc.Record) error {
			if kind := rec.Header.Type(); kind == "response" || kind == "revisit" {
				if strings.HasPrefix(rec.Header.Get("WARC-Target-URI"), "https:") {
					n[rec.Header.Get("WARC-Protocol")]++
				}
			}
			return nil
		}))
	}
	return n
}

// noWindow shows nothing.
type noWindow struct{}

func (noWindow) Observe(crawler.Report) {}
func (noWindow) Tick(time.Time) error   { return nil }

// TestReplayJoinsRevisits crawls a page on two hosts whose framing and content coding alternate, while its payload
// stays the same. Other readers put the head of a revisit before the body of its original as that was sent. Each
// capture has the bytes that were sent. ARCRAWL_CAPTURES=3000 has this number of captures, of odd addresses, contents
// and statuses too, and of a third host, on which the version of HTTP alternates.
func TestReplayJoinsRevisits(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	hours, seeds := 45, `, "http://second.example/"`
	captures, _ := strconv.Atoi(os.Getenv("ARCRAWL_CAPTURES"))
	if captures > 0 {
		seeds += `, "https://example.com/"`
		hours = captures / (3 + 3*len(oddPaths))
		for _, path := range oddPaths {
			seeds += fmt.Sprintf(", \"http://news.example%s\", \"http://second.example%[1]s\", \"https://example.com%[1]s\"", path)
		}
	}
	l := &archivetest.Archive{T: t, Dir: filepath.Join(t.TempDir(), "warc")}
	cert, protocols := secure(t)
	site := &changingSite{t: t, n: map[string]int{}, sent: map[string]string{}}
	synctest.Test(t, func(t *testing.T) {
		toml := testcrawl.EveryHour + "[dedup]\nmin_size = \"0B\"\n[fetch]\nhttp = \"2\"\n[tls]\nroots = [\"\"\"\n" + cert + "\"\"\"]\n"
		w := testcrawl.NewWorld(t, filepath.Dir(l.Dir), strings.Replace(toml, "]\n[dedup]", seeds+"]\n[dedup]", 1))
		w.Window, w.Every = noWindow{}, time.Hour
		w.Town.Serve("news.example", site)
		w.Town.Serve("second.example", site)
		w.Town.ServeTLS("example.com", protocols, site)
		w.AddSeeds()
		w.Run(time.Duration(hours) * time.Hour)
		w.Close()
	})
	all := everyCapture(t, l)
	site.sentAll(all)
	for protocol, n := range versions(t, l) {
		if t.Logf("%d over %s", n, protocol); captures > 0 && n < len(all)/40 {
			t.Errorf("%d of %d captures are over %s", n, len(all), protocol)
		}
	}
	var lines strings.Builder
	_, err := index.Build(t.Context(), l.Files(), index.Options{}, &lines, noFinding)
	archivetest.Must(t, err)
	revisits := strings.Count(lines.String(), index.RevisitMIME)
	if t.Logf("%d captures, %d revisits", len(all), revisits); revisits < len(all)/2 {
		t.Errorf("%d of %d captures are revisits, want more than half", revisits, len(all))
	}
	t.Run("pywb", func(t *testing.T) {
		pywbPlays(t, foreign.Pywb(t, l.Dir, archivetest.Save(t, "index.cdxj", []byte(lines.String()))), all, false)
	})
	t.Run("engine", func(t *testing.T) {
		pack := filepath.Join(t.TempDir(), "archive.wacz")
		packedAs(t, pack, l.Files(), Options{})
		enginePlays(t, foreign.ReplayWorker(t), pack, all, false)
	})
}
