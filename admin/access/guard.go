package access

import (
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

	Remote bool     // reached beyond this machine: the Host header may be any IP address, or one of Names
	Names  []string // host names of this machine that the Host header may have
	TLS    bool     // browsers send the cookie only over TLS

	// Frames, when set, returns the origin whose pages a page of the dashboard may have in a frame, or "".
	Frames func(*http.Request) string
}

// Guard protects a handler. No page of another site may frame it, read it, or make a browser send orders to it.
//
// With tokens it checks two more things. The Host header must be a loopback name, or with Remote an IP address or one
// of the configured names. Otherwise a page whose name resolves to this machine (DNS rebinding) would have the same
// origin as the API. And the request must contain a token: as a bearer token, as the password of any user, which is
// how a browser asks for it, or in the cookie that the address /?token=TOKEN sets.
//
// Pages of other origins cannot read answers anyway. The guard also refuses to make them: an archived page in a frame
// of the dashboard is of the same site, so a browser would send the cookie with its requests.
//
// Health and readiness need neither: load balancers and containers ask for them.
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
		serve := func(c Caller) { ours.ServeHTTP(to, from.WithContext(withCaller(from.Context(), c))) }
		if o.Tokens == nil {
			serve(Caller{Name: peerName(from.Context()), Way: Socket, Role: Steer})
			return
		}
		if from.Method == http.MethodGet && (from.URL.Path == "/healthz" || from.URL.Path == "/readyz") {
			serve(Caller{})
			return
		}
		if !o.allowedName(from.Host) {
			deny(to, http.StatusForbidden, "the host name "+from.Host+" is not allowed; use localhost or a loopback address, "+
				"or add the name to admin.names")
			return
		}
		if secret := from.URL.Query().Get("token"); secret != "" && from.Method == http.MethodGet && from.URL.Path == "/" {
			o.signIn(to, from, secret)
			return
		}
		t, ok := o.tokenOf(from)
		if !ok {
			h.Set("WWW-Authenticate", `Basic realm="arcrawl (the token is the password)"`)
			deny(to, http.StatusUnauthorized,
				"the token is missing or wrong; send it as bearer token or password; admin.token_file names the file that contains it")
			return
		}
		serve(Caller{Name: t.Name, Way: ByToken, Role: t.Role})
	})
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
		origin, err := url.Parse(r.Header.Get("Origin"))
		return err != nil || origin.Host != "" && origin.Host != r.Host
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
		deny(to, http.StatusUnauthorized, "the token in the address is wrong; arcrawl token list shows the names of all tokens")
		return
	}
	http.SetCookie(to, &http.Cookie{
		Name: cookieName(from.Host), Value: cookieValue(t), Path: "/",
		HttpOnly: true, Secure: o.TLS, SameSite: http.SameSiteLaxMode,
	})
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

// tokenOf returns the token of a request.
func (o Options) tokenOf(r *http.Request) (Token, bool) {
	all := o.Tokens()
	if secret := secretOf(r); secret != "" {
		return find(all, secret)
	}
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
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	if at, err := netip.ParseAddr(name); err == nil {
		return at.IsLoopback() || o.Remote
	}
	return o.Remote && slices.ContainsFunc(o.Names, func(n string) bool { return strings.EqualFold(n, name) })
}

func deny(to http.ResponseWriter, status int, why string) {
	to.Header().Set("Content-Type", "application/json")
	to.WriteHeader(status)
	_ = json.NewEncoder(to).Encode(api.Problem{Error: why})
}
