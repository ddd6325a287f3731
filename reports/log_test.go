package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestTheLogIsReadAndFollowedThroughTheAPI asks for the last lines of two hosts, of one, and of a past hour. It follows
// the log while it is rotated and compressed. Each line comes once, in order.
func TestTheLogIsReadAndFollowedThroughTheAPI(t *testing.T) {
	toml := strings.Replace(testcrawl.EveryHour, `uris = ["http://news.example/"]`,
		`uris = ["http://news.example/", "http://sub.other.example/"]`, 1)
	inWorld(t, toml, func(w *world) {
		path := w.Parts.Config.Current().Storage.Log
		var last api.Log
		ask := func(query string) []string {
			w.Helper()
			last = get[api.Log](w, "/api/v1/log?seconds=10&"+query)
			var lines []string
			for i, l := range last.Lines {
				if i > 0 && l.At.Before(last.Lines[i-1].At) || !strings.HasPrefix(l.Line, l.At.Format("2006-01-02T15:04:05.000Z ")) {
					w.Errorf("%q: line %d is %+v", query, i, l)
				}
				lines = append(lines, l.Line)
			}
			if last.More || last.Gap {
				w.Errorf("%q: %+v", query, last)
			}
			return lines
		}
		after := func() string {
			text, err := json.Marshal(last.Next)
			w.Must(err)
			return "after=" + url.QueryEscape(string(text))
		}
		has := func(name string, lines []string, n int, parts ...string) {
			w.Helper()
			if len(lines) != n {
				w.Errorf("%s: %d lines, want %d:\n%s", name, len(lines), n, strings.Join(lines, "\n"))
			}
			for _, line := range lines {
				for _, part := range parts {
					if !strings.Contains(line, part) {
						w.Errorf("%s: %q does not have %q", name, line, part)
					}
				}
			}
		}
		has("before the first visit", ask(""), 0)
		begin := time.Now()
		for _, host := range []string{"news.example", "sub.other.example"} {
			w.Set("http://"+host+"/", testcrawl.Page{Body: host})
		}
		w.Run(150 * time.Minute) // each page three times, with robots.txt
		all := ask("limit=1000")
		if len(all) < 6 {
			w.Fatalf("%d lines", len(all))
		}
		has("the last", ask("limit=3"), 3)
		first := after()
		has("nothing was added", ask(first), 0)

		// The file is rotated and compressed, and the next one rotated, while visits are made.
		w.Must(os.Rename(path, path+".1"))
		w.Run(time.Hour)
		w.Must(os.Rename(path, path+".0"))
		text, err := os.ReadFile(path + ".1")
		w.Must(err)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err = z.Write(text)
		w.Must(err)
		w.Must(z.Close())
		w.Must(os.WriteFile(path+".1.gz", packed.Bytes(), 0o600))
		w.Must(os.Remove(path + ".1"))
		w.Run(time.Hour)
		added := ask(first)
		has("added meanwhile", added, 4)
		whole := append(all, added...)
		if got := ask("limit=1000"); strings.Join(got, "\n") != strings.Join(whole, "\n") {
			w.Errorf("all files have\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(whole, "\n"))
		}
		has("of a host", ask("limit=2&host=news.example"), 2, " http://news.example/")
		has("of hosts below a domain, added", ask(first+"&host=*.Other.example"), 2, " http://sub.other.example/")
		span := "&since=" + begin.UTC().Format(time.RFC3339) + "&until=" + begin.Add(30*time.Minute).UTC().Format(time.RFC3339)
		has("of a host, in the first half hour", ask("host=news.example"+span), len(all)/2-2)
		var one []string
		for query := first; ; query = after() {
			last = get[api.Log](w, "/api/v1/log?seconds=10&limit=1&"+query)
			for _, l := range last.Lines {
				one = append(one, l.Line)
			}
			if len(last.Lines) > 1 || len(one) > len(added) {
				w.Fatalf("one by one: %q", one)
			}
			if !last.More {
				break
			}
		}
		if strings.Join(one, "\n") != strings.Join(added, "\n") {
			w.Errorf("one by one:\n%s\nwant\n%s", strings.Join(one, "\n"), strings.Join(added, "\n"))
		}
		w.Must(os.Remove(path + ".1.gz"))
		if last = get[api.Log](w, "/api/v1/log?seconds=10&"+first); !last.Gap || len(last.Lines) != len(added) {
			w.Errorf("when the file is gone: %+v", last)
		}
		if last = get[api.Log](w, "/api/v1/log?seconds=10&limit=1&"+first); !last.Gap || !last.More || len(last.Lines) != 1 {
			w.Errorf("when the file is gone, one line: %+v", last)
		}
	})
}

// TestTheLogKeepsAnEmbargo asks for the log, and for the visits to a URI, with each role.
func TestTheLogKeepsAnEmbargo(t *testing.T) {
	toml := testcrawl.EveryHour + "[warc]\nabout = [{ title = \"All\", embargo = \"2999-01-01\" }]\n"
	inWorld(t, toml, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{Body: "news"})
		w.Run(10 * time.Minute)
		for role, sees := range map[access.Role]bool{access.Read: false, access.Curate: true, access.Operate: true} {
			w.Handler = w.window.Handler(access.Options{Caller: func(*http.Request) (access.Caller, int, string) {
				return access.Caller{Name: "maria", Role: role}, 0, ""
			}})
			if log := get[api.Log](w, "/api/v1/log?seconds=10"); sees != (len(log.Lines) > 0) {
				w.Errorf("the role %s sees %+v", role, log.Lines)
			}
			past := get[Past](w, "/api/v1/history?uri="+url.QueryEscape("http://news.example/"))
			if sees != (len(past.Visits) > 0) {
				w.Errorf("the role %s sees %+v", role, past)
			}
		}
	})
}
