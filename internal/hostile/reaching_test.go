package hostile_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// readersPassword is the secret of the host www.reader.example. Nothing but that host may ever see it.
const readersPassword = "pa55word-of-the-reader"

// reaching are attacks on what a site must be sent before it shows its pages.
func reaching() []attack {
	var admitted, stolen atomic.Int64
	var told atomic.Pointer[string] // everything that the daemon answered
	return []attack{{
		name: "redirects and embeds that want the password of another host", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			admitted.Store(0)
			stolen.Store(0)
			told.Store(new(string))
			c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "" || strings.Contains(fmt.Sprint(r.Header, r.URL), readersPassword) {
					stolen.Add(1)
				}
				_, _ = io.WriteString(w, "thanks")
			}), "www.thief.example", "thief.reader.example")
			c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, password, _ := r.BasicAuth(); password != readersPassword {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				admitted.Add(1)
				switch r.URL.Path {
				case "/robots.txt":
					http.NotFound(w, r)
				case "/0":
					http.Redirect(w, r, c.town.url("www.thief.example", "/landing"), http.StatusFound)
				default:
					w.Header().Set("Content-Type", "text/html")
					fmt.Fprintf(w, "<img src=%q><img src=%q>", c.town.url("www.thief.example", "/a.png"), c.town.url("thief.reader.example", "/b.png"))
				}
			}), "www.reader.example")
			secret := filepath.Join(c.dir, "secrets", "reader")
			write := func(text string) {
				if err := os.WriteFile(secret, []byte(text), 0o600); err != nil {
					c.t.Error(err)
				}
			}
			if err := os.MkdirAll(filepath.Dir(secret), 0o700); err != nil {
				c.t.Fatal(err)
			}
			write("reader:" + readersPassword + "\n")
			at := fmt.Sprintf("127.0.0.1:%d", freePort(c))
			if err := os.WriteFile(filepath.Join(c.dir, "tokens"), []byte("maria operate "+steerToken+"\n"), 0o600); err != nil {
				c.t.Fatal(err)
			}
			timer := time.AfterFunc(short/3, func() { // a second line: the last good configuration stays in force
				write("reader:" + readersPassword + "\nreader:" + readersPassword + "\n")
				c.hangup <- syscall.SIGHUP
				time.Sleep(short / 6)
				answers := c.askEverything(at, c.town.url("www.reader.example", "/1"))
				told.Store(&answers)
			})
			c.t.Cleanup(func() { timer.Stop() })
			return crawlOptions{
				seeds: pagesOf(c, "www.reader.example", 3), admin: fmt.Sprintf("listen = %q\ntoken_file = \"tokens\"", at),
				hosts: map[string]string{"www.reader.example": "[request]\nbasic = \"file:reader\"\nsecrets_over_http = true\n"},
			}
		},
		check: func(t *testing.T, c *crawl) {
			if admitted.Load() < 5 || stolen.Load() > 0 {
				t.Errorf("the site let us in %d times; other hosts were sent the password %d times", admitted.Load(), stolen.Load())
			}
			if !strings.Contains(c.text(), "which has a line end inside the secret") {
				t.Errorf("the broken secret was not refused:\n%s", c.text())
			}
			answers := *told.Load()
			if len(answers) < 5_000 || !strings.Contains(answers, "www.reader.example") {
				t.Errorf("the daemon answered only %d bytes: %s", len(answers), answers)
			}
			c.findSecret(t, answers)
		},
	}}
}

// askEverything asks the daemon whatever it may be asked about a page, and returns all answers: the addresses that must
// answer, and each of the OpenAPI document.
func (c *crawl) askEverything(at, page string) string {
	var told bytes.Buffer
	name := strings.TrimSuffix(strings.TrimPrefix(page, "http://"), "/1")
	host, about := url.PathEscape(name), "?uri="+url.QueryEscape(page)
	for _, path := range []string{
		api.Base + "/status", api.Base + "/config", api.Base + "/hosts", api.Base + "/hosts/" + host, api.Base + "/uri" + about,
		api.Base + "/why" + about, api.Base + "/why-not" + about, api.Base + "/reports/headers", "/metrics", "/", "/feed.atom",
	} {
		answer, status := c.ask(at, path)
		if told.WriteString(answer); status >= http.StatusBadRequest {
			c.t.Errorf("GET %s was answered with %d", path, status)
		}
	}
	var documented struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	document, _ := c.ask(at, "/openapi.json")
	if err := json.Unmarshal([]byte(document), &documented); err != nil {
		c.t.Errorf("read the OpenAPI document: %v", err)
	}
	asked, answered := 0, 0
	for path, methods := range documented.Paths {
		if methods["get"] == nil {
			continue
		}
		asked++
		answer, status := c.ask(at, strings.ReplaceAll(path, "{host}", host)+about+"&host="+url.QueryEscape(name)+"&q=reader")
		if told.WriteString(answer); status < http.StatusBadRequest {
			answered++
		}
	}
	if answered < 20 {
		c.t.Errorf("%d of %d requests of the OpenAPI document were answered", answered, asked)
	}
	return told.String()
}

// ask sends one GET request to the daemon, and returns the first MiB of the answer.
func (c *crawl) ask(at, path string) (answer string, status int) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Second) // some answers are streams without end
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+path, nil)
	if err != nil {
		c.t.Error(err)
		return "", 0
	}
	r.Header.Set("Authorization", "Bearer "+steerToken)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Errorf("GET %s: %v", path, err)
		return "", 0
	}
	defer got.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(got.Body, 1<<20)) // what came before the time was over
	return string(text), got.StatusCode
}

// findSecret fails the test if the log, an answer, a file or a record has the password, as it is or encoded.
func (c *crawl) findSecret(t *testing.T, told string) {
	t.Helper()
	encoded := base64.StdEncoding.EncodeToString([]byte("reader:" + readersPassword))
	look := func(where, text string) {
		if strings.Contains(text, readersPassword) || strings.Contains(text, encoded) {
			t.Errorf("%s has the password", where)
		}
	}
	look("the log", c.text())
	look("an answer of the daemon", told)
	for _, r := range archivetest.CheckDir(t, filepath.Join(c.dir, "warc")) {
		look("the "+r.Type()+" record of "+r.Target(), string(r.Block))
	}
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/secrets/") {
			return err
		}
		text, err := os.ReadFile(path)
		look(path, string(text))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
