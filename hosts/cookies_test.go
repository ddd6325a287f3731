package hosts

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

func learn(t *testing.T, s *Cookies, u string, keep bool, fields ...string) {
	t.Helper()
	must(t, s.Learn(uri.FromCanonical(u), http.Header{"Set-Cookie": fields}, keep, noon))
}

func sent(t *testing.T, s *Cookies, u string, keep bool, at time.Time, others ...string) string {
	t.Helper()
	got, err := s.Header(uri.FromCanonical(u), keep, others, at)
	must(t, err)
	return got
}

// TestWhichCookiesAreSent sets cookies of all kinds and looks what is sent to which address.
func TestWhichCookiesAreSent(t *testing.T) {
	t.Parallel()
	const page = "https://www.news.example.co.uk/a/b"
	db := openBadger(t, "")
	for _, c := range []struct {
		set, asked, want string
		after            time.Duration
	}{
		{"id=1", "https://www.news.example.co.uk/a/x", "id=1", 0},
		{"id=1", "https://www.news.example.co.uk/b", "", 0},
		{"id=1; Path=/", "http://www.news.example.co.uk/b", "id=1", 0},
		{"id=1; Path=/a", "http://www.news.example.co.uk/abc", "", 0},
		{"id=1; Path=/; Secure", "http://www.news.example.co.uk/", "", 0},
		{"id=1; Path=/; Secure", "https://www.news.example.co.uk/", "id=1", 0},
		{"id=1; Path=/", "https://news.example.co.uk/", "", 0},
		{"id=1; Path=/", "https://www.news.example.co.uk:8443/", "", 0},
		{"id=1; Path=/; Domain=.example.co.uk", "https://www.news.example.co.uk/", "id=1", 0},
		{"id=1; Path=/; Domain=.example.co.uk", "https://other.example.co.uk/", "", 0},
		{"id=1; Path=/; Domain=co.uk", "https://www.news.example.co.uk/", "", 0},
		{"id=1; Path=/; Domain=other.example", "https://www.news.example.co.uk/", "", 0},
		{"id=1; Path=/; Domain=ews.example.co.uk", "https://www.news.example.co.uk/", "", 0},
		{"id=1; Path=/; Max-Age=60", "https://www.news.example.co.uk/", "id=1", 59 * time.Second},
		{"id=1; Path=/; Max-Age=60", "https://www.news.example.co.uk/", "", 60 * time.Second},
		{"id=1; Path=/; Max-Age=99999999999", "https://www.news.example.co.uk/", "", 401 * 24 * time.Hour},
		{"id=1; Path=/; Expires=Sun, 22 Nov 2026 13:00:00 GMT", "https://www.news.example.co.uk/", "id=1", 59 * time.Minute},
		{"id=1; Path=/; Expires=Sun, 22 Nov 2026 13:00:00 GMT", "https://www.news.example.co.uk/", "", time.Hour},
		{"__Host-id=1; Path=/; Secure; Domain=example.co.uk", "https://www.news.example.co.uk/", "", 0},
		{"__Host-id=1; Path=/; Secure", "https://www.news.example.co.uk/", "__Host-id=1", 0},
		{"__Secure-id=1; Path=/", "https://www.news.example.co.uk/", "", 0},
		{"consent=1; Path=/", "https://www.news.example.co.uk/", "", 0},
		{"id=" + strings.Repeat("x", 5<<10) + "; Path=/", "https://www.news.example.co.uk/", "", 0},
		{"id=a\r\nX: y; Path=/", "https://www.news.example.co.uk/", "", 0},
		{"\x01", "https://www.news.example.co.uk/", "", 0},
	} {
		for _, keep := range []bool{false, true} {
			s := OpenCookies(db)
			learn(t, s, page, keep, c.set)
			if got := sent(t, s, c.asked, keep, noon.Add(c.after), "consent"); got != c.want {
				t.Errorf("%.60q, asked for %s after %s: %q, want %q", c.set, c.asked, c.after, got, c.want)
			}
		}
	}
}

// TestCookiesAreReplacedAndTakenBack plays the course of a session.
func TestCookiesAreReplacedAndTakenBack(t *testing.T) {
	t.Parallel()
	s := OpenCookies(openBadger(t, ""))
	const u = "https://a.example/x/y"
	learn(t, s, u, true, "a=1; Path=/", "b=2; Path=/x", "c=3; Path=/")
	learn(t, s, u, true, "c=4; Path=/")
	if got := sent(t, s, u, true, noon); got != "b=2; a=1; c=4" {
		t.Errorf("sent: %q", got)
	}
	learn(t, s, u, true, "a=; Path=/; Max-Age=0", "b=0; Path=/x; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
	if got := sent(t, s, u, true, noon); got != "c=4" {
		t.Errorf("after two were taken back: %q", got)
	}
}

// TestAJarIsBounded sets a megabyte of cookies, at once and one by one.
func TestAJarIsBounded(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	s := OpenCookies(db)
	var fields []string
	for i := range 300 {
		fields = append(fields, fmt.Sprintf("n%d=%s; Path=/", i, strings.Repeat("v", 3500)))
	}
	learn(t, s, "https://a.example/", true, fields...)
	for _, f := range fields {
		learn(t, s, "https://a.example/", true, f)
	}
	if got := sent(t, s, "https://a.example/", true, noon); len(got) > 8<<10 || len(got) < 4<<10 {
		t.Errorf("%d bytes are sent", len(got))
	}
	must(t, s.Flush())
	if err := db.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte("pCa.example"))
		if err == nil && item.ValueSize() > 40<<10 {
			t.Errorf("%d bytes are stored", item.ValueSize())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 5000 {
		learn(t, s, fmt.Sprintf("https://h%d.example/", i), false, "a=1; Path=/")
	}
	if n := s.Bytes(); n > 2100*(32<<10) {
		t.Errorf("jars take %d bytes", n)
	}
}

// TestAKeptJarSurvivesARestart opens the store again, and then lets the host have a jar for the session only.
func TestAKeptJarSurvivesARestart(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	s := OpenCookies(db)
	learn(t, s, "https://a.example/", true, "a=1; Path=/", "s=2; Path=/; Max-Age=60")
	learn(t, s, "https://b.example/", false, "b=1; Path=/")
	must(t, s.Flush())
	s = OpenCookies(db)
	if a, b := sent(t, s, "https://a.example/", true, noon), sent(t, s, "https://b.example/", false, noon); a != "a=1; s=2" || b != "" {
		t.Errorf("after a restart: %q and %q", a, b)
	}
	learn(t, s, "https://a.example/", false)
	must(t, s.Flush())
	if a := sent(t, OpenCookies(db), "https://a.example/", true, noon); a != "" {
		t.Errorf("a jar for the session leaves stored cookies: %q", a)
	}
}

// TestADamagedJarIsReportedOnce reads a value of another format.
func TestADamagedJarIsReportedOnce(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	s := OpenCookies(db)
	var told []error
	s.OnDamage(func(err error) { told = append(told, err) })
	for i, keep := range []bool{true, false} {
		u := uri.FromCanonical(fmt.Sprintf("https://%d.example/", i))
		err := db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("pC"+string(u.Host())), []byte{9, 1}) })
		must(t, err)
		for range 2 {
			if h, err := s.Header(u, true, nil, noon); h != "" || err != nil {
				t.Errorf("the cookies of a damaged jar: %q, %v", h, err)
			}
			if err := s.Learn(u, nil, keep, noon); err != nil {
				t.Errorf("keep %t, an answer without cookies: %v", keep, err)
			}
			must(t, s.Flush())
		}
		if len(told) != i+1 || !errors.Is(told[i], ErrCorrupt) {
			t.Errorf("keep %t: reported %v, want one damaged row", keep, told)
		}
	}
	again := OpenCookies(db)
	learn(t, again, "https://0.example/", true, "a=b")
	if got := sent(t, again, "https://0.example/", true, noon); got != "a=b" {
		t.Errorf("the jar has %q after its repair, want a=b", got)
	}
	var none *Cookies
	if h, err := none.Header(uri.FromCanonical("https://a.example/"), true, nil, noon); h != "" || err != nil {
		t.Errorf("no store: %q, %v", h, err)
	}
}

// TestAnAnswerWithoutEncryptionLeavesSecureCookiesAlone lets somebody on the way set cookies over http.
func TestAnAnswerWithoutEncryptionLeavesSecureCookiesAlone(t *testing.T) {
	t.Parallel()
	const page = "://www.news.example/a/b"
	db := openBadger(t, "")
	for _, c := range []struct{ first, scheme, then, want string }{
		{"id=1; Path=/; Secure", "http", "id=2; Path=/", "id=1"},
		{"id=1; Path=/; Secure", "http", "id=2; Path=/a", "id=1"},
		{"id=1; Path=/; Secure", "http", "id=; Path=/; Max-Age=-1", "id=1"},
		{"id=1; Path=/a; Secure", "http", "id=2; Path=/", "id=1; id=2"}, // no path below the first one
		{"id=1; Path=/; Secure", "https", "id=2; Path=/", "id=2"},
		{"id=1; Path=/", "http", "id=2; Path=/", "id=2"},
		{"id=1; Path=/; Secure", "http", "other=2; Path=/", "id=1; other=2"},
	} {
		s := OpenCookies(db)
		learn(t, s, "https"+page, false, c.first)
		learn(t, s, c.scheme+page, false, c.then)
		if got := sent(t, s, "https"+page, false, noon); got != c.want {
			t.Errorf("%q, then %q over %s: %q is sent, want %q", c.first, c.then, c.scheme, got, c.want)
		}
	}
}

// TestNewCookiesLeaveSecureOnesInAFullJar lets somebody on the way set more cookies over http than the jar, or the
// field of a request, has room for. The session of the encrypted requests stays and is sent.
func TestNewCookiesLeaveSecureOnesInAFullJar(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	for name, value := range map[string]string{"many": "v", "large": strings.Repeat("v", 3000)} {
		for _, keep := range []bool{false, true} {
			s := OpenCookies(db)
			learn(t, s, "https://www.news.example/", keep, "session=1; Path=/; Secure", "plain=1; Path=/")
			for i := range 60 {
				learn(t, s, "http://www.news.example/a/b", keep, fmt.Sprintf("n%d=%s; Path=/a", i, value))
			}
			got := sent(t, s, "https://www.news.example/a/b", keep, noon)
			if !strings.HasSuffix(got, "; session=1") || strings.Contains(got, "plain=") || len(got) > 8<<10 {
				t.Errorf("%s cookies, keep %t: %.30q…%.30q is sent", name, keep, got, got[max(0, len(got)-30):])
			}
			for i := range 60 {
				learn(t, s, "https://www.news.example/", keep, fmt.Sprintf("s%d=1; Path=/; Secure", i))
			}
			if got = sent(t, s, "https://www.news.example/", keep, noon); strings.Contains(got, "session=1") || strings.Count(got, "=") != 50 {
				t.Errorf("%s cookies, keep %t, then 60 secure ones: %q is sent", name, keep, got)
			}
		}
	}
}

// FuzzSetCookie learns arbitrary Set-Cookie fields. What goes back must be one header line with pairs alone, within its
// bound, and no other host may get it. After 400 days nothing with a date is left.
func FuzzSetCookie(f *testing.F) {
	for _, field := range []string{
		"id=1", "id=1; Path=/; Domain=.example.co.uk; Secure; HttpOnly; SameSite=None", "__Host-id=1; Secure; Path=/",
		"id=; Max-Age=-1", "id=2; Max-Age=99999999999999999999", "id=3; Expires=Thu, 01 Jan 2099 00:00:00 GMT",
		"a=\"b\\\"; c\"", "=; ;;=", "id=\x00\r\nX: y", "ä=ö; path=\u202e/", strings.Repeat("n", 5000) + "=1",
	} {
		f.Add(field, "next="+field, "a/b?c")
	}
	f.Fuzz(func(t *testing.T, one, two, path string) {
		u, err := uri.Parse("https://www.news.example.co.uk/" + path)
		if err != nil || u.Host() != "www.news.example.co.uk" {
			t.Skip("no page of the host")
		}
		var s CookieSession
		s.Learn(u, http.Header{"Set-Cookie": {one, two, one}}, noon)
		got := s.Header(u, nil, noon)
		s.Learn(u, http.Header{"Set-Cookie": {one, two, one}}, noon)
		if again := s.Header(u, nil, noon); again != got {
			t.Errorf("the same answer twice: %q, then %q", got, again)
		}
		if len(got) > 8<<10 || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Fatalf("a request would have the field %q", got)
		}
		for pair := range strings.SplitSeq(got, "; ") {
			if got != "" && strings.ContainsAny(pair, ";,") {
				t.Errorf("%q is no pair of %q", pair, got)
			}
		}
		if plain := s.Header(uri.FromCanonical("http://www.news.example.co.uk"+u.RequestTarget()), nil, noon); len(plain) > len(got) {
			t.Errorf("without encryption %q is sent, with it %q", plain, got)
		}
		if !strings.ContainsAny(strings.ToLower(one+two), "xm") { // neither Expires nor Max-Age
			return
		}
		if late := s.Header(u, nil, noon.Add(400*24*time.Hour)); len(late) > len(got) {
			t.Errorf("after 400 days %q is sent, at first %q", late, got)
		}
	})
}
