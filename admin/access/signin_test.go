package access

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// cheap is a cost for tests.
var cheap = cost{64, 1, 1}

// guarded is a guarded handler with users, for tests.
type guarded struct {
	t       *testing.T
	o       Options
	now     time.Time
	users   []User
	reports []SignIn
	caller  Caller // of the last request that was served
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	d := &guarded{t: t, now: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)}
	d.users = []User{
		{"maria", Curate, hashPassword("correct horse battery", cheap)},
		{"jan", Operate, hashPassword("staple of the library", cheap)},
		{"proxied", Operate, noPassword},
	}
	s := NewSignIns(func() time.Time { return d.now })
	s.cost = cheap
	d.o = Options{
		Tokens:  func() []Token { return []Token{{"grafana", Read, "a-token-of-some-length"}} },
		Users:   func() []User { return d.users },
		SignIns: s, Report: func(s SignIn) { d.reports = append(d.reports, s) },
	}
	return d
}

// send sends a request as a browser on the dashboard's page does; change may alter it.
func (d *guarded) send(method, path string, form url.Values, change func(*http.Request)) *http.Response {
	d.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Host, r.RemoteAddr = "localhost:8471", "192.0.2.7:40000"
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if change != nil {
		change(r)
	}
	d.caller = Caller{Name: "nobody was served"}
	to := httptest.NewRecorder()
	h := func(_ http.ResponseWriter, r *http.Request) { d.caller = CallerOf(r.Context()) }
	Guard(http.HandlerFunc(h), d.o).ServeHTTP(to, r)
	return to.Result()
}

func with(cookies []*http.Cookie) func(*http.Request) {
	return func(r *http.Request) {
		for _, c := range cookies {
			r.AddCookie(c)
		}
	}
}

func form(name, password string) url.Values {
	return url.Values{"name": {name}, "password": {password}, "to": {"/hosts?q=a"}}
}

// TestUsersSignInAndOut signs a user in, uses the session, and ends it in each way in which a session ends.
func TestUsersSignInAndOut(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	in := d.send("POST", "/login", form("maria", "correct horse battery"), nil)
	if in.StatusCode != http.StatusSeeOther || in.Header.Get("Location") != "/hosts?q=a" || len(in.Cookies()) != 2 {
		t.Fatalf("signed in: %d %v", in.StatusCode, in.Header)
	}
	for _, c := range in.Cookies() {
		if !c.HttpOnly || c.SameSite == 0 || c.Secure || strings.Contains(c.Value, "horse") {
			t.Errorf("the cookie is %v", c)
		}
	}
	session := with(in.Cookies())
	if d.send("GET", "/", nil, session); d.caller != (Caller{"maria", BySession, Curate}) {
		t.Errorf("the caller is %+v", d.caller)
	}
	if d.send("POST", "/api/v1/seeds/import", nil, session); d.caller.Name != "maria" {
		t.Error("an order of the session was refused")
	}
	if got := d.reports[0]; got != (SignIn{d.now, ToSignIn, "maria", "192.0.2.7", BySession, true}) {
		t.Errorf("reported %+v", got)
	}
	d.users[0].Role = Read
	if d.send("GET", "/", nil, session); d.caller.Role != Read {
		t.Error("a changed role does not hold at once")
	}
	for what, end := range map[string]func(){
		"another password": func() { d.users[0].Hash = hashPassword("correct horse battery", cheap) },
		"the age":          func() { d.now = d.now.Add(maxAge) },
		"idleness":         func() { d.now = d.now.Add(maxIdle) },
		"the removal":      func() { d.users = d.users[1:] },
		"signing out":      func() { d.send("POST", "/logout", url.Values{}, session) },
	} {
		d = newGuarded(t)
		session = with(d.send("POST", "/login", form("maria", "correct horse battery"), nil).Cookies())
		if d.send("GET", "/", nil, session); d.caller.Name != "maria" {
			t.Fatalf("before %s the session is not valid", what)
		}
		end()
		if got := d.send("GET", "/api/v1/status", nil, session); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("after %s the session is still valid", what)
		}
	}
}

// TestWrongPasswordsAreRefused tries names, passwords and forms that let nobody in.
func TestWrongPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		form url.Values
		want int
	}{
		"a wrong password":         {form("maria", "correct horse batterY"), 401},
		"an unknown name":          {form("nobody", "correct horse battery"), 401},
		"the password of another":  {form("jan", "correct horse battery"), 401},
		"a user without password":  {form("proxied", "-"), 401},
		"no password":              {form("maria", ""), 400},
		"a long password":          {form("maria", strings.Repeat("x", 1025)), 400},
		"a long name":              {form(strings.Repeat("m", 65), "correct horse battery"), 400},
		"a form of a megabyte":     {form("maria", strings.Repeat("x", 1<<20)), 400},
		"control characters":       {form("mar\x00ia\u202e", "correct horse battery"), 401},
		"a token with a name":      {form("grafana", "a-token-of-some-length"), 401},
		"a wrong token":            {form("", "a-token-of-some-lengtH"), 401},
		"a name with other spaces": {form("ma ria", "correct horse battery"), 401},
	} {
		d := newGuarded(t)
		if got := d.send("POST", "/login", c.form, nil); got.StatusCode != c.want || len(got.Cookies()) > 0 {
			t.Errorf("%s: status %d, cookies %v; want %d", what, got.StatusCode, got.Cookies(), c.want)
		}
	}
	d := newGuarded(t)
	if got := d.send("POST", "/login", form("", "a-token-of-some-length"), nil); got.StatusCode != http.StatusSeeOther {
		t.Errorf("a token without a name: status %d", got.StatusCode)
	}
	composed, apart := "caf\u00e9 in der Bibliothek", "cafe\u0301 in der Bibliothek"
	if !isPassword(hashPassword(composed, cheap), apart, cheap) {
		t.Error("the same characters of another keyboard are another password")
	}
}

// TestAttemptsAreLimitedWithoutLockingTheUserOut guesses passwords from one address and from many, while the user signs
// in from another address, and in a known browser.
func TestAttemptsAreLimitedWithoutLockingTheUserOut(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	known := with(d.send("POST", "/login", form("maria", "correct horse battery"), nil).Cookies())
	from := func(address string, change func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) {
			if r.RemoteAddr = address + ":1"; change != nil {
				change(r)
			}
		}
	}
	try := func(name, password, address string, change func(*http.Request)) int {
		return d.send("POST", "/login", form(name, password), from(address, change)).StatusCode
	}
	for n := range limitPair {
		if got := try("maria", "guess number something", "198.51.100.1", nil); got != 401 {
			t.Fatalf("attempt %d: status %d", n, got)
		}
	}
	if got := d.send("POST", "/login", form("maria", "correct horse battery"), from("198.51.100.1", nil)); got.StatusCode != 429 ||
		got.Header.Get("Retry-After") != "900" {
		t.Errorf("the right password after %d guesses: status %d, %v", limitPair, got.StatusCode, got.Header)
	}
	if try("maria", "correct horse battery", "203.0.113.9", nil) != 303 {
		t.Error("the user is locked out at another address")
	}
	for n := range 2 * limitUser {
		try("maria", "guess number something", fmt.Sprintf("10.0.%d.%d", n/200, n%200), nil)
	}
	if try("maria", "correct horse battery", "203.0.113.10", nil) != 429 {
		t.Error("attempts on one name from many addresses are not limited")
	}
	if try("maria", "correct horse battery", "198.51.100.1", known) != 303 {
		t.Error("the user is locked out in a browser that she has used before")
	}
	if try("jan", "correct horse battery", "10.9.9.9", known) != 401 {
		t.Error("a known browser signs in another user")
	}
	d.now = d.now.Add(limitPeriod)
	if try("maria", "correct horse battery", "198.51.100.1", nil) != 303 {
		t.Error("the limit does not end")
	}
}

// TestOneNetworkIsOneAddress tries many names from one network of IPv6 addresses.
func TestOneNetworkIsOneAddress(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	last := 0
	for n := range limitAddress + 1 {
		last = d.send("POST", "/login", form(fmt.Sprintf("name%d", n), "correct horse battery"), func(r *http.Request) {
			r.RemoteAddr = fmt.Sprintf("[2001:db8::%x]:1", n+1)
		}).StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("attempt %d from one network: status %d", limitAddress+1, last)
	}
}

// TestCountsAndSessionsAreBounded fills the tables of attempts and sessions.
func TestCountsAndSessionsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	a := attempts{counts: map[string]*tally{}}
	for n := range maxCounts + 50 {
		a.begin([]bound{{fmt.Sprint(n), 1}}, now.Add(time.Duration(n)*time.Millisecond))
	}
	if len(a.counts) > maxCounts || a.counts["0"] != nil || a.counts[fmt.Sprint(maxCounts+49)] == nil {
		t.Errorf("%d counts; the oldest is %v", len(a.counts), a.counts["0"])
	}
	d := newGuarded(t)
	s := &d.o.SignIns.sessions
	first := s.begin(d.users[0], d.now)
	for n := range maxUserSession {
		d.now = d.now.Add(time.Second)
		s.begin(d.users[0], d.now)
		if _, ok := s.find(first, d.users, d.now); ok != (n < maxUserSession-1) && n == 0 {
			t.Errorf("after %d sessions the first is valid: %t", n+2, ok)
		}
	}
	if len(s.all) != maxUserSession {
		t.Errorf("one user has %d sessions", len(s.all))
	}
	for n := range 2 * maxSessions {
		s.begin(User{Name: fmt.Sprint(n)}, d.now)
	}
	if len(s.all) > maxSessions {
		t.Errorf("%d sessions", len(s.all))
	}
}

// TestPasswordsAreCheckedOneByOne holds the gate of unknown browsers shut, which does not concern known ones.
func TestPasswordsAreCheckedOneByOne(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	known := with(d.send("POST", "/login", form("maria", "correct horse battery"), nil).Cookies())
	g := d.o.SignIns.others
	for range cap(g.inside) {
		g.inside <- struct{}{}
	}
	got := d.send("POST", "/login", form("maria", "correct horse battery"), nil)
	if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
		t.Errorf("with a full gate: status %d", got.StatusCode)
	}
	if got := d.send("POST", "/login", form("maria", "correct horse battery"), known); got.StatusCode != http.StatusSeeOther {
		t.Errorf("a known browser with the other gate full: status %d", got.StatusCode)
	}
}

// TestOrdersOfBrowsersComeFromTheDashboard sends orders with a session, as pages of other origins can.
func TestOrdersOfBrowsersComeFromTheDashboard(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	session := with(d.send("POST", "/login", form("maria", "correct horse battery"), nil).Cookies())
	token := with(d.send("POST", "/login", form("", "a-token-of-some-length"), nil).Cookies())
	for what, c := range map[string]struct {
		site, origin string
		want         int
	}{
		"the page itself":                  {"same-origin", "", 200},
		"the page in an old browser":       {"", "http://localhost:8471", 200},
		"neither header":                   {"", "", 403},
		"another site":                     {"cross-site", "https://evil.example", 403},
		"an archived page":                 {"same-site", "http://localhost:8473", 403},
		"a frame in a sandbox, old":        {"", "null", 403},
		"another origin in an old browser": {"", "https://evil.example", 403},
		"an address that was typed":        {"none", "", 403},
	} {
		for _, known := range []func(*http.Request){session, token} {
			for _, path := range []string{"/api/v1/pause", "/logout"} {
				got := d.send("POST", path, url.Values{}, func(r *http.Request) {
					known(r)
					r.Header.Del("Sec-Fetch-Site")
					if c.site != "" {
						r.Header.Set("Sec-Fetch-Site", c.site)
					}
					if c.origin != "" {
						r.Header.Set("Origin", c.origin)
					}
				}).StatusCode
				if c.want == 200 && path == "/logout" {
					continue // ends the session
				}
				if got != c.want {
					t.Errorf("%s sends %s: status %d, want %d", what, path, got, c.want)
				}
			}
			session = with(d.send("POST", "/login", form("maria", "correct horse battery"), nil).Cookies())
		}
	}
	got := d.send("GET", "/api/v1/status", nil, func(r *http.Request) {
		session(r)
		r.Header.Del("Sec-Fetch-Site")
		r.Header.Set("Origin", "null")
	})
	if got.StatusCode != http.StatusForbidden {
		t.Errorf("a question of a frame in a sandbox, in an old browser: status %d", got.StatusCode)
	}
}

// TestBrowsersAreLedToThePageAndBack asks for pages without a session, and for addresses of other sites after it.
func TestBrowsersAreLedToThePageAndBack(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	page := func(r *http.Request) {
		r.Header.Set("Accept", "text/html,*/*")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
	}
	got := d.send("GET", "/view/2026/http://a.example/?x=1&y", nil, page)
	if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/login?to=%2Fview%2F2026%2Fhttp%3A%2F%2Fa.example%2F%3Fx%3D1%26y" {
		t.Errorf("a page without session: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	got = d.send("GET", "/api/v1/status", nil, func(r *http.Request) { page(r); r.Header.Set("Sec-Fetch-Mode", "cors") })
	if got.StatusCode != http.StatusUnauthorized || got.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("a question of a page: %d %v; want no window of the browser", got.StatusCode, got.Header)
	}
	for to, want := range map[string]string{
		"/hosts": "/hosts", "": "/", "https://evil.example/": "/", "//evil.example/": "/", `/\evil.example`: "/",
		"/a\r\nSet-Cookie: x": "/", "javascript:alert(1)": "/", "hosts": "/", "/x?u=https://a.example/": "/x?u=https://a.example/",
		"/%zz": "/", "/\thosts": "/",
	} {
		if got := inside(to); got != want {
			t.Errorf("after signing in, %q leads to %q, want %q", to, got, want)
		}
	}
	hostile := `"><script>alert(1)</script>`
	body := func(r *http.Response) string {
		var b strings.Builder
		archivetest.Must(t, r.Write(&b))
		return b.String()
	}
	text := body(d.send("POST", "/login", url.Values{"name": {hostile}, "password": {"x"}, "to": {"/" + hostile}}, nil))
	if strings.Contains(text, "<script>alert") || !strings.Contains(text, "The name or the password is wrong.") {
		t.Errorf("the page is %s", text)
	}
}

// TestOnlyTrustedProxiesNameUsers sends the header of a proxy from proxies and from others.
func TestOnlyTrustedProxiesNameUsers(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		from  string
		names []string
		role  Role
		want  Caller
	}{
		"a known user":                 {"127.0.0.1:1", []string{"maria"}, None, Caller{"maria", ByProxy, Curate}},
		"a known user without session": {"[::ffff:127.0.0.1]:1", []string{"proxied"}, None, Caller{"proxied", ByProxy, Operate}},
		"another user with a role":     {"10.1.2.3:1", []string{"anna@library.example"}, Read, Caller{"anna@library.example", ByProxy, Read}},
		"another user without a role":  {"10.1.2.3:1", []string{"anna"}, None, Caller{Name: "nobody was served"}},
		"a client, not a proxy":        {"10.1.3.3:1", []string{"maria"}, Operate, Caller{Name: "nobody was served"}},
		"two names":                    {"127.0.0.1:1", []string{"maria", "jan"}, Operate, Caller{Name: "nobody was served"}},
		"an empty name":                {"127.0.0.1:1", []string{""}, Operate, Caller{Name: "nobody was served"}},
		"a list of names":              {"127.0.0.1:1", []string{"maria, jan"}, Operate, Caller{Name: "nobody was served"}},
	} {
		d := newGuarded(t)
		d.o.Proxy = Proxy{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.1.2.0/24")}, Header: "X-Remote-User", Role: c.role}
		d.send("POST", "/api/v1/pause", nil, func(r *http.Request) {
			r.RemoteAddr = c.from
			r.Header["X-Remote-User"] = c.names
		})
		if d.caller != c.want {
			t.Errorf("%s: the caller is %+v, want %+v", what, d.caller, c.want)
		}
	}
	d := newGuarded(t)
	d.o.Proxy.Networks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	in := d.send("POST", "/login", form("maria", "correct horse battery"), func(r *http.Request) {
		r.RemoteAddr = "127.0.0.1:9"
		r.Header.Set("X-Forwarded-For", "203.0.113.200, 198.51.100.4, 127.0.0.2")
		r.Header.Set("X-Forwarded-Proto", "https")
	})
	if d.reports[0].From != "198.51.100.4" || !in.Cookies()[0].Secure {
		t.Errorf("behind a proxy: from %s, cookie %v", d.reports[0].From, in.Cookies()[0])
	}
	d.send("POST", "/login", form("maria", "correct horse battery"), func(r *http.Request) {
		r.Header.Set("X-Forwarded-For", "203.0.113.200")
	})
	if d.reports[1].From != "192.0.2.7" {
		t.Errorf("a client says it is at %s, and is believed", d.reports[1].From)
	}
}

// TestUserFilesAreParsed parses files of users with and without faults.
func TestUserFilesAreParsed(t *testing.T) {
	t.Parallel()
	good := hashPassword("correct horse battery", cheap)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"# staff\nmaria curate " + good + "\n\njan operate -\n", "maria:curate:true jan:operate:false"},
		{"maria curate\n", "line 1 has 2 words"},
		{"maria rule " + good, `unknown role "rule"; valid roles: read, curate, operate`},
		{"a=b read -", "is not a name"},
		{"m read -\nm read -", "line 2: the name m is used twice"},
		{"maria curate plaintext", "is not hashed with argon2id"},
		{"maria curate " + strings.Replace(good, "m=64", "m=4000000", 1), "takes too much"},
		{"maria curate " + strings.Replace(good, "t=1", "t=0", 1), "takes too much"},
		{"maria curate " + good[:len(good)-4], "is damaged"},
		{strings.Repeat("x", 2<<20) + " read -", "is not a name"},
		{"\xff\xfe read -", "is not a name"},
	} {
		all, err := parseUsers(c.text)
		var names []string
		for _, u := range all {
			names = append(names, fmt.Sprintf("%s:%s:%t", u.Name, u.Role, u.HasPassword()))
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%.40q: %.200q, want %q", c.text, got, c.want)
		}
	}
}

// TestUsersChangeWhileTheDaemonRuns adds, changes and removes users, and damages the file. A file that could not be
// read is read again although its time and size stay: arcrawl user changes its owner afterwards.
func TestUsersChangeWhileTheDaemonRuns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "admin.users")
	var log strings.Builder
	users := watch(zerolog.New(&log), path, true, Users)
	if all := users(); len(all) > 0 || log.Len() > 0 {
		t.Errorf("without a file: %v, %s", all, log.String())
	}
	archivetest.Must(t, AddUser(path, "maria", Read, "correct horse battery"))
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "horse") || !strings.Contains(string(text), "$argon2id$v=19$m=65536,t=3,p=1$") {
		t.Errorf("the file is %s, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v; want it readable by its owner alone", info.Mode(), err)
	}
	for what, err := range map[string]error{
		"a name twice":     AddUser(path, "maria", Read, ""),
		"a short password": AddUser(path, "jan", Read, "short"),
		"a bad name":       AddUser(path, "jan jansen", Read, ""),
		"nobody":           SetRole(path, "jan", Read),
		"nobody's removal": RemoveUser(path, "jan"),
	} {
		if err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
	archivetest.Must(t, SetRole(path, "maria", Curate))
	archivetest.Must(t, SetPassword(path, "maria", "a library of words"))
	if all := users(); len(all) != 1 || all[0].Role != Curate || !isPassword(all[0].Hash, "a library of words", cheap) {
		t.Errorf("the users are %+v", all)
	}
	write := func(text string) {
		t.Helper()
		at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
		archivetest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		archivetest.Must(t, os.Chtimes(path, at, at))
	}
	write("jan12 raed -\n")
	users()
	if all := users(); len(all) != 1 || all[0].Name != "maria" || strings.Count(log.String(), "unknown role") != 1 {
		t.Errorf("a damaged file: %v; want the last good users, and one line in the log:\n%s", all, log.String())
	}
	if err := AddUser(path, "ian", Read, ""); err == nil {
		t.Error("a damaged file was replaced")
	}
	write("jan12 read -\n")
	if all := users(); len(all) != 1 || all[0].Name != "jan12" {
		t.Errorf("the file that can be read again has %v", all)
	}
	archivetest.Must(t, os.Remove(path))
	if all := users(); len(all) > 0 {
		t.Errorf("a removed file: %v", all)
	}
}

func change(now, wanted, again string) url.Values {
	return url.Values{"now": {now}, "new": {wanted}, "again": {again}}
}

// TestUsersChangeTheirOwnPasswords changes a password in one of two browsers. The other session ends, faults say what
// is wrong, and only a page of the dashboard may ask for it.
func TestUsersChangeTheirOwnPasswords(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	d.o.SetPassword = func(name, password string) error {
		at := userAt(d.users, name)
		d.users[at].Hash = hashPassword(password, cheap)
		return nil
	}
	const old, wanted = "correct horse battery", "a library of words"
	here := with(d.send("POST", "/login", form("maria", old), nil).Cookies())
	there := with(d.send("POST", "/login", form("maria", old), nil).Cookies())
	page := func(answer *http.Response) string {
		t.Helper()
		text, err := io.ReadAll(answer.Body)
		archivetest.Must(t, err)
		return string(text)
	}
	if text := page(d.send("GET", "/password", nil, here)); !strings.Contains(text, "New password") || !strings.Contains(text, "maria") {
		t.Errorf("the page is\n%s", text)
	}
	for _, c := range []struct {
		form   url.Values
		status int
		says   string
	}{
		{change("wrong horse battery", wanted, wanted), 401, "current password is wrong"},
		{change(old, wanted, wanted+"!"), 400, "are not the same"},
		{change(old, "short", "short"), 400, "fewer than 12 characters"},
		{change(old, strings.Repeat("x", 2000), strings.Repeat("x", 2000)), 400, "more than 1024"},
		{change(old, old, old), 400, "is the current one"},
		{change("", wanted, wanted), 400, "Write your current password"},
	} {
		answer := d.send("POST", "/password", c.form, here)
		if text := page(answer); answer.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%v: %d\n%s", c.form, answer.StatusCode, text)
		}
	}
	foreign := func(r *http.Request) { here(r); r.Header.Set("Sec-Fetch-Site", "same-site") }
	if answer := d.send("POST", "/password", change(old, wanted, wanted), foreign); answer.StatusCode != http.StatusForbidden {
		t.Errorf("another page changes the password: %d", answer.StatusCode)
	}
	answer := d.send("POST", "/password", change(old, wanted, wanted), here)
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/password?changed=" {
		t.Fatalf("changed: %d\n%s", answer.StatusCode, page(answer))
	}
	if got := d.reports[len(d.reports)-1]; got != (SignIn{d.now, ChangePassword, "maria", "192.0.2.7", BySession, true}) {
		t.Errorf("reported %+v", got)
	}
	renewed := with(answer.Cookies())
	if d.send("GET", "/", nil, renewed); d.caller.Name != "maria" {
		t.Error("the browser that changed the password has no session any more")
	}
	if text := page(d.send("GET", "/password?changed=", nil, renewed)); !strings.Contains(text, "Other browsers have to sign in again") {
		t.Errorf("after the change the page is\n%s", text)
	}
	if d.send("GET", "/", nil, there); d.caller.Name == "maria" {
		t.Error("the other browser still has its session")
	}
	if status := d.send("POST", "/login", form("maria", old), nil).StatusCode; status != http.StatusUnauthorized {
		t.Errorf("the old password: %d", status)
	}
	if status := d.send("POST", "/login", form("maria", wanted), nil).StatusCode; status != http.StatusSeeOther {
		t.Errorf("the new password: %d", status)
	}
	d.o.SetPassword = func(string, string) error { return errors.New("read-only file system") }
	answer = d.send("POST", "/password", change(wanted, old, old), renewed)
	if text := page(answer); answer.StatusCode != http.StatusInternalServerError || !strings.Contains(text, "arcrawl user add --change --password maria") {
		t.Errorf("a file that cannot be written: %d\n%s", answer.StatusCode, text)
	}
}

// TestGuessesOfTheCurrentPasswordAreLimited guesses in a browser that somebody has left open.
func TestGuessesOfTheCurrentPasswordAreLimited(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	d.o.SetPassword = func(string, string) error { return errors.New("must not be asked for") }
	open := with(d.send("POST", "/login", form("maria", "correct horse battery"), nil).Cookies())
	for range limitDevice {
		d.send("POST", "/password", change("wrong horse battery", "a library of words", "a library of words"), open)
	}
	answer := d.send("POST", "/password", change("correct horse battery", "a library of words", "a library of words"), open)
	if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
		t.Errorf("after %d guesses: %d", limitDevice, answer.StatusCode)
	}
}

// TestOnlyUsersWithASessionChangePasswords asks as nobody, with a token, and as somebody whom a proxy names.
func TestOnlyUsersWithASessionChangePasswords(t *testing.T) {
	t.Parallel()
	d := newGuarded(t)
	d.o.SetPassword = func(string, string) error { t.Error("a password was changed"); return nil }
	words := change("correct horse battery", "a library of words", "a library of words")
	token := with(d.send("POST", "/login", form("", "a-token-of-some-length"), nil).Cookies())
	for what, as := range map[string]func(*http.Request){"nobody": nil, "a token": token} {
		for _, method := range []string{"GET", "POST"} {
			body := words
			if method == "GET" {
				body = nil
			}
			answer := d.send(method, "/password", body, as)
			if at := answer.Header.Get("Location"); answer.StatusCode != http.StatusSeeOther || at != "/login?to=%2Fpassword" {
				t.Errorf("%s, %s: %d, to %q", what, method, answer.StatusCode, at)
			}
		}
	}
}
