package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
)

// guard protects a handler. No page of another site may frame it, read it, or make a browser send orders to it.
//
// With a token it checks two more things. The Host header must be a loopback name: otherwise a page whose name
// resolves to 127.0.0.1 (DNS rebinding) would have the same origin as the API. And the request must contain the
// token, as a bearer token or as the password of any user, which is how a browser asks for it. Tokens are compared in
// constant time.
func guard(next http.Handler, token string) http.Handler {
	ours := http.NewCrossOriginProtection().Handler(next)
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		h := to.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if token == "" {
			ours.ServeHTTP(to, from)
			return
		}
		if !loopbackName(from.Host) {
			deny(to, http.StatusForbidden, "the host name "+from.Host+" is not allowed; use localhost or a loopback address")
			return
		}
		got := sha256.Sum256([]byte(tokenOf(from)))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			h.Set("WWW-Authenticate", `Basic realm="arcrawl (the token is the password)"`)
			deny(
				to,
				http.StatusUnauthorized,
				"the token is missing or wrong; send it as bearer token or password; admin.token_file names the file that contains it",
			)
			return
		}
		ours.ServeHTTP(to, from)
	})
}

// tokenOf returns the token of a request, or "".
func tokenOf(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// loopbackName reports whether a Host header is localhost or a loopback address, which no name server can redirect. The
// port may differ, as behind ssh -L.
func loopbackName(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	at, err := netip.ParseAddr(name)
	return err == nil && at.IsLoopback()
}

func deny(to http.ResponseWriter, status int, why string) {
	to.Header().Set("Content-Type", "application/json")
	to.WriteHeader(status)
	_ = json.NewEncoder(to).Encode(api.Problem{Error: why})
}
