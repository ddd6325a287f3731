package fetch_test

import (
	"bufio"
	"io"
	"net"
	"testing"

	"github.com/arcrawl/arcrawl/fetch"
)

// TestAFormIsSentAndNotShown posts a form.
func TestAFormIsSentAndNotShown(t *testing.T) {
	t.Parallel()
	const form = "user=maria&pass=s3cret"
	sent := make(chan string, 1)
	address := serve(t, func(c net.Conn, _ int) {
		r := bufio.NewReader(c)
		head, _ := request(r)
		body := make([]byte, len(form))
		_, _ = io.ReadFull(r, body)
		sent <- string(head) + string(body)
		_, _ = io.WriteString(c, withLength("", "ok")+"ok")
	})
	r := fetch.Request{URI: parse(t, "http://"+address+"/in"), Form: []byte(form)}
	got := get(t, newClient(t, fetch.Options{MaxIdle: -1}), r)
	want := "POST /in HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/x-www-form-urlencoded\r\n" +
		"Content-Length: 22\r\nConnection: close\r\n\r\n"
	if all := <-sent; got.Status != 200 || all != want+form || string(got.Request) != want+fetch.Redacted {
		t.Errorf("status %d; sent %q, shown %q", got.Status, all, got.Request)
	}
}
