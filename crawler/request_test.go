package crawler_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// secretWords lists the texts that no file of a crawl may have.
var secretWords = []string{
	"pa55word", "\\æ%41", "t0ken", "two;,", base64.StdEncoding.EncodeToString([]byte("maria:" + oddPassword)),
}

// The secrets have what forms, header fields, logs and URIs escape.
const oddPassword, oddToken = `pa55word "one:\æ%41'<&>`, `t0ken =two;,"'%0d%0a`

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
	grepFor(t, dir, secretWords...)
	noted := func(r archivetest.CheckedRecord) bool {
		return bytes.Contains(r.Block, []byte("requestRedacted: X-Key, Authorization\r\n"))
	}
	if !slices.ContainsFunc(archivetest.CheckDir(t, filepath.Join(dir, "warc")), noted) {
		t.Error("no record notes the redaction")
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
