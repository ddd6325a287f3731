package curator

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// TestWhoOnlyReadsSeesNothingUnderAnEmbargo asks for everything about a closed page, as a reader and as a curator, and
// for the same about an open page. No answer that a reader gets has the secret of the closed page.
func TestWhoOnlyReadsSeesNothingUnderAnEmbargo(t *testing.T) {
	t.Parallel()
	a := newArchived(t)
	pages := map[string]string{"open": "http://open.example/", "closed": "http://closed.example/"}
	var at []string
	for _, text := range []string{"the first draft", "the second draft"} {
		a.Series = ""
		at = append(at, stamp(a.add(a.Page(pages["open"], archivetest.HTMLHead, "<p>"+text), "text/html", 200)))
		a.Series = "vault"
		a.add(a.Page(pages["closed"], archivetest.HTMLHead, "<p>secret: "+text), "text/html", 200)
		a.Now = a.Now.Add(time.Hour)
	}
	w := newWorld(t, t.TempDir(), frontsTOML)
	t.Cleanup(w.Close)
	w.shows(a.live)
	for _, path := range []string{"versions?", "view?", "record?", "compare?", "picture?", "packages/a.wacz?"} {
		for name, page := range pages {
			address := path + "uri=" + url.QueryEscape(page)
			reader, curator := w.as(access.Read, address), w.as(access.Curate, address)
			if name == "open" && path != "packages/a.wacz?" && reader.Code != curator.Code {
				t.Errorf("%s: a reader gets %d, a curator %d %s", address, reader.Code, curator.Code, curator.Body)
			}
			if name == "closed" && (strings.Contains(reader.Body.String(), at[0][:8]) || strings.Contains(reader.Body.String(), "secret")) {
				t.Errorf("%s: a reader gets %s", address, reader.Body)
			}
		}
	}
	list := "versions?uri=" + url.QueryEscape(pages["closed"])
	if got := w.as(access.Curate, list).Body.String(); strings.Count(got, `"offset"`) != 2 {
		t.Errorf("a curator gets %s, want two versions", got)
	}
	if got := w.as(access.Read, "packages/a.wacz"); got.Code != http.StatusForbidden {
		t.Errorf("a reader asks for a package, and gets %d %s", got.Code, got.Body)
	}
}

// as asks the API with the token of a role.
func (w *world) as(role access.Role, path string) *httptest.ResponseRecorder {
	got := httptest.NewRecorder()
	token := access.Token{Name: "jan", Role: role, Secret: strings.Repeat("0123456789abcdef", 2)}
	r := httptest.NewRequest(http.MethodGet, api.Base+"/"+path, nil)
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer "+token.Secret)
	w.window.Handler(access.Options{Tokens: func() []access.Token { return []access.Token{token} }}).ServeHTTP(got, r)
	return got
}
