package access

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestANodeNamesTheCaller sends requests of another node with and without a certificate, a caller and a role.
func TestANodeNamesTheCaller(t *testing.T) {
	t.Parallel()
	var got Caller
	known := true
	h := Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = CallerOf(r.Context()) }), Options{
		Node: func(*http.Request) bool { return known },
		// Tokens are for other addresses.
		Tokens: func() []Token { return nil },
	})
	for _, row := range []struct {
		name   string
		known  bool
		header func(http.Header)
		status int
		want   Caller
	}{
		{"a curator", true, Caller{Name: "Zoë Ö", Role: Curate}.Introduce, 200, Caller{"Zoë Ö", ByNode, Curate}},
		{"the socket", true, Caller{Way: Socket, Role: Operate}.Introduce, 200, Caller{"", ByNode, Operate}},
		{"nobody", true, func(http.Header) {}, 403, Caller{}},
		{"a caller without a role", true, Caller{Name: "x"}.Introduce, 403, Caller{}},
		{"a stranger", false, Caller{Name: "x", Role: Operate}.Introduce, 403, Caller{}},
		{"a broken name", true, func(h http.Header) { h.Set(callerHeader, "%zz") }, 400, Caller{}},
	} {
		got, known = Caller{}, row.known
		r := httptest.NewRequest(http.MethodPost, "/api/v1/pause", http.NoBody)
		row.header(r.Header)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != row.status || got != row.want {
			t.Errorf("%s: status %d, caller %+v, want %d and %+v", row.name, w.Code, got, row.status, row.want)
		}
	}
	// The headers mean nothing without a connection of a node.
	h = Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("served") }), Options{
		Tokens: func() []Token { return nil },
	})
	r := httptest.NewRequest(http.MethodGet, "http://localhost/api/v1/status", http.NoBody)
	Caller{Name: "x", Role: Operate}.Introduce(r.Header)
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("a client that names itself: %d", w.Code)
	}
}
