package access

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestGuardRefusesForeignRequests sends requests with different tokens, hosts and origins.
func TestGuardRefusesForeignRequests(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-some-length"
	bearer := http.Header{"Authorization": {"Bearer " + token}}
	with := func(h http.Header, name, value string) http.Header {
		h = h.Clone()
		h.Set(name, value)
		return h
	}
	for _, c := range []struct {
		what   string
		token  string // token that the server requires
		method string
		host   string
		header http.Header
		want   int
	}{
		{"the socket requires no token", "", "POST", "arcrawl", nil, 200},
		{"a bearer with the token", token, "GET", "localhost:8471", bearer, 200},
		{"a browser with the token as password", token, "GET", "127.0.0.1:8471", http.Header{"Authorization": {"Basic OmEtdG9rZW4tb2Ytc29tZS1sZW5ndGg="}}, 200},
		{"an IPv6 address", token, "GET", "[::1]:8471", bearer, 200},
		{"another port, as behind ssh -L", token, "GET", "localhost:9000", bearer, 200},
		{"no token", token, "GET", "localhost:8471", nil, 401},
		{"a wrong token", token, "GET", "localhost:8471", http.Header{"Authorization": {"Bearer a-token-of-some-lengtH"}}, 401},
		{"a prefix of the token", token, "GET", "localhost:8471", http.Header{"Authorization": {"Bearer a-token"}}, 401},
		{"another authentication scheme", token, "GET", "localhost:8471", http.Header{"Authorization": {"Digest " + token}}, 401},
		{"a name that resolves to the loopback", token, "GET", "rebound.example:8471", bearer, 403},
		{"a name that looks like the loopback", token, "GET", "localhost.example", bearer, 403},
		{"another address of this machine", token, "GET", "192.0.2.1:8471", bearer, 403},
		{"an order from the page itself", token, "POST", "localhost:8471", with(bearer, "Sec-Fetch-Site", "same-origin"), 200},
		{"an order from a page of another site", token, "POST", "localhost:8471", with(bearer, "Sec-Fetch-Site", "cross-site"), 403},
		{"an order from another origin, in an old browser", token, "POST", "localhost:8471", with(bearer, "Origin", "https://evil.example"), 403},
		{"an order from another site through a proxy to the socket", "", "POST", "localhost", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"a question from an archived page on another port", token, "GET", "localhost:8471", with(bearer, "Sec-Fetch-Site", "same-site"), 403},
		{"the same through a proxy to the socket", "", "GET", "localhost", http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
		{"a question from another origin, in an old browser", token, "GET", "localhost:8471", with(bearer, "Origin", "http://localhost:8472"), 403},
		{"a link from another page to the API", token, "GET", "localhost:8471", with(with(with(bearer, "Sec-Fetch-Site", "cross-site"), "Sec-Fetch-Mode", "navigate"), "Sec-Fetch-Dest", "document"), 403},
		{"a question from the page itself", token, "GET", "localhost:8471", with(bearer, "Sec-Fetch-Site", "same-origin"), 200},
		{"an order by a command", token, "POST", "localhost:8471", bearer, 200},
	} {
		served := false
		var o Options
		if c.token != "" {
			o.Tokens = func() []Token { return []Token{{"reader", Read, "another-token-to-read"}, {"admin", Operate, c.token}} }
		}
		h := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true }), o)
		r := httptest.NewRequest(c.method, "/api/v1/pause", nil)
		r.Host = c.host
		if c.header != nil {
			r.Header = c.header
		}
		got := httptest.NewRecorder()
		h.ServeHTTP(got, r)
		if got.Code != c.want || served != (c.want == 200) {
			t.Errorf("%s: status %d, served %t; want %d", c.what, got.Code, served, c.want)
		}
		if got.Header().Get("X-Frame-Options") != "DENY" || got.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers %v allow other sites access", c.what, got.Header())
		}
	}
}

// TestALinkFromElsewhereLeadsToTheDashboard follows a link in a mail, and tries to put the same page into a frame.
func TestALinkFromElsewhereLeadsToTheDashboard(t *testing.T) {
	t.Parallel()
	for dest, want := range map[string]int{"document": 200, "iframe": 403, "empty": 403} {
		h := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Options{})
		r := httptest.NewRequest(http.MethodGet, "/view/2026/http://a.example/", nil)
		r.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {dest}}
		got := httptest.NewRecorder()
		if h.ServeHTTP(got, r); got.Code != want {
			t.Errorf("for %s: status %d, want %d", dest, got.Code, want)
		}
	}
}
