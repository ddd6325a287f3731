package whatif_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// TestATrialLogsIn tries a page for members, with the right password, with a wrong one, and with an account that may
// not read.
func TestATrialLogsIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, password, want string
		barred               bool
	}{
		{"the right password", "pa55word", "login 200 |login 200 |as configured 200 ", false},
		{"a wrong password", "wr0ng", "login 200 |login 403 the site answers the form with status 403", false},
		{"an account without rights", "pa55word", "login 200 |login 200 |as configured 401 login:strangers the site shows", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/robots.txt":
				case r.Method == http.MethodPost:
					if r.FormValue("pass") != "pa55word" || r.FormValue("csrf") != "c5rf" {
						w.WriteHeader(http.StatusForbidden)
						return
					}
					http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3ss10n", Path: "/"})
				case r.URL.Path == "/login":
					_, _ = fmt.Fprint(w, "<form><input type=hidden name=csrf value=c5rf><input name=pass></form>")
				default:
					if session, err := r.Cookie("session"); err != nil || session.Value != "s3ss10n" || c.barred {
						w.WriteHeader(http.StatusUnauthorized)
					}
				}
			}))
			defer site.Close()
			dir := t.TempDir()
			for name, text := range map[string]string{
				"arcrawl.toml": "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n",
				"secrets/pass": c.password + "\n",
				"hosts.d/a.toml": fmt.Sprintf("host = %q\n[request]\nsecrets_over_http = true\n[login]\npage = \"%s/login\"\n"+
					"uri = \"%[2]s/session\"\nsecret_fields = [{ name = \"pass\", secret = \"file:pass\" }]\n"+
					"success = '(?m)^Set-Cookie: session='\n", site.Listener.Addr(), site.URL),
			} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			conf, err := config.Load(filepath.Join(dir, "arcrawl.toml"))
			if err != nil {
				t.Fatal(err)
			}
			client := fetch.New(fetch.Options{Dial: fetch.Guard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), SpoolDir: dir})
			defer func() { _ = client.Close() }()
			rests := 0
			trial := whatif.Trial{Config: conf, Version: "test", Wait: func(context.Context, time.Duration) error { rests++; return nil }}
			u, err := uri.Parse(site.URL + "/news")
			if err != nil {
				t.Fatal(err)
			}
			all, err := trial.Run(t.Context(), client, u, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range all {
				got = append(got, strings.TrimPrefix(fmt.Sprintf("%s %d %s %s", r.Name, r.Status, r.InsteadOf, r.Error), " "))
			}
			text := strings.ReplaceAll(strings.Join(got, "|"), "  ", " ")
			if !strings.HasPrefix(text, c.want) || rests != len(all) {
				t.Errorf("%d rests, results %s, want %s", rests, text, c.want)
			}
			shown, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"pa55word", "wr0ng", "c5rf", "s3ss10n"} {
				if strings.Contains(string(shown), secret) {
					t.Errorf("the results show %s: %s", secret, shown)
				}
			}
		})
	}
}
