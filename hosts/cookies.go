// This file keeps the cookies that hosts set, each for the requests to its own host alone.
//
// A [Cookies] has one jar for each host. [Cookies.Learn] takes the Set-Cookie fields of an answer, and [Cookies.Header]
// returns the Cookie field of a request. A cookie for a whole domain goes to the host that set it, and to no other. It
// is refused if the domain is a public suffix or does not include the host (RFC 6265, 5.3).
//
// The cookies of a login are in a [CookieSession], so that they are sent with this login and with no other request.
//
// A jar is kept in memory or stored. Stored jars are written by [Cookies.Flush], so a crash loses the cookies since the
// last one; the site sets them again. All jars are bounded in number and bytes.
//
// The keys of stored jars begin with "pC". The host follows.

package hosts

import (
	"cmp"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/net/publicsuffix"

	"github.com/arcrawl/arcrawl/uri"
)

// The bounds of jars.
const (
	maxCookie  = 4 << 10              // bytes of name, value and path together
	maxCookies = 50                   // of a host; see oldest
	maxHeader  = 8 << 10              // bytes of the Cookie field of a request
	maxAge     = 400 * 24 * time.Hour // as browsers have it
	maxJars    = 1000                 // jars, each of at most maxJar bytes
	maxJar     = 32 << 10             // bytes of the cookies of a host together
	portion    = 16                   // jars in one transaction
)

// cookie is one cookie. Fields are only added.
type cookie struct {
	Name    string `cbor:"1,keyasint"`
	Value   string `cbor:"2,keyasint"`
	Path    string `cbor:"3,keyasint"`
	Secure  bool   `cbor:"4,keyasint,omitempty"`
	Expires int64  `cbor:"5,keyasint,omitempty"` // in seconds since 1970; 0 = with the session
}

// size returns how many bytes of a jar the cookie takes.
func (c cookie) size() int { return len(c.Name) + len(c.Value) + len(c.Path) }

// jar holds the cookies of a host, the oldest first. It is never changed in place.
type jar []cookie

// CookieSession holds the cookies of one login to one host, in memory alone. The zero value has none. Its methods may
// be called by several goroutines at once.
type CookieSession struct {
	mu  sync.Mutex // guards jar
	jar jar
}

// Header returns the cookies for a request, as [Cookies.Header] does.
func (s *CookieSession) Header(u uri.URI, others []string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jar.header(u, others, now)
}

// Learn takes the cookies of an answer.
func (s *CookieSession) Learn(u uri.URI, answer http.Header, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jar = s.jar.after(u, answer.Values("Set-Cookie"), now)
}

// Cookies keeps the jars of all hosts. Its methods may be called by several goroutines at once. A nil Store has no jar.
type Cookies struct {
	stored *Rows[uri.Host, jar]

	mu      sync.Mutex // guards session
	session map[uri.Host]jar
}

// OpenCookies returns a store of jars in db.
func OpenCookies(db *badger.DB) *Cookies {
	return &Cookies{session: map[uri.Host]jar{}, stored: NewHostRows(db, RowKind[uri.Host, jar]{
		Name: "cookie jar", Prefix: "pC", MaxInMemory: maxJars, RowBytes: maxJar, Portion: portion,
		Encode: func(j jar) ([]byte, error) { return EncodeRow(j) },
		Decode: func(b []byte, to *jar) error { return DecodeRow(b, to) },
	})}
}

// Flush writes the jars that are stored and were changed.
func (s *Cookies) Flush() error { return s.stored.Flush() }

// Forget drops the jars of hosts from memory, as [Rows.Forget] does. Jars that are not stored are lost.
func (s *Cookies) Forget(is func(uri.Host) bool) {
	s.stored.Forget(is)
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.session, func(h uri.Host, _ jar) bool { return is(h) })
}

// OnDamage makes the store report each damaged row once, and replace it by an empty one. It must be called before the
// store is used.
func (s *Cookies) OnDamage(report func(error)) { s.stored.OnDamage(report) }

// Bytes returns how much memory the jars take at most.
func (s *Cookies) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored.Bytes() + int64(len(s.session))*maxJar
}

// Header returns the cookies for a request, in the form of the field Cookie; "" if there are none. keep says that the
// jar is a stored one. Cookies with a name in others are left out.
func (s *Cookies) Header(u uri.URI, keep bool, others []string, now time.Time) (string, error) {
	if s == nil {
		return "", nil
	}
	var j jar
	if keep {
		var err error
		if j, err = s.stored.Get(u.Host()); err != nil {
			return "", err
		}
	} else {
		s.mu.Lock()
		j = s.session[u.Host()]
		s.mu.Unlock()
	}
	return j.header(u, others, now), nil
}

// header returns the cookies for a request.
func (j jar) header(u uri.URI, others []string, now time.Time) string {
	var fit []cookie
	for _, c := range j {
		gone := c.Expires != 0 && c.Expires <= now.Unix()
		if !gone && (!c.Secure || u.Scheme() == "https") && matches(u.Path(), c.Path) && !slices.Contains(others, c.Name) {
			fit = append(fit, c)
		}
	}
	slices.SortStableFunc(fit, func(a, b cookie) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	var text strings.Builder
	for _, c := range within(fit) {
		if text.Len() > 0 {
			text.WriteString("; ")
		}
		text.WriteString(c.Name + "=" + c.Value)
	}
	return text.String()
}

// within returns the cookies for which one field has room, in their order. Cookies for encrypted requests alone have
// room before all others.
func within(fit []cookie) []cookie {
	left := maxHeader
	has := make([]bool, len(fit))
	for _, secure := range []bool{true, false} {
		for i, c := range fit {
			if c.Secure != secure {
				continue
			}
			need := len(c.Name) + len(c.Value) + len("=; ")
			if need > left {
				break
			}
			left, has[i] = left-need, true
		}
	}
	sent := fit[:0]
	for i, c := range fit {
		if has[i] {
			sent = append(sent, c)
		}
	}
	return sent
}

// matches reports whether a cookie of a path is for a request of another path (RFC 6265, 5.1.4).
func matches(asked, path string) bool {
	rest, ok := strings.CutPrefix(asked, path)
	return ok && (rest == "" || strings.HasSuffix(path, "/") || rest[0] == '/')
}

// Learn takes the cookies of an answer into the jar of its host. keep says that the jar is a stored one. If it is not,
// a stored jar of the host is emptied.
func (s *Cookies) Learn(u uri.URI, answer http.Header, keep bool, now time.Time) error {
	fields := answer.Values("Set-Cookie")
	if s == nil {
		return nil
	}
	if keep && len(fields) == 0 {
		return nil
	}
	if keep {
		return s.stored.Change(u.Host(), func(before jar) (jar, bool) {
			after := before.after(u, fields, now)
			return after, !slices.Equal(before, after)
		})
	}
	s.mu.Lock()
	if len(fields) > 0 {
		for other := range s.session {
			if len(s.session) < maxJars {
				break
			}
			delete(s.session, other) // any host: it gets its cookies again
		}
		s.session[u.Host().Clone()] = s.session[u.Host()].after(u, fields, now)
	}
	s.mu.Unlock()
	return s.stored.Change(u.Host(), func(before jar) (jar, bool) { return nil, len(before) > 0 })
}

// after returns the jar with the cookies of an answer.
func (j jar) after(u uri.URI, fields []string, now time.Time) jar {
	after := slices.DeleteFunc(slices.Clone(j), func(c cookie) bool { return c.Expires != 0 && c.Expires <= now.Unix() })
	if len(fields) > 2*maxCookies {
		fields = fields[:2*maxCookies]
	}
	for _, f := range fields {
		c, gone, ok := parse(u, f, now)
		if !ok || after.protects(u, c) {
			continue
		}
		same := func(o cookie) bool { return o.Name == c.Name && o.Path == c.Path }
		switch i := slices.IndexFunc(after, same); {
		case i >= 0 && gone:
			after = slices.Delete(after, i, i+1)
		case i >= 0:
			after[i] = c
		case !gone:
			after = append(after, c)
		}
	}
	size := 0
	for _, c := range after {
		size += c.size()
	}
	for len(after) > maxCookies || size > maxJar {
		i := after.oldest()
		size -= after[i].size()
		after = slices.Delete(after, i, i+1)
	}
	return after
}

// oldest returns the index of the cookie that a full jar loses: the oldest one that is not for encrypted requests
// alone, else the oldest (RFC 6265bis, 5.7). Whoever can change an answer without encryption could otherwise push the
// session of the encrypted requests out.
func (j jar) oldest() int {
	return max(0, slices.IndexFunc(j, func(c cookie) bool { return !c.Secure }))
}

// protects reports whether an answer without encryption sets a cookie that would hide or replace one that was set for
// encrypted requests alone (RFC 6265bis, 5.7, "leave secure cookies alone"). Whoever can change the answer could
// otherwise choose the session of the encrypted requests.
func (j jar) protects(u uri.URI, c cookie) bool {
	return u.Scheme() != "https" && slices.ContainsFunc(j, func(o cookie) bool {
		return o.Secure && o.Name == c.Name && matches(c.Path, o.Path)
	})
}

// parse returns the cookie that a host sets. gone says that it takes the cookie back.
func parse(u uri.URI, field string, now time.Time) (c cookie, gone, ok bool) {
	if len(field) > 2*maxCookie {
		return c, false, false
	}
	got, err := http.ParseSetCookie(field)
	if err != nil || strings.ContainsAny(got.Value, ";\",\\") || !isFor(u.Hostname(), got.Domain) {
		return c, false, false
	}
	secure, own := u.Scheme() == "https", got.Domain == "" && got.Path == "/"
	switch {
	case got.Secure && !secure,
		strings.HasPrefix(got.Name, "__Secure-") && !got.Secure,
		strings.HasPrefix(got.Name, "__Host-") && !(got.Secure && own):
		return c, false, false
	}
	c = cookie{
		Name: strings.Clone(got.Name), Value: strings.Clone(got.Value), Path: strings.Clone(got.Path), Secure: got.Secure,
	}
	if !strings.HasPrefix(c.Path, "/") {
		c.Path = u.Path()[:max(1, strings.LastIndexByte(u.Path(), '/'))]
	}
	if c.size() > maxCookie {
		return c, false, false
	}
	switch last := now.Add(maxAge); {
	case got.MaxAge < 0, got.MaxAge == 0 && !got.Expires.IsZero() && !got.Expires.After(now):
		return c, true, true
	case got.MaxAge > 0:
		c.Expires = min(now.Unix()+int64(min(got.MaxAge, int(maxAge/time.Second))), last.Unix())
	case !got.Expires.IsZero():
		c.Expires = min(got.Expires.Unix(), last.Unix())
	}
	return c, false, true
}

// isFor reports whether a host may set a cookie for a domain.
func isFor(host, domain string) bool {
	domain = strings.ToLower(strings.TrimPrefix(domain, "."))
	if domain == "" || domain == host {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix != domain && strings.HasSuffix(host, "."+domain)
}
