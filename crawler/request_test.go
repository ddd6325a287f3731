package crawler_test

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// secretWords lists the texts that no file of a crawl may have.
var secretWords = []string{
	"pa55word", "\\æ%41", "t0ken", "two;,", base64.StdEncoding.EncodeToString([]byte("maria:" + oddPassword)),
}

// The secrets have what forms, header fields, logs and URIs escape.
const oddPassword, oddToken = `pa55word "one:\æ%41'<&>`, `t0ken =two;,"'%0d%0a`

// hostFiles writes host files and secrets into the folder of a crawl.
func (w *world) hostFiles(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		path := w.path(name)
		must(w.t, os.MkdirAll(filepath.Dir(path), 0o750))
		must(w.t, os.WriteFile(path, []byte(text), 0o600))
	}
}

// TestSecretsReachOneHostAndNoFile crawls a site that needs a password, a key and a header field of its own. It
// redirects to another host, which must get nothing of it, nor must its robots.txt. Nothing that the crawl writes has
// the secrets.
func TestSecretsReachOneHostAndNoFile(t *testing.T) {
	t.Parallel()
	dir := inTown(t, "[scope]\nby = \"host\"\n[seeds]\nuris = [\"http://paper.example/\", \"http://other.example/\"]\n", func(t *testing.T, w *world) {
		w.hostFiles(map[string]string{
			"secrets/user": "maria:" + oddPassword + "\n", "secrets/key": oddToken,
			"hosts.d/paper.example.toml": `[request]
basic = "file:user"
headers = [{ name = "Accept-Language", value = "da" }]
secret_headers = [{ name = "X-Key", secret = "file:key" }]
secrets_over_http = true
`,
		})
		var admitted, refused, elsewhere atomic.Int64
		w.town.Serve("paper.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			user, pass, _ := r.BasicAuth()
			if user != "maria" || pass != oddPassword || r.Header.Get("X-Key") != oddToken || r.Header.Get("Accept-Language") != "da" {
				refused.Add(1)
				http.Error(out, "who are you?", http.StatusUnauthorized)
				return
			}
			admitted.Add(1)
			switch r.URL.Path {
			case "/robots.txt":
				http.Redirect(out, r, "http://rules.example/robots.txt", http.StatusFound)
			case "/away":
				http.Redirect(out, r, "http://other.example/landing", http.StatusFound)
			default:
				out.Header().Set("Content-Type", "text/html")
				_, _ = out.Write([]byte("<a href=/away>away</a><img src=http://cdn.example/a.png>"))
			}
		}))
		for _, host := range []string{"other.example", "cdn.example", "rules.example"} {
			w.town.Serve(host, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				elsewhere.Add(1)
				for _, name := range []string{"Authorization", "X-Key", "Accept-Language", "Cookie"} {
					if v := r.Header.Get(name); v != "" {
						t.Errorf("%s%s was sent %s: %s", r.Host, r.URL.Path, name, v)
					}
				}
				_, _ = out.Write([]byte("ok"))
			}))
		}
		w.run(24 * time.Hour)
		if admitted.Load() < 3 || refused.Load() > 0 || elsewhere.Load() < 5 {
			t.Errorf("the site let us in %d times and refused us %d times; other hosts had %d requests", admitted.Load(), refused.Load(), elsewhere.Load())
		}
		records := requestsTo(t, w, "http://paper.example/")
		if len(records) == 0 || !strings.Contains(records[0], "Authorization: [redacted]\r\n") ||
			!strings.Contains(records[0], "X-Key: [redacted]\r\n") || !strings.Contains(records[0], "Accept-Language: da\r\n") {
			t.Errorf("the archived requests are %q", records)
		}
	})
	grepFolder(t, dir)
}

// grepFolder fails the test if a file of a crawl has a secret, except the files that hold the secrets themselves.
func grepFolder(t *testing.T, dir string) {
	t.Helper()
	files, noted := 0, false
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/secrets/") {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for _, word := range secretWords {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s has the secret %q", path, word)
			}
		}
		return err
	})
	for _, r := range archivetest.CheckDir(t, filepath.Join(dir, "warc")) {
		noted = noted || bytes.Contains(r.Block, []byte("requestRedacted: X-Key, Authorization\r\n"))
		for _, word := range secretWords {
			if bytes.Contains(r.Block, []byte(word)) {
				t.Errorf("the %s record of %s has the secret %q", r.Type(), r.Target(), word)
			}
		}
	}
	if err != nil || files < 5 || !noted {
		t.Errorf("read %d files, with a note about the redaction: %t, %v", files, noted, err)
	}
}

// requestsTo returns the archived requests to a URI.
func requestsTo(t *testing.T, w *world, target string) (all []string) {
	t.Helper()
	for _, r := range archivetest.CheckDir(t, w.path("warc")) {
		if r.Type() == "request" && r.Target() == target {
			all = append(all, string(r.Block))
		}
	}
	return all
}

// TestAnotherLoginIsNotAnsweredByAnOldValidator crawls a site that answers 304 whoever asks. With another token the
// page is another one, and the crawl must ask for it without conditions.
func TestAnotherLoginIsNotAnsweredByAnOldValidator(t *testing.T) {
	t.Parallel()
	inTown(t, "[midfetch]\nproof = 0\naudit_share = 0\n[[wait]]\nmime = \".*\"\nrule = \"fixed\"\nevery = \"1h\"\n[seeds]\nuris = [\"http://paper.example/\"]\n", func(t *testing.T, w *world) {
		settings := "[request]\nbearer = \"file:token\"\nsecrets_over_http = true\n"
		w.hostFiles(map[string]string{"secrets/token": "guest\n", "hosts.d/paper.example.toml": settings})
		var unchanged atomic.Int64
		w.town.Serve("paper.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(out, r)
				return
			}
			out.Header().Set("Last-Modified", "Fri, 31 Dec 1999 12:00:00 GMT")
			if r.Header.Get("If-Modified-Since") != "" {
				unchanged.Add(1)
				out.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = out.Write([]byte("page for " + r.Header.Get("Authorization")))
		}))
		w.run(5 * time.Hour)
		before := unchanged.Load()
		w.hostFiles(map[string]string{"secrets/token": "subscriber\n"})
		w.run(5 * time.Hour)
		if before < 2 || unchanged.Load() < before+2 {
			t.Errorf("the site answered 304 %d times before and %d times in all", before, unchanged.Load())
		}
		changes := 0
		for _, r := range w.reports {
			if strings.HasSuffix(r.Verdict.Reason, "; the request had other headers or cookies than at the last capture") {
				changes++
			}
		}
		if changes != 1 {
			t.Errorf("%d changes are explained by the request, want 1", changes)
		}
		log, err := os.ReadFile(w.path("crawl.log"))
		if err != nil || strings.Count(string(log), crawllog.OtherRequest) != 1 {
			t.Errorf("crawl.log has the annotation %d times, want once: %v", strings.Count(string(log), crawllog.OtherRequest), err)
		}
	})
}
