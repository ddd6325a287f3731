package access

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// nobody is the name of the caller if no request was served.
const nobody = "nobody was served"

// ask sends a request to a guarded handler, and returns the answer and the caller that the handler saw.
func ask(o Options, method, path, host string, header http.Header) (*httptest.ResponseRecorder, Caller) {
	caller := Caller{Name: nobody}
	see := func(_ http.ResponseWriter, r *http.Request) { caller = CallerOf(r.Context()) }
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	if header != nil {
		r.Header = header
	}
	got := httptest.NewRecorder()
	Guard(http.HandlerFunc(see), o).ServeHTTP(got, r)
	return got, caller
}

// bearer returns the header of a program with a token.
func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// TestGuardRefusesForeignRequests sends requests with different tokens, hosts and origins.
func TestGuardRefusesForeignRequests(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-some-length"
	bearer := bearer(token)
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
		var o Options
		if c.token != "" {
			o.Tokens = func() []Token { return []Token{{"reader", Read, "another-token-to-read"}, {"admin", Operate, c.token}} }
		}
		got, caller := ask(o, c.method, "/api/v1/pause", c.host, c.header)
		if served := caller.Name != nobody; got.Code != c.want || served != (c.want == 200) {
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
		header := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {dest}}
		if got, _ := ask(Options{}, http.MethodGet, "/view/2026/http://a.example/", "example.com", header); got.Code != want {
			t.Errorf("for %s: status %d, want %d", dest, got.Code, want)
		}
	}
}

// TestAnAddressMayNameTheCaller sends requests to an address that knows its callers itself.
func TestAnAddressMayNameTheCaller(t *testing.T) {
	t.Parallel()
	who := Caller{"Zoë Ö", "node", Curate}
	for status, want := range map[int]string{0: who.Name, http.StatusForbidden: nobody} {
		o := Options{Caller: func(*http.Request) (Caller, int, string) { return who, status, "not you" }}
		got, caller := ask(o, http.MethodPost, "/api/v1/pause", "arcrawl", http.Header{})
		if caller.Name != want || status != 0 && (got.Code != status || !strings.Contains(got.Body.String(), "not you")) {
			t.Errorf("status %d: %d, %+v, %s", status, got.Code, caller, got.Body)
		}
	}
}

// TestTokenFilesAreParsed parses named tokens and faulty files.
func TestTokenFilesAreParsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"abcdefghijklmnop\n", "line 1 has 1 words"},
		{"# staff\nmaria operate abcdefghijklmnop\n\ngrafana  read\tqrstuvwxyzabcdef\n", "maria:operate grafana:read"},
		{"maria read short\n", "fewer than 16"},
		{"maria operate short\n", "line 1: the token maria has 5 characters"},
		{"maria rule abcdefghijklmnop\n", `line 1: unknown role "rule"`},
		{"maria operate\n", "line 1 has 2 words"},
		{"a=b operate abcdefghijklmnop\n", "is not a name"},
		{"m read abcdefghijklmnop\nm operate abcdefghijklmnop", "line 2: the name m is used twice"},
		{"# nothing\n", "has no token"},
		{"", "has no token"},
	} {
		all, err := parseTokens(c.text)
		var names []string
		for _, token := range all {
			names = append(names, token.Name+":"+token.Role.String())
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestTokensChangeWhileTheDaemonRuns adds and removes tokens, and damages the file.
func TestTokensChangeWhileTheDaemonRuns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "admin.token")
	_, err := OpenTokens(path)
	archivetest.Must(t, err)
	var log strings.Builder
	tokens, changed := watch(zerolog.New(&log), path, false, readTokens), time.Now()
	names := func() string {
		t.Helper()
		changed = changed.Add(time.Second) // a change is recognized by time or size
		archivetest.Must(t, os.Chtimes(path, changed, changed))
		var out []string
		for _, token := range tokens() {
			out = append(out, token.Name)
		}
		return strings.Join(out, " ")
	}
	added, err := Add(path, "maria", Read)
	if err != nil || len(added.Secret) < minSecret || names() != "admin maria" {
		t.Errorf("added %+v, %v; the names are %q", added, err, names())
	}
	if _, err := Add(path, "maria", Read); err == nil {
		t.Error("a name was added twice")
	}
	if err := Remove(path, "admin"); err != nil || names() != "maria" {
		t.Errorf("removed: %v; the names are %q", err, names())
	}
	if err := Remove(path, "maria"); err == nil {
		t.Error("the last token was removed")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v; want it readable by its owner alone", info.Mode(), err)
	}
	archivetest.Must(t, os.WriteFile(path, []byte("nonsense nonsense\n"), 0o600))
	if got := names(); got != "maria" || !strings.Contains(log.String(), "line 1 has 2 words") {
		t.Errorf("a damaged file: names %q, want the last good tokens; the log is\n%s", got, log.String())
	}
}

// TestGuardNamesTheCaller sends requests with tokens, cookies and without either.
func TestGuardNamesTheCaller(t *testing.T) {
	t.Parallel()
	tokens := []Token{{"maria", Operate, "the-token-of-maria"}, {"grafana", Read, "the-token-of-grafana"}}
	o := Options{Tokens: func() []Token { return tokens }}
	send := func(path string, header http.Header) (*httptest.ResponseRecorder, Caller) {
		return ask(o, http.MethodGet, path, "localhost:8471", header)
	}
	if _, caller := send("/", bearer("the-token-of-grafana")); caller != (Caller{"grafana", ByToken, Read}) {
		t.Errorf("the caller is %+v", caller)
	}
	signedIn, _ := send("/?token=the-token-of-maria", nil)
	cookies := signedIn.Result().Cookies()
	if signedIn.Code != http.StatusSeeOther || signedIn.Header().Get("Location") != "/" || len(cookies) != 1 ||
		!cookies[0].HttpOnly || strings.Contains(cookies[0].String(), "the-token") || cookies[0].Name != "arcrawl8471" {
		t.Fatalf("the address with a token: %d, %v", signedIn.Code, signedIn.Header())
	}
	cookie := func(value string) http.Header { return http.Header{"Cookie": {"arcrawl8471=" + value}} }
	if _, caller := send("/", cookie(cookies[0].Value)); caller != (Caller{"maria", ByToken, Operate}) {
		t.Errorf("with the cookie the caller is %+v", caller)
	}
	if got, _ := send("/?token=wrong", nil); got.Code != http.StatusUnauthorized || len(got.Result().Cookies()) > 0 {
		t.Errorf("the address with a wrong token: %d", got.Code)
	}
	if got, _ := send("/", cookie("0"+cookies[0].Value[1:])); got.Code != http.StatusUnauthorized {
		t.Errorf("with a wrong cookie: %d", got.Code)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if got, caller := ask(o, http.MethodGet, path, "10.1.2.3:8471", nil); got.Code != http.StatusOK || caller != (Caller{}) {
			t.Errorf("%s without token: %d for %+v", path, got.Code, caller)
		}
	}
	tokens = tokens[:1]
	if got, _ := send("/", bearer("the-token-of-grafana")); got.Code != http.StatusUnauthorized {
		t.Errorf("a removed token: %d", got.Code)
	}
}

// TestGuardServesRemoteNames sends requests to a handler that other machines reach.
func TestGuardServesRemoteNames(t *testing.T) {
	t.Parallel()
	o := Options{Tokens: func() []Token { return []Token{{"m", Operate, "a-token-of-some-length"}} }, Remote: true, Names: []string{"crawler.library.example"}}
	for host, want := range map[string]int{
		"Crawler.library.example:8471": 200, "192.0.2.1:8471": 200, "[2001:db8::1]:8471": 200, "localhost": 200,
		"rebound.example": 403, "crawler.library.example.evil.example": 403,
	} {
		if got, _ := ask(o, http.MethodGet, "/", host, bearer("a-token-of-some-length")); got.Code != want {
			t.Errorf("%s: status %d, want %d", host, got.Code, want)
		}
	}
}

// TestKernelNamesTheUserOfASocket connects to a unix socket and reads the user of this process.
func TestKernelNamesTheUserOfASocket(t *testing.T) {
	t.Parallel()
	us, err := user.Current()
	archivetest.Must(t, err)
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	archivetest.Must(t, err)
	defer l.Close()
	conn, err := net.Dial("unix", l.Addr().String())
	archivetest.Must(t, err)
	defer conn.Close()
	served, err := l.Accept()
	archivetest.Must(t, err)
	defer served.Close()
	if got := peerName(WithPeer(t.Context(), served)); got != us.Username {
		t.Errorf("the user is %q, want %q", got, us.Username)
	}
}
