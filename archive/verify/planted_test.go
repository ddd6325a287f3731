package verify

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// TestEachPlantedDamageIsReported has damages that keep every digest and every length right. None of them was reported
// before, or only as a warning.
func TestEachPlantedDamageIsReported(t *testing.T) {
	t.Parallel()
	const (
		target = "http://a.example/"
		date   = "2026-11-21T09:00:00Z"
		length = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4"
	)
	answer := func(head, body string, more ...string) string {
		return archivetest.Response("x", target+"x", head, body, more...)
	}
	request := func(uri, block string) string {
		return archivetest.Plain(archivetest.Fields("request", "x", "WARC-Target-URI: "+uri, "WARC-Concurrent-To: <urn:x:good>",
			"Content-Type: application/http; msgtype=request"), block)
	}
	noEnd := func(kind, head string, more ...string) string {
		return archivetest.Plain(archivetest.Fields(kind, "x", append([]string{
			"WARC-Target-URI: " + target, "Content-Type: application/http",
		}, more...)...), head)
	}
	field := func(line string) string { return archivetest.Plain(archivetest.Fields("metadata", "x", line), "") }
	revisit := func(more ...string) []string {
		return append([]string{
			"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified", "WARC-Refers-To: <urn:x:good>",
			"WARC-Refers-To-Target-URI: " + target, "WARC-Refers-To-Date: " + date,
		}, more...)
	}
	const get = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"
	edit := func(record, before, after string) string {
		if !strings.Contains(record, before) {
			t.Fatalf("%q is not in %q", before, record)
		}
		return strings.Replace(record, before, after, 1)
	}
	for _, c := range []struct{ name, record, want string }{
		{"a request of its response", request(target, get), ""},
		{"a request of another URI", request(target+"other", get), "error request-differs have different URIs"},
		{"a misspelled type", edit(answer(archivetest.HTMLHead, "x"), "WARC-Type: response", "WARC-Type: respons"), `error header WARC-Type is "respons"`},
		{"a type in capitals", edit(answer(archivetest.HTMLHead, "x"), "WARC-Type: response", "WARC-Type: RESPONSE"), "error header WARC-Type"},
		{"a type of another standard", edit(answer(archivetest.HTMLHead, "x"), "WARC-Type: response", "WARC-Type: screenshot"), "error header WARC-Type"},
		{"a target without a scheme", field("WARC-Target-URI: a.example/page"), "error header begin with a scheme"},
		{"a target with a damaged scheme", field("WARC-Target-URI: h\x03tp://a.example/"), "error header begin with a scheme"},
		{"a target with a space", field("WARC-Target-URI: http://a.example/a b"), "error header space"},
		{"a target without a host", field("WARC-Target-URI: http:///page"), "error header nothing follows"},
		{"a target of nothing", field("WARC-Target-URI: http:"), "error header nothing follows"},
		{"a target that is a URN", field("WARC-Target-URI: urn:pageinfo:http://a.example/"), ""},
		{"a date with an offset", edit(answer(archivetest.HTMLHead, "x"), date, "2026-11-21T10:00:00+01:00"), "error header not in UTC"},
		{"a date with no zone", edit(answer(archivetest.HTMLHead, "x"), date, "2026-11-21T09:00:00"), "error header does not have the form"},
		{"a date with fourteen digits", edit(answer(archivetest.HTMLHead, "x"), date, "20261121090000"), "error header does not have the form"},
		{"a reference with an offset", noEnd("revisit", "", edit(strings.Join(revisit(), "\r\n"), "09:00:00Z", "09:00:00+00:00")), "error header not in UTC"},
		{"a body as long as it says", answer(length, "body"), ""},
		{"a body that is cut", answer(length, "bod"), "error http Content-Length of its head is 4"},
		{"no body", answer(length, ""), "error http Content-Length of its head is 4"},
		{"a cut body that says so", answer(length, "bod", "WARC-Truncated: disconnect"), ""},
		{"a redirect without its body", answer(edit(length, "200 OK", "301 Moved"), ""), "error http Content-Length"},
		{"a 304, which has no body", answer(edit(length, "200 OK", "304 Not Modified"), ""), ""},
		{"two lengths", answer(length+"\r\nContent-Length: 9", "body"), ""},
		{"a head of a response that is cut", noEnd("response", "HTTP/1.1 200 OK\r\nContent-Ty"), "error http head is not finished"},
		{"a head that is cut and says so", noEnd("response", "HTTP/1.1 200 OK\r\nContent-Ty", "WARC-Truncated: disconnect"), ""},
		{"a head of a request that is cut", noEnd("request", "GET / HTTP/1.1\r\nHost: a.exa"), "error http head is not finished"},
		{"a head of a revisit that is cut", noEnd("revisit", "HTTP/1.1 304 Not Modified\r\nDate:", revisit()...), "warning http no empty line"},
		{"a response that is no HTTP", noEnd("response", "no http at all\r\n\r\n"), "error http cannot be read"},
		{"an id without brackets", edit(answer(archivetest.HTMLHead, "x"), "<urn:x:x>", "urn:x:x"), "error header angle brackets"},
		{"an empty block digest", field("WARC-Block-Digest:"), "error algorithm is empty"},
		{"an empty payload digest", noEnd("response", "HTTP/1.1 200 OK\r\n\r\n", "WARC-Payload-Digest: "), "error algorithm is empty"},
		{"a block digest of nothing", noEnd("revisit", "HTTP/1.1 304 Not Modified\r\n\r\n", revisit("WARC-Block-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")...), "error block-digest of an empty block"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			good := archivetest.Response("good", target, archivetest.HTMLHead, "body")
			at := len(archivetest.Zipped(t, archivetest.Info, good))
			found, _ := verified(t, Options{}, archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, archivetest.Info, good, c.record)))
			check(t, found, c.want, int64(at))
		})
	}
}

// TestHabitsOfWgetAreWarnings has a file whose warcinfo record names GNU Wget.
func TestHabitsOfWgetAreWarnings(t *testing.T) {
	t.Parallel()
	info := archivetest.Plain(archivetest.Fields("warcinfo", "info", "Content-Type: application/warc-fields"), "software: Wget/1.21.4 (linux-gnu)\r\n")
	good := archivetest.Response("good", "http://a.example/", archivetest.HTMLHead, "body")
	cut := archivetest.Response("x", "http://a.example/x", "HTTP/1.1 200 OK\r\nContent-Length: 40", "body")
	for _, c := range []struct{ info, want string }{{archivetest.Info, "error http Content-Length"}, {info, "warning http Content-Length"}} {
		at := len(archivetest.Zipped(t, c.info, good))
		found, _ := verified(t, Options{}, archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, c.info, good, cut)))
		check(t, found, c.want, int64(at))
	}
}

// TestStrictAsksAnotherReader has a record with a wrong address and no media type, and our own archive.
func TestStrictAsksAnotherReader(t *testing.T) {
	t.Parallel()
	if found, _ := verified(t, Options{Strict: true}, archivetest.Small(t).Dir); len(found) > 0 {
		t.Errorf("in a sound archive: %v", found)
	}
	odd := archivetest.Plain(archivetest.Fields("metadata", "x", "WARC-Target-URI: http://a.example/", "WARC-IP-Address: somewhere"), "text")
	file := archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, archivetest.Info, odd))
	found, _ := verified(t, Options{}, file)
	check(t, found, "", 0)
	found, sum := verified(t, Options{Strict: true}, file)
	check(t, found, "warning gowarc ip address|warning gowarc Content-Type", int64(len(archivetest.Zipped(t, archivetest.Info))))
	if sum.Errors != 0 || sum.Warnings != 2 {
		t.Errorf("%+v", sum)
	}
}
