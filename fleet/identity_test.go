package fleet

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func identity(t *testing.T) *nodeIdentity {
	t.Helper()
	i, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestOnlyNodesReachEachOther lets a node ask another one, and then strangers on both sides of the connection.
func TestOnlyNodesReachEachOther(t *testing.T) {
	t.Parallel()
	a, b, stranger := identity(t), identity(t), identity(t)
	server := func(i *nodeIdentity) string {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
			if !slices.Equal(printOf(from.TLS), a.print) {
				t.Errorf("%x asks", printOf(from.TLS))
			}
			if from.URL.Path == "/elsewhere" {
				http.Redirect(to, from, "/", http.StatusFound)
			}
			_, _ = io.WriteString(to, "answer")
		}))
		address := s.Listener.Addr().String()
		s.Listener = i.Listen(s.Listener, func(print []byte) bool { return slices.Equal(print, a.print) })
		s.Config.ErrorLog = nil
		s.Start()
		t.Cleanup(s.Close)
		return address
	}
	real, false_ := server(b), server(stranger)
	for _, row := range []struct {
		name    string
		from    *nodeIdentity
		address string
		path    string
		want    string
	}{
		{"a node asks", a, real, "/", "answer"},
		{"a redirect is an answer", a, real, "/elsewhere", "Found"},
		{"a stranger asks", stranger, real, "/", "tls"},
		{"a stranger has the address of the node", a, false_, "/", "not the one"},
	} {
		c := row.from.Client(10 * time.Second)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, row.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		answer, err := c.Do(toNode(r, row.address, b.print))
		if err != nil {
			got = err.Error()
		} else {
			text, err := io.ReadAll(answer.Body)
			got = answer.Status + string(text)
			if err != nil || answer.Body.Close() != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		c.CloseIdleConnections()
	}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", real, &tls.Config{InsecureSkipVerify: true})
	if err == nil { // TLS 1.3 reports the refusal with the first read
		_, err = conn.Read(make([]byte, 1))
		conn.Close()
	}
	if err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("a client without a certificate: %v", err)
	}
}
