package whatif_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
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
			w := newTrialWorld(t, func(w http.ResponseWriter, r *http.Request) {
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
			}, `[request]
secrets_over_http = true
[login]
page = "SITE/login"
uri = "SITE/session"
secret_fields = [{ name = "pass", secret = "file:pass" }]
success = '(?m)^Set-Cookie: session='
`, map[string]string{"pass": c.password})
			all, err := w.trial.Run(t.Context(), w.client, w.uri(t, "/news"), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range all {
				got = append(got, strings.TrimPrefix(fmt.Sprintf("%s %d %s %s", r.Name, r.Status, r.InsteadOf, r.Error), " "))
			}
			text := strings.ReplaceAll(strings.Join(got, "|"), "  ", " ")
			if !strings.HasPrefix(text, c.want) || len(w.rests) != len(all) {
				t.Errorf("%d rests, results %s, want %s", len(w.rests), text, c.want)
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
