package fetch

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestAPeriodOfABodyDoesNotEndWriting writes to a connection after the end of a period of its body, as HTTP/2 does to
// receive more. A write that fails would break TLS, and cut the body.
func TestAPeriodOfABodyDoesNotEndWriting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, there) }()
		defer func() { _, _ = here.Close(), there.Close() }()
		k, p := &conn{Conn: here}, pace{}
		r := Request{Limits: Limits{Body: time.Hour, Grace: time.Second, MinRate: 1}}
		if err := p.begin(t.Context(), k, r, time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if _, err := k.Write([]byte("more")); err != nil {
			t.Errorf("write after the first period: %v", err)
		}
		if _, err := k.Read(make([]byte, 1)); !isTimeout(err) {
			t.Errorf("read after the first period: %v", err)
		}
		time.Sleep(time.Hour)
		if _, err := k.Write([]byte("more")); !isTimeout(err) {
			t.Errorf("write after the end of the body: %v", err)
		}
	})
}
