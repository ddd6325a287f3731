package crawler_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// members is a site with a login. Its sessions end after ten hours.
type members struct {
	t        *testing.T
	mu       sync.Mutex
	sessions map[string]time.Time
	logins   int
	refused  int
	barred   bool   // the account may log in, but not read
	closed   string // path that the account may not read
}

func (m *members) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	pre, _ := r.Cookie("pre")
	session, err := r.Cookie("session")
	in := err == nil && time.Since(m.sessions[session.Value]) < 10*time.Hour && !m.barred
	out.Header().Set("Content-Type", "text/html")
	switch {
	case r.URL.Path == "/robots.txt":
		http.NotFound(out, r)
	case r.URL.Path == "/login":
		out.Header().Set("Set-Cookie", "pre=1; Path=/")
		_, _ = fmt.Fprint(out, `<form action=/search><input name=q></form>
			<form method=post action=/session><input type=hidden name=csrf value="c5rf &amp;1"><input name=user><input type=password name=pass></form>`)
	case r.URL.Path == "/session" && r.Method == http.MethodPost:
		if r.FormValue("user") != "maria" || r.FormValue("pass") != `p&a=s s "\æ%` || r.FormValue("csrf") != "c5rf &1" ||
			r.FormValue("remember") != "1" || pre == nil || r.Header.Get("Origin") != "http://members.example" {
			m.refused++
			_, _ = fmt.Fprint(out, "wrong password")
			return
		}
		m.logins++
		id := fmt.Sprintf("s3ss10n-%d", m.logins)
		m.sessions[id] = time.Now()
		out.Header().Set("Set-Cookie", "session="+id+"; Path=/")
		http.Redirect(out, r, "/", http.StatusSeeOther)
	case !in, r.URL.Path == m.closed:
		http.Redirect(out, r, "/login?back="+r.URL.Path, http.StatusFound)
	default:
		_, _ = fmt.Fprintf(out, "<a href=/a>a</a><a href=http://other.example/x>x</a> for members: %s", r.URL.Path)
	}
}

// loginWorld plays a day with the site, and returns the crawler's log and which logins failed at its end.
func loginWorld(
	t *testing.T, dir, password string, m *members, d time.Duration,
) (log, failures string, reports []crawler.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		m.sessions = map[string]time.Time{}
		w := newWorld(t, dir, "[[wait]]\nmime = \".*\"\nrule = \"fixed\"\nevery = \"1h\"\n[seeds]\nuris = [\"http://members.example/\", \"http://other.example/\"]\n")
		w.log = zerolog.New(zerolog.SyncWriter(&text))
		w.hostFiles(map[string]string{
			"secrets/user": "maria\n", "secrets/pass": password + "\n",
			"hosts.d/members.example.toml": `[request]
secrets_over_http = true
[login]
page = "http://members.example/login\n"
uri = "http://members.example/session"
fields = [{ name = "remember", value = "1" }]
secret_fields = [{ name = "user", secret = "file:user" }, { name = "pass", secret = "file:pass" }]
success = '(?m)^Set-Cookie: session='
`,
		})
		w.town.Serve("members.example", m)
		w.town.Serve("other.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Cookie") != "" || r.Method != http.MethodGet {
				t.Errorf("another host was sent %s %v", r.Method, r.Header)
			}
			out.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(out, "<a href=http://members.example/b>b</a>")
		}))
		parts, shut := w.open()
		c := crawler.New(parts)
		w.crawlWith(c, d)
		failures = fmt.Sprint(c.LoginFailures())
		w.hostFiles(map[string]string{"hosts.d/members.example.toml": ""})
		without, err := config.Load(w.path("arcrawl.toml"))
		must(t, err)
		parts.Config.Replace(without)
		if left := c.LoginFailures(); len(left) > 0 {
			t.Errorf("without [login] these fail: %v", left)
		}
		shut()
		log, reports = text.String(), w.reports
	})
	return log, failures, reports
}

// grepFor fails the test if a file of a crawl has one of the texts, except the files that hold secrets.
func grepFor(t *testing.T, dir string, words ...string) {
	t.Helper()
	look := func(where string, text []byte) {
		for _, word := range words {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s has the secret %q", where, word)
			}
		}
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/secrets/") {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		look(path, text)
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("read %d files, %v", files, err)
	}
	for _, r := range archivetest.CheckDir(t, filepath.Join(dir, "warc")) {
		look(r.Type()+" of "+r.Target(), r.Block)
	}
}

// TestALoginIsRenewedAndLeavesNoTrace crawls a site with a login for a day. The site ends each session after ten hours.
func TestALoginIsRenewedAndLeavesNoTrace(t *testing.T) {
	t.Parallel()
	dir, m := t.TempDir(), &members{t: t}
	log, failures, reports := loginWorld(t, dir, `p&a=s s "\æ%`, m, 25*time.Hour)
	if m.logins != 3 || m.refused != 0 || failures != "[]" {
		t.Errorf("%d logins, %d refused, failures %s", m.logins, m.refused, failures)
	}
	pages := 0
	for _, r := range reports {
		if r.URI.Host() != "members.example" || strings.HasSuffix(r.URI.String(), "robots.txt") {
			continue
		}
		if pages++; r.Status != http.StatusOK || r.Failed {
			t.Errorf("%s: status %d", r.URI, r.Status)
		}
	}
	if pages < 60 || !strings.Contains(log, "the site has ended the login") {
		t.Errorf("%d visits to pages; the log is %s", pages, log)
	}
	redacted := 0
	for _, r := range archivetest.CheckDir(t, filepath.Join(dir, "warc")) {
		if r.Type() == "request" && strings.Contains(string(r.Block), "Cookie: [redacted]\r\n") {
			redacted++
		}
		if strings.HasSuffix(r.Target(), "/session") || strings.HasSuffix(r.Target(), "/login") {
			t.Errorf("the archive has the %s of %s", r.Type(), r.Target())
		}
	}
	if redacted == 0 {
		t.Error("no archived request has a redacted cookie")
	}
	grepFor(t, dir, "s3ss10n-", `p&a=s`, "p%26a%3Ds", "c5rf")
	if strings.Contains(log, "s3ss10n-") || strings.Contains(log, "p&a=s") {
		t.Errorf("the log has a secret: %s", log)
	}
	testcrawl.CheckArchive(t, dir)
}

// TestALoginThatFailsRestsItsHost crawls the site for two days with a wrong password, and with an account that may not
// read.
func TestALoginThatFailsRestsItsHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, password, want string
		barred               bool
	}{
		{"a wrong password", "wr0ng-pass", "login.success does not match; check the credentials", false},
		{"an account without rights", `p&a=s s "\æ%`, "to strangers right after the login", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, m := t.TempDir(), &members{t: t, barred: c.barred}
			log, failures, reports := loginWorld(t, dir, c.password, m, 48*time.Hour)
			if n := m.logins + m.refused; n < 5 || n > 12 {
				t.Errorf("%d logins and %d refused in two days, want some, each later than the one before", m.logins, m.refused)
			}
			if !strings.Contains(failures, c.want) || !strings.Contains(log, c.want) {
				t.Errorf("the failures are %s, the log is %s, want %q", failures, log, c.want)
			}
			others := 0
			for _, r := range reports {
				switch {
				case r.URI.Host() == "other.example":
					others++
				case !strings.HasSuffix(r.URI.String(), "robots.txt") && !r.Failed:
					t.Errorf("%s was captured: status %d", r.URI, r.Status)
				}
			}
			if others < 40 {
				t.Errorf("the other host was visited %d times", others)
			}
			grepFor(t, dir, "wr0ng-pass", "s3ss10n-", "p&a=s", "c5rf")
			if strings.Contains(log, "wr0ng-pass") {
				t.Errorf("the log has the password: %s", log)
			}
		})
	}
}

// TestAPageThatMembersMayNotSeeHoldsNoOther crawls the site for two days with an account that may not read one of its
// pages.
func TestAPageThatMembersMayNotSeeHoldsNoOther(t *testing.T) {
	t.Parallel()
	for _, closed := range []string{"/a", "/"} {
		m := &members{t: t, closed: closed}
		log, _, reports := loginWorld(t, t.TempDir(), `p&a=s s "\æ%`, m, 48*time.Hour)
		captured, failed := 0, 0
		for _, r := range reports {
			switch {
			case r.URI.Host() != "members.example" || strings.HasSuffix(r.URI.String(), "robots.txt"):
			case r.URI.Path() != closed && !r.Failed:
				captured++
			case r.URI.Path() == closed && r.Failed && r.Block == misfortune.ForStrangers:
				failed++
			default:
				t.Errorf("%s: status %d, failed: %t, %q", r.URI, r.Status, r.Failed, r.Block)
			}
		}
		if captured < 40 || failed < 3 || m.logins > 30 {
			t.Errorf("%s: %d captures of other pages, %d failures, %d logins; the log is %s", closed, captured, failed, m.logins, log)
		}
	}
}

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
