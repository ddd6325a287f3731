package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard stands before a handler. Whatever it serves, no page of another site may frame it, read it, or have a browser
// send orders to it.
//
// With a token it asks for more. The name that the request was sent to must be one of the loopback: a page whose own name
// resolves to 127.0.0.1 (DNS rebinding) would otherwise be of the same origin as the API for the browser. And it must
// bring the token, as a bearer token or as the password of any user, which is how a browser asks for it. Tokens are
// compared in constant time.
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
			deny(to, http.StatusForbidden, "asked under the name "+from.Host+"; this answers to localhost and addresses of the loopback only")
			return
		}
		got := sha256.Sum256([]byte(tokenOf(from)))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			h.Set("WWW-Authenticate", `Basic realm="arcrawl (the token is the password)"`)
			deny(to, http.StatusUnauthorized, "the token is missing or wrong: send it as a bearer token or as password; it stands in the file that admin.token_file names")
			return
		}
		ours.ServeHTTP(to, from)
	})
}

// tokenOf is what a request brings to prove that it may ask.
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

// loopbackName reports whether a Host header names this machine in a way that no name server can speak for. The port may
// be another one, as it is behind ssh -L.
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
	_ = json.NewEncoder(to).Encode(Problem{Error: why})
}
