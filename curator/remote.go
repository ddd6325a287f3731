// This file lets programs of others read the archive on the address of the player: a CDX server with the parameters of
// pywb, and the Memento protocol (RFC 7089).

package curator

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// remote answers the programs of others. It answers whoever sends a token, with captures of those series that the role
// of the token may see; but no browser: an archived page that is shown under this address must not read the archive
// with what a browser keeps. Its methods are safe for concurrent use.
type remote struct {
	archive *catalog
	tokens  func() []access.Token // in force
	origin  string                // for links; "" = the name in the request
	now     func() time.Time
	log     zerolog.Logger
	reading chan struct{} // one element for each question that is being answered
}

// maxRemote is the maximum number of questions of other programs that are answered at once.
const maxRemote = 4

// answers reports whether a path is one of other programs, and answers it.
func (m *remote) answers(to http.ResponseWriter, from *http.Request) bool {
	path, query, _ := strings.Cut(from.URL.RequestURI(), "?")
	var answer func(context.Context, *captures.Library) error
	switch service, rest, _ := strings.Cut(strings.TrimPrefix(from.URL.RequestURI(), "/"), "/"); {
	case path == "/cdx":
		answer = func(_ context.Context, l *captures.Library) error { return m.cdx(to, l, query) }
	case service == "timegate":
		answer = func(_ context.Context, l *captures.Library) error { return m.timeGate(to, from, l, rest) }
	case service == "timemap":
		answer = func(_ context.Context, l *captures.Library) error { return m.timeMap(to, from, l, rest) }
	case service == "memento":
		answer = func(ctx context.Context, l *captures.Library) error { return m.memento(ctx, to, from, l, rest) }
	default:
		return false
	}
	if from.Header.Get("Sec-Fetch-Site") != "" { // Node sends Sec-Fetch-Mode too
		refuse(to, http.StatusForbidden, "this address is for programs; people see versions in the dashboard")
		return true
	}
	role := m.roleOf(from)
	if role < access.Read {
		// A browser that was asked for a password would send it for archived pages too.
		to.Header().Set("WWW-Authenticate", "Bearer")
		refuse(to, http.StatusUnauthorized,
			"send a token (arcrawl user add NAME --token --role read) as bearer token or as password")
		return true
	}
	select {
	case m.reading <- struct{}{}:
		defer func() { <-m.reading }()
	case <-from.Context().Done():
		return true
	}
	err := m.archive.With(role, m.now(), func(l *captures.Library) error { return answer(from.Context(), l) })
	if bad := (badQuestion{}); errors.As(err, &bad) {
		refuse(to, http.StatusBadRequest, bad.why)
	} else if errors.Is(err, warc.ErrNotFound) {
		refuse(to, http.StatusNotFound, captures.Sentence(err))
	} else if err != nil {
		m.log.Warn().Err(err).Str("uri", from.URL.RequestURI()).Msg("could not answer another program about the archive")
		refuse(to, http.StatusInternalServerError, captures.Sentence(err))
	}
	return true
}

// roleOf returns the role of the token of a request, which is a bearer token or the password of any user.
func (m *remote) roleOf(from *http.Request) (role access.Role) {
	_, secret, basic := from.BasicAuth()
	if !basic {
		secret, _ = strings.CutPrefix(from.Header.Get("Authorization"), "Bearer ")
	}
	for _, t := range m.tokens() {
		if subtle.ConstantTimeCompare([]byte(t.Secret), []byte(secret)) == 1 {
			role = t.Role
		}
	}
	return role
}

// badQuestion is the error of a request that cannot be answered.
type badQuestion struct{ why string }

// Error says what would be right.
func (b badQuestion) Error() string { return b.why }

// refuse answers with a sentence, in an object as pywb has it.
func refuse(to http.ResponseWriter, status int, why string) {
	to.Header().Set("Content-Type", "application/json; charset=utf-8")
	to.WriteHeader(status)
	_ = json.NewEncoder(to).Encode(map[string]string{"message": why}) // an error means that the program has gone
}
