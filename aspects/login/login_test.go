package login

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// site has two accounts. It shows each reader only the part that belongs to the account.
type site struct {
	*httptest.Server
	logins  []string // who logged in
	cookies []string // what requests of pages sent
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := new(site)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if r.FormValue("pass") != "pa55-"+r.FormValue("user") {
				return
			}
			s.logins = append(s.logins, r.FormValue("user"))
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3ss10n-" + r.FormValue("user"), Path: "/"})
			return
		}
		s.cookies = append(s.cookies, r.URL.Path+" "+r.Header.Get("Cookie"))
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Path: "/"})
	}))
	t.Cleanup(s.Close)
	return s
}

// options returns the options of a user with a password; "" is nobody.
func (s *site) options(user, password string) *Options {
	if user == "" {
		return &Options{Cookies: CookiesSession}
	}
	return &Options{Cookies: CookiesSession, OverHTTP: true, Login: Form{
		URI: s.URL + "/session", Success: regexp.MustCompile(`(?m)^Set-Cookie: session=`),
		Fields:       []Header{{Name: "user", Value: user}},
		SecretFields: []Header{{Name: "pass", Secret: schema.NewSecret("file:"+user, password)}},
	}}
}

// byPath returns a configuration with other options for URIs whose path begins with one of the keys.
func byPath(all map[string]*Options) InForce {
	return func(a schema.About) *Options {
		for path, o := range all {
			if path != "/" && strings.HasPrefix(a.URI.Path(), path) {
				return o
			}
		}
		return all["/"]
	}
}

// visitor requests pages of a site as the crawl does.
type visitor struct {
	aspect Aspect
	client *fetch.Client
	now    time.Time
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions("").WithLogger(nil).WithInMemory(true).WithMemTableSize(8 << 20))
	must(t, err)
	jars := hosts.OpenCookies(db)
	client := fetch.New(fetch.Options{Dial: fetch.Guard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), SpoolDir: t.TempDir()})
	t.Cleanup(func() {
		_ = client.Close()
		_ = db.Close()
	})
	return &visitor{aspect: Aspect{Cookies: jars}, client: client, now: time.Now()}
}

// visit requests a page, after the steps of the login. It returns why the login failed.
func (v *visitor) visit(t *testing.T, of InForce, address string) (failed error) {
	t.Helper()
	u, err := uri.Parse(address)
	must(t, err)
	about, plain := schema.About{URI: u, Now: v.now}, fetch.Request{URI: u, Limits: fetch.DefaultLimits()}
	o := of(about)
	fetched := func(x fetch.Request) *fetch.Capture {
		got, err := v.client.Fetch(t.Context(), x)
		must(t, err)
		t.Cleanup(func() { _ = got.Close() })
		return got
	}
	for range 3 {
		step, err := v.aspect.LoginStep(about, plain, of)
		switch {
		case err != nil:
			t.Fatal(err)
		case step == nil:
			_, err := v.aspect.AddTo(&plain, o, v.now)
			if err == nil {
				err = v.aspect.learn(fetched(plain), o)
			}
			must(t, err)
			return nil
		case !step.Rest.IsZero():
			return fmt.Errorf("rests until %s", step.Rest)
		}
		if _, failed, err := step.Take(fetched(step.Exchange), o); err != nil || failed != nil {
			return failed
		}
	}
	t.Fatalf("%s: the login does not end", u)
	return nil
}

// TestEachLoginHasItsOwnCookies visits a site with two accounts in turn, and then without one of them, and without any.
func TestEachLoginHasItsOwnCookies(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := newVisitor(t)
	both := byPath(map[string]*Options{
		"/": s.options("anna", "pa55-anna"), "/b": s.options("berta", "pa55-berta"), "/free": s.options("", ""),
	})
	for _, path := range []string{"/a1", "/b1", "/free1", "/a2", "/b2", "/free2"} {
		if err := v.visit(t, both, s.URL+path); err != nil {
			t.Error(err)
		}
	}
	without := byPath(map[string]*Options{"/": s.options("", "")})
	if err := v.visit(t, without, s.URL+"/a3"); err != nil {
		t.Error(err)
	}
	want := "/a1 session=s3ss10n-anna|/b1 session=s3ss10n-berta|/free1 |" +
		"/a2 session=s3ss10n-anna; seen=1|/b2 session=s3ss10n-berta; seen=1|/free2 seen=1|/a3 seen=1"
	if got := strings.Join(s.cookies, "|"); got != want {
		t.Errorf("requests sent\n%s, want\n%s", got, want)
	}
	if got := strings.Join(s.logins, " "); got != "anna berta" {
		t.Errorf("logged in: %s", got)
	}
}

// TestOnlyLoginsOfTheConfigurationFail lets one of two logins fail, and then changes the settings of it.
func TestOnlyLoginsOfTheConfigurationFail(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := newVisitor(t)
	with := func(password string) InForce {
		return byPath(map[string]*Options{"/": s.options("anna", "pa55-anna"), "/b": s.options("berta", password)})
	}
	c := with("wrong")
	if err := v.visit(t, c, s.URL+"/a"); err != nil {
		t.Error(err)
	}
	if err := v.visit(t, c, s.URL+"/b"); err == nil || !strings.Contains(err.Error(), "check the credentials") {
		t.Errorf("with a wrong password: %v", err)
	}
	if err := v.visit(t, c, s.URL+"/b"); err == nil || !strings.Contains(err.Error(), "rests until") {
		t.Errorf("after a login that failed: %v", err)
	}
	if got := v.aspect.LoginFailures(c, v.now); len(got) != 1 || !strings.Contains(got[0].Why, "login.success does not match") {
		t.Errorf("failures: %v", got)
	}
	c = with("pa55-berta")
	if got := v.aspect.LoginFailures(c, v.now); len(got) != 0 {
		t.Errorf("failures with other settings: %v", got)
	}
	if err := v.visit(t, c, s.URL+"/b"); err != nil {
		t.Error(err)
	}
	if got := v.aspect.LoginFailures(c, v.now); len(got) != 0 {
		t.Errorf("failures after a login: %v", got)
	}
}

// FuzzLoginPage reads arbitrary pages for the form of a login. A page without the field of the password has none, and
// what the page adds to the form has its bound and is sent as it was read.
func FuzzLoginPage(f *testing.F) {
	for _, page := range []string{
		`<form><input name=user><input type=password name=pass><input type=hidden name=csrf value="a&amp;b"></form>`,
		`<form><input type=hidden name=no value=1></form><form action=/in><input type="HIDDEN" name="t" value="&#0;"><input name=pass>`,
		`<form><form><select name=pass></form>`, `<input name=pass type=hidden>`, `<script><form><input name=pass></script>`,
		"<form\x00><input name='pass", "<!--<form>--><button name=pass value=\u202e>", `<textarea><input name=pass></textarea></form>`,
	} {
		f.Add([]byte(page))
	}
	l := &Form{SecretFields: []Header{{Name: "pass"}}}
	f.Fuzz(func(t *testing.T, page []byte) {
		got := hiddenFields(page, l)
		if got == nil {
			return
		}
		if !bytes.Contains(page, []byte("pass")) && !bytes.ContainsAny(page, "&\x00") || len(got) > maxHidden {
			t.Fatalf("the form of %q has the fields %v", page, got)
		}
		sent := got.Encode()
		back, err := url.ParseQuery(sent)
		if err != nil || len(back) != len(got) || len(sent) > 9*len(page)+1 {
			t.Fatalf("the fields %v are sent as %q, %v", got, sent, err)
		}
	})
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
