package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
)

// Options say how a handler is reached.
type Options struct {
	// Tokens returns the tokens in force. Nil is for a unix socket, which serves every process that may open it.
	Tokens func() []Token
	// Caller, when set, is for an address that asks nobody to sign in. It returns the caller of a request, or why the
	// request is refused, with a status other than 0.
	Caller func(*http.Request) (c Caller, status int, why string)

	// Users, when set, returns the named users in force.
	Users func() []User
	// SignIns is needed with Tokens.
	SignIns *SignIns
	// SetPassword, when set, changes the password of a user.
	SetPassword func(name, password string) error
	// Report, when set, receives each attempt to sign in, or to change a password, that was decided.
	Report func(SignIn)
	Proxy  Proxy

	Remote bool     // reached beyond this machine: the Host header may be any IP address
	Names  []string // host names of this machine that the Host header may have
	TLS    bool     // browsers send the cookie only over TLS

	// Crawl, when set, returns the name of the crawl, for the page to sign in.
	Crawl func() string

	// Frames, when set, returns the origin whose pages a page of the dashboard may have in a frame, or "".
	Frames func(*http.Request) string
}

// Guard protects a handler. No page of another site may frame it, read it, or make a browser send orders to it.
//
// With tokens it checks two more things. The Host header must be a loopback name, one of the configured names, or with
// Remote an IP address. Otherwise a page whose name resolves to this machine (DNS rebinding) would have the same origin
// as the API. And the request must say who sent it: a token as a bearer token or as the password of any user; the
// header of a trusted proxy; the cookie of a session; or the cookie of a token. Browsers are led to a page to sign in.
//
// Pages of other origins cannot read answers anyway. The guard also refuses to make them: an archived page in a frame
// of the dashboard is of the same site, so a browser would send the cookie with its requests. Who is known by a cookie
// or a proxy must also prove, for each order, that a page of the dashboard sent it. Browsers say so in Sec-Fetch-Site
// or Origin, which no page can change; so there are no tokens in forms that could be lost or stolen.
//
// Health and readiness need no caller: load balancers and containers ask for them.
func Guard(next http.Handler, o Options) http.Handler {
	ours := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		h := to.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Content-Security-Policy", o.policy(from))
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if isForeign(from) {
			deny(to, http.StatusForbidden, "a page of another origin sent this request, for example an archived page; "+
				"open the dashboard itself")
			return
		}
		serve := func(c Caller) {
			ours.ServeHTTP(to, from.WithContext(context.WithValue(from.Context(), callerKey{}, c)))
		}
		if o.Caller != nil {
			if c, status, why := o.Caller(from); status != 0 {
				deny(to, status, why)
			} else {
				serve(c)
			}
			return
		}
		if o.Tokens == nil {
			serve(Caller{Name: peerName(from.Context()), Way: Socket, Role: Operate})
			return
		}
		if isPublic(from) {
			serve(Caller{})
			return
		}
		if !o.allowedName(from.Host) {
			deny(to, http.StatusForbidden, "the host name "+from.Host+" is not allowed; use localhost or a loopback address, "+
				"or add the name to admin.names")
			return
		}
		if !o.serveSignIn(to, from) {
			o.serveKnown(to, from, serve)
		}
	})
}

// serveSignIn answers requests to sign in and out. It reports whether the request was one.
func (o Options) serveSignIn(to http.ResponseWriter, from *http.Request) bool {
	get := from.Method == http.MethodGet
	post := from.Method == http.MethodPost
	form := slices.Contains([]string{signInPath, signOutPath, passwordPath}, from.URL.Path)
	secret := from.URL.Query().Get("token")
	switch {
	case get && from.URL.Path == "/" && secret != "":
		o.signIn(to, from, secret)
	case o.SignIns == nil:
		return false
	case get && from.URL.Path == signInPath:
		show(to, http.StatusOK, pageText, view{To: inside(from.FormValue("to")), Crawl: o.crawl()})
	case post && form && !isOwn(from):
		deny(to, http.StatusForbidden, notOwn)
	case post && from.URL.Path == signInPath:
		o.signInForm(to, from)
	case post && from.URL.Path == signOutPath:
		o.signOut(to, from)
	case (get || post) && from.URL.Path == passwordPath:
		o.ownPassword(to, from)
	default:
		return false
	}
	return true
}

// notOwn says why an order of a browser is refused.
const notOwn = "the request does not say that a page of the dashboard sent it; use a current browser; programs use a token"

// serveKnown serves a request whose caller is known, and asks others to sign in.
func (o Options) serveKnown(to http.ResponseWriter, from *http.Request, serve func(Caller)) {
	c, ok := o.sentWith(from)
	byBrowser := !ok
	if byBrowser {
		c, ok = o.knownBy(from)
	}
	order := from.Method != http.MethodGet && from.Method != http.MethodHead
	switch {
	case !ok && o.Proxy.names(from) != "":
		deny(to, http.StatusForbidden, "the proxy names the user "+o.Proxy.names(from)+", who has no role here; "+
			"add the user with arcrawl user add NAME --no-password, or set admin.user_role for all")
	case !ok && wantsPage(from):
		http.Redirect(to, from, signInPath+"?to="+url.QueryEscape(from.URL.RequestURI()), http.StatusSeeOther)
	case !ok:
		if from.Header.Get("Sec-Fetch-Mode") == "" { // the dashboard shows its own page
			to.Header().Set("WWW-Authenticate", `Basic realm="arcrawl (the token is the password)"`)
		}
		deny(to, http.StatusUnauthorized,
			"the token is missing or wrong; send it as bearer token or password; admin.token_file names the file that contains it; "+
				"browsers sign in at "+signInPath)
	case order && byBrowser && !isOwn(from):
		deny(to, http.StatusForbidden, notOwn)
	default:
		serve(c)
	}
}

// sentWith returns the caller whose token is in the header of a request. It comes first, so that programs can use it
// anywhere.
func (o Options) sentWith(r *http.Request) (Caller, bool) {
	if r.Header.Get("Authorization") == "" {
		return Caller{}, false
	}
	t, ok := find(o.Tokens(), secretOf(r))
	return Caller{Name: t.Name, Way: ByToken, Role: t.Role}, ok
}

// knownBy returns the caller whom a proxy or a cookie names. A browser sends both also with what it does not show.
func (o Options) knownBy(r *http.Request) (Caller, bool) {
	users := o.users()
	if u, ok := o.Proxy.user(r, users); ok {
		return Caller{Name: u.Name, Way: ByProxy, Role: u.Role}, true
	}
	if u, ok := o.sessionOf(r); ok {
		return Caller{Name: u.Name, Way: BySession, Role: u.Role}, true
	}
	if t, ok := o.tokenOf(r); ok {
		return Caller{Name: t.Name, Way: ByToken, Role: t.Role}, true
	}
	return Caller{}, false
}

// sessionOf returns the user who signed in with the browser that sends a request.
func (o Options) sessionOf(r *http.Request) (User, bool) {
	c, err := r.Cookie(sessionName(r.Host))
	if err != nil || o.SignIns == nil {
		return User{}, false
	}
	return o.SignIns.sessions.find(c.Value, o.users(), o.SignIns.now())
}

// isPublic reports whether a request needs no caller: it asks for health, or for a file of the page to sign in.
func isPublic(r *http.Request) bool {
	return r.Method == http.MethodGet &&
		slices.Contains([]string{"/healthz", "/readyz", "/style.css", "/icon.svg", "/login.js"}, r.URL.Path)
}

// wantsPage reports whether a browser asks for a page to show it.
func wantsPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") &&
		!strings.HasPrefix(r.URL.Path, api.Base) && r.Header.Get("Authorization") == ""
}

// isOwn reports whether a browser says that a page of the dashboard sent a request.
func isOwn(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Host != "" && origin.Host == r.Host
}

// policy returns the content security policy of the pages of the dashboard.
func (o Options) policy(r *http.Request) string {
	frames := ""
	if o.Frames != nil {
		if origin := o.Frames(r); origin != "" {
			frames = "; frame-src " + origin
		}
	}
	return "default-src 'self'" + frames + "; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
}

// isForeign reports whether a page of another origin sent a request. Only a person who follows a link may come from
// elsewhere, and only to a page of the dashboard.
func isForeign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "": // an old browser, or no browser
		text := r.Header.Get("Origin") // "null" is a sandboxed frame
		origin, err := url.Parse(text)
		return text != "" && (err != nil || origin.Host != r.Host)
	case "same-origin", "none":
		return false
	}
	link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
	return !link || strings.HasPrefix(r.URL.Path, api.Base)
}

// signIn sets the cookie of a token and leads to the address without the token.
func (o Options) signIn(to http.ResponseWriter, from *http.Request, secret string) {
	t, ok := find(o.Tokens(), secret)
	if !ok {
		deny(to, http.StatusUnauthorized, "the token in the address is wrong; arcrawl user list shows the names of all tokens")
		return
	}
	o.setCookie(to, from, cookieName(from.Host), cookieValue(t), http.SameSiteLaxMode, 0)
	http.Redirect(to, from, "/", http.StatusSeeOther)
}

// cookieName returns a name that differs for each port, because browsers send cookies to all ports of a host.
func cookieName(host string) string {
	_, port, _ := net.SplitHostPort(host)
	return "arcrawl" + port
}

// cookieValue returns a value that proves the knowledge of a token and does not reveal it.
func cookieValue(t Token) string {
	sum := sha256.Sum256([]byte("cookie of the arcrawl dashboard\n" + t.Secret))
	return hex.EncodeToString(sum[:])
}

// tokenOf returns the token whose cookie a request has.
func (o Options) tokenOf(r *http.Request) (Token, bool) {
	all := o.Tokens()
	c, err := r.Cookie(cookieName(r.Host))
	if err != nil {
		return Token{}, false
	}
	known := make([]Token, len(all))
	for i, t := range all {
		known[i] = Token{t.Name, t.Role, cookieValue(t)}
	}
	return find(known, c.Value)
}

// secretOf returns the secret in the Authorization header of a request, or "".
func secretOf(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// allowedName reports whether a Host header has a name that no name server can redirect: localhost, a loopback address,
// or what the options allow. The port may differ, as behind ssh -L.
func (o Options) allowedName(host string) bool {
	name := hostOf(host)
	if strings.EqualFold(name, "localhost") {
		return true
	}
	if at, err := netip.ParseAddr(name); err == nil {
		return at.IsLoopback() || o.Remote
	}
	return slices.ContainsFunc(o.Names, func(n string) bool { return strings.EqualFold(n, name) })
}

func deny(to http.ResponseWriter, status int, why string) {
	to.Header().Set("Content-Type", "application/json")
	to.WriteHeader(status)
	_ = json.NewEncoder(to).Encode(api.Problem{Error: why})
}
