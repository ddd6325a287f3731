package fetch

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

// TestSecretFieldsAreReplacedInWhatIsKept cuts a request at each byte: no part of a secret is ever kept.
func TestSecretFieldsAreReplacedInWhatIsKept(t *testing.T) {
	t.Parallel()
	u, err := uri.Parse("http://a.example/page")
	if err != nil {
		t.Fatal(err)
	}
	raw, secrets, err := requestBytes(Request{URI: u, Header: []Field{
		{Name: "A", Value: "1"}, {Name: "B", Value: "2"},
	}, Secrets: []Field{{Name: "Authorization", Value: "XYZ"}, {Name: "Cookie", Value: "ZZZZZZZZZZZZZZZ"}}}, keepAlive)
	if err != nil {
		t.Fatal(err)
	}
	want := "GET /page HTTP/1.1\r\nHost: a.example\r\nA: 1\r\nB: 2\r\n" +
		"Authorization: [redacted]\r\nCookie: [redacted]\r\nConnection: keep-alive\r\n\r\n"
	if got := string(redact(raw, secrets)); got != want {
		t.Errorf("kept:\n%s\nwant:\n%s", got, want)
	}
	for n := range raw {
		if got := string(redact(raw[:n], secrets)); strings.ContainsAny(got, "XYZ") {
			t.Fatalf("after %d bytes this is kept: %q", n, got)
		}
	}
	if _, _, err := requestBytes(Request{URI: u, Secrets: []Field{{Name: "A", Value: "XYZ\r\n"}}}, keepAlive); err == nil ||
		strings.Contains(err.Error(), "XYZ") {
		t.Errorf("a secret with a line end: %v", err)
	}
}
