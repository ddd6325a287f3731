package warcout

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/uri"
)

var plain = Usual{Before: "User-Agent: arcrawl/1\r\nAccept: */*\r\n", After: "Connection: keep-alive\r\n\r\n"}

const (
	plainBegin = "GET /a?b={host} HTTP/1.1\r\nHost: www.example.org:8080\r\nUser-Agent: arcrawl/1\r\nAccept: */*\r\n"
	plainEnd   = "Connection: keep-alive\r\n\r\n"
	tag        = "If-None-Match: \"a\"\r\n"
)

// requestOf returns the request that the records of a visit show, and whether it has a record of its own.
func requestOf(t testing.TB, records []kept, u uri.URI) (request string, own bool) {
	t.Helper()
	values := func(k kept, name string) (out []string) {
		if k.get("Content-Type") != typeFields {
			return nil
		}
		for _, f := range k.fields(t) {
			if f.Name == name {
				out = append(out, f.Value)
			}
		}
		return out
	}
	for _, k := range records[1:] {
		if k.get("WARC-Type") == "request" {
			return string(k.block), true
		}
	}
	request, err := MakeRequest(values(records[0], UsualField), values(records[len(records)-1], RequestField), u)
	must(t, err)
	return request, false
}

// TestEachRequestOfARevisitIsInTheFile writes revisits with different requests. Each can be read or made again byte by
// byte, and only the usual one has no record.
func TestEachRequestOfARevisitIsInTheFile(t *testing.T) {
	t.Parallel()
	const own, usual = true, false
	for _, c := range []struct {
		name, request string
		usual         Usual
		own           bool
	}{
		{"the usual request", plainBegin + plainEnd, plain, usual},
		{"with conditions", plainBegin + tag + "If-Modified-Since: Thu, 01 Jan 2026 12:00:00 GMT\r\n" + plainEnd, plain, usual},
		{"with a tag of a server that knows UTF-8", plainBegin + "If-None-Match: \"é\"\r\n" + plainEnd, plain, usual},
		{"with a tag that readers decode", plainBegin + "If-None-Match: \"=?UTF-8?Q?a?=\"\r\n" + plainEnd, plain, own},
		{"with a tag that readers trim", plainBegin + "If-None-Match: \"a\" \r\n" + plainEnd, plain, own},
		{"with a very long tag", plainBegin + "If-None-Match: " + strings.Repeat("x", 4<<10) + "\r\n" + plainEnd, plain, own},
		{"another field", plainBegin + "Cookie: a=b\r\n" + plainEnd, plain, own},
		{"another end", plainBegin + tag + "Connection: close\r\n\r\n", plain, own},
		{"another host", strings.Replace(plainBegin, "www.", "", 1) + plainEnd, plain, own},
		{"another method", "POST" + plainBegin[len("GET"):] + plainEnd, plain, own},
		{"the lower case of HTTP/2", strings.Replace(plainBegin, "User-Agent", "user-agent", 1) + plainEnd, plain, own},
		{"a part of it", plainBegin + tag, plain, own},
		{"each request has a record", plainBegin + plainEnd, Usual{}, own},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u, err := uri.Parse("http://www.example.org:8080/a?b={host}")
			must(t, err)
			for _, r := range []*Revisit{
				{Profile: NotModified, Origin: original, Head: []byte(notModified)},
				{Profile: IdenticalPayload, Origin: original, Head: []byte("HTTP/1.1 200 OK\r\n\r\n")},
			} {
				_, records := written(t, Options{Usual: c.usual}, Visit{
					URI: u, Date: start, Request: []byte(c.request), Revisit: r, Metadata: []Field{{"fetchTimeMs", "7"}},
				})
				if got, own := requestOf(t, records, u); got != c.request || own != c.own {
					t.Errorf("with a record %v, want %v; the request is\n%q, want\n%q", own, c.own, got, c.request)
				}
			}
			_, records := written(t, Options{Usual: c.usual}, Visit{
				URI: u, Date: start, Request: []byte(c.request), Response: page("hello"),
			})
			if _, own := requestOf(t, records, u); !own {
				t.Error("next to a response there is no record of the request")
			}
		})
	}
}

// FuzzUsualRequest leaves the record of a request out only if the request can be made again.
func FuzzUsualRequest(f *testing.F) {
	f.Add("/a?b={host}", tag)
	f.Add("/{path}", "If-Modified-Since: x\r\nX: y\r\n")
	f.Add("/{conditions}", "If-None-Match: \r\n")
	f.Fuzz(func(t *testing.T, path, conditions string) {
		u := uri.FromCanonical("http://www.example.org" + path)
		if u.IsZero() {
			return
		}
		request := "GET " + path + " HTTP/1.1\r\nHost: www.example.org\r\n" + plain.Before + conditions + plain.After
		lines, ok := plain.conditions([]byte(request), u)
		if !ok {
			return
		}
		var usual, said []string
		for _, field := range plain.fields() {
			usual = append(usual, field.Value)
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(appendConditions(nil, lines)), "\r\n"), "\r\n") {
			said = append(said, strings.TrimPrefix(line, RequestField+": "))
		}
		if got, err := MakeRequest(usual, said, u); got != request || err != nil {
			t.Errorf("%q was made again as %q, %v", request, got, err)
		}
	})
}
