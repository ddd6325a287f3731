package warcout

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	notModified = "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"
)

var original = digest.Origin{
	RecordID: "urn:uuid:11111111-2222-4333-8444-555555555555", URI: "http://www.example.org/first", Size: 5,
	Date: time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.FixedZone("", 3600)), Payload: digest.Of([]byte("hello")),
}

// anonymous returns a record with names in place of its ids, which differ in each run.
func anonymous(k kept, ids map[string]string) string {
	var b strings.Builder
	for _, f := range k.header {
		value := f.Value
		for id, name := range ids {
			value = strings.ReplaceAll(value, id, name)
		}
		b.WriteString(f.Name + ": " + value + "\n")
	}
	return b.String() + "\n" + strings.ReplaceAll(string(k.block), "\r\n", "⏎\n")
}

func TestRecordsOfAVisit(t *testing.T) {
	t.Parallel()
	common := func(v Visit) Visit {
		u, err := uri.Parse("http://www.example.org/")
		must(t, err)
		v.URI, v.Date, v.IP = u, start, netip.MustParseAddr("192.0.2.7")
		return v
	}
	const request = "GET / HTTP/1.1\r\n\r\n"
	requestRecord := `WARC-Type: request
WARC-Record-ID: <two>
WARC-Date: 2026-11-21T09:00:00.123456Z
WARC-Target-URI: http://www.example.org/
WARC-Concurrent-To: <one>
Content-Type: application/http;msgtype=request
WARC-Block-Digest: ` + digest.Of([]byte(request)).String() + `
Content-Length: 18

GET / HTTP/1.1⏎
⏎
`
	tests := []struct {
		name  string
		visit Visit
		want  []string
	}{
		{
			name: "a page has response, request and metadata",
			visit: Visit{
				Request: []byte(request), Metadata: []Field{{"via", "http://www.example.org/a b"}, {"hopsFromSeed", ""}},
				Response: func() *Response { r := page("hello"); r.IdentifiedType = "text/plain"; return r }(),
			},
			want: []string{`WARC-Type: response
WARC-Record-ID: <one>
WARC-Date: 2026-11-21T09:00:00.123456Z
WARC-Target-URI: http://www.example.org/
WARC-IP-Address: 192.0.2.7
WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N
WARC-Identified-Payload-Type: text/plain
Content-Type: application/http;msgtype=response
WARC-Block-Digest: ` + page("hello").BlockDigest.String() + `
WARC-Warcinfo-ID: <info>
Content-Length: 68

HTTP/1.1 200 OK⏎
Content-Type: text/html⏎
Content-Length: 5⏎
⏎
hello`, requestRecord, `WARC-Type: metadata
WARC-Record-ID: <three>
WARC-Date: 2026-11-21T09:00:00.123456Z
WARC-Target-URI: http://www.example.org/
WARC-Concurrent-To: <one>
Content-Type: application/warc-fields
WARC-Block-Digest: ` + digest.Of([]byte("via: http://www.example.org/a b\r\nhopsFromSeed: \r\n")).String() + `
Content-Length: 49

via: http://www.example.org/a b⏎
hopsFromSeed: ⏎
`},
		},
		{
			name: "a request over TLS says how it was protected",
			visit: Visit{
				Request:  []byte(request),
				Response: func() *Response { r := page("hello"); r.InMemory = true; return r }(),
				Security: &Security{Protocol: "http/1.0", Version: "tls/1.3", CipherSuite: "TLS_AES_128_GCM_SHA256"},
			},
			want: []string{`WARC-Type: response
WARC-Record-ID: <one>
WARC-Date: 2026-11-21T09:00:00.123456Z
WARC-Target-URI: http://www.example.org/
WARC-IP-Address: 192.0.2.7
WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N
WARC-Protocol: http/1.0
WARC-Protocol: tls/1.3
WARC-Cipher-Suite: TLS_AES_128_GCM_SHA256
Content-Type: application/http;msgtype=response
WARC-Block-Digest: ` + page("hello").BlockDigest.String() + `
WARC-Warcinfo-ID: <info>
Content-Length: 68

HTTP/1.1 200 OK⏎
Content-Type: text/html⏎
Content-Length: 5⏎
⏎
hello`, strings.Replace(requestRecord, "Content-Type:", `WARC-Protocol: http/1.1
WARC-Protocol: tls/1.3
WARC-Cipher-Suite: TLS_AES_128_GCM_SHA256
Content-Type:`, 1)},
		},
		{
			name: "a cut response says why and has no payload digest",
			visit: Visit{Response: &Response{
				Block: strings.NewReader("HTTP/1.1 200 OK\r\n\r\nhal"), Size: 22,
				BlockDigest: digest.Of([]byte("HTTP/1.1 200 OK\r\n\r\nhal")), Truncated: "disconnect",
			}},
			want: []string{`WARC-Type: response
WARC-Record-ID: <one>
WARC-Date: 2026-11-21T09:00:00.123456Z
WARC-Target-URI: http://www.example.org/
WARC-IP-Address: 192.0.2.7
WARC-Truncated: disconnect
Content-Type: application/http;msgtype=response
WARC-Block-Digest: ` + digest.Of([]byte("HTTP/1.1 200 OK\r\n\r\nhal")).String() + `
WARC-Warcinfo-ID: <info>
Content-Length: 22

HTTP/1.1 200 OK⏎
⏎
hal`},
		},
		{
			name: "a revisit by payload keeps its own head and points at the original",
			visit: Visit{Request: []byte(request), Revisit: &Revisit{
				Profile: IdenticalPayload, Origin: original, Head: []byte("HTTP/1.1 200 OK\r\nDate: today\r\n\r\n"),
			}},
			want: []string{`WARC-Type: revisit
WARC-Record-ID: <one>
WARC-Date: 2026-11-21T09:00:00.123456Z
WARC-Target-URI: http://www.example.org/
WARC-IP-Address: 192.0.2.7
WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest
WARC-Refers-To: <urn:uuid:11111111-2222-4333-8444-555555555555>
WARC-Refers-To-Target-URI: http://www.example.org/first
WARC-Refers-To-Date: 2026-01-02T02:04:05.678901Z
WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N
WARC-Truncated: length
Content-Type: application/http;msgtype=response
WARC-Block-Digest: ` + digest.Of([]byte("HTTP/1.1 200 OK\r\nDate: today\r\n\r\n")).String() + `
WARC-Warcinfo-ID: <info>
Content-Length: 32

HTTP/1.1 200 OK⏎
Date: today⏎
⏎
`, requestRecord},
		},
		{
			name: "a 304 is an empty revisit, and the metadata record has its head",
			visit: Visit{
				Request: []byte(request), Head: []byte(notModified), Metadata: []Field{{"fetchTimeMs", "7"}},
				Revisit: &Revisit{Profile: NotModified, Origin: original, Container: "old.wacz"},
			},
			want: []string{unmodifiedRecord, requestRecord, `WARC-Type: metadata
WARC-Record-ID: <three>
WARC-Date: 2026-11-21T09:00:00.123456Z
WARC-Target-URI: http://www.example.org/
WARC-Concurrent-To: <one>
Content-Type: application/warc-fields
WARC-Block-Digest: ` + digest.Of([]byte(
				"fetchTimeMs: 7\r\nresponseHead: HTTP/1.1 304 Not Modified\r\nresponseHead: ETag: \"a\"\r\n",
			)).String() + `
Content-Length: 82

fetchTimeMs: 7⏎
responseHead: HTTP/1.1 304 Not Modified⏎
responseHead: ETag: "a"⏎
`},
		},
		{
			name: "the head of a 304 that fields cannot hold is evidence",
			visit: Visit{Request: []byte(request), Head: []byte("HTTP/1.1 304 \r\n\r\n"), Revisit: &Revisit{
				Profile: NotModified, Origin: original, Container: "old.wacz",
			}},
			want: []string{
				unmodifiedRecord, requestRecord,
				evidenceRecord("three", "WARC-Concurrent-To: <one>\n", typeResponse, "HTTP/1.1 304 \r\n\r\n"),
			},
		},
		{
			name:  "a head without a body is evidence, and the request goes with it",
			visit: Visit{Request: []byte(request), Head: []byte(notModified)},
			want:  []string{evidenceRecord("one", "", typeResponse, notModified), requestRecord},
		},
		{
			name:  "a head that is no HTTP is kept as bytes",
			visit: Visit{Head: []byte("\x00\r\n")},
			want:  []string{evidenceRecord("one", "", typeBytes, "\x00\r\n")},
		},
		{
			name:  "a response that is no HTTP is kept as bytes, and is no response",
			visit: Visit{Response: responseOf([]byte("ICY"), nil)},
			want:  []string{evidenceRecord("one", "", typeBytes, "ICY")},
		},
		{
			name:  "half a request is kept as bytes",
			visit: Visit{Request: []byte("GET / HT")},
			want:  []string{evidenceRecord("one", "", typeBytes, "GET / HT")},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, records := written(t, Options{}, common(tt.visit))
			ids := map[string]string{}
			for i, k := range records {
				ids[strings.Trim(k.id(), "<>")] = []string{"info", "one", "two", "three", "four"}[i]
			}
			var got []string
			for _, k := range records[1:] {
				got = append(got, anonymous(k, ids))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			first := records[1]
			o := out[0].Origin
			if "<"+o.RecordID+">" != first.id() || o.File != first.file || o.Offset != first.offset || o.Length != first.length {
				t.Errorf("origin %+v, but the first record %s is in %s at %d, %d bytes", o, first.id(), first.file, first.offset, first.length)
			}
			var total int64
			for _, k := range records[1:] {
				total += k.length
			}
			if out[0].Bytes != total {
				t.Errorf("Written.Bytes is %d, the records have %d", out[0].Bytes, total)
			}
		})
	}
}

// unmodifiedRecord is the revisit record of a 304.
const unmodifiedRecord = `WARC-Type: revisit
WARC-Record-ID: <one>
WARC-Date: 2026-11-21T09:00:00.123456Z
WARC-Target-URI: http://www.example.org/
WARC-IP-Address: 192.0.2.7
WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified
WARC-Refers-To: <urn:uuid:11111111-2222-4333-8444-555555555555>
WARC-Refers-To-Target-URI: http://www.example.org/first
WARC-Refers-To-Date: 2026-01-02T02:04:05.678901Z
WARC-Refers-To-Container: file://old.wacz
WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N
WARC-Warcinfo-ID: <info>
Content-Length: 0

`

// evidenceRecord returns a metadata record with the raw bytes of a head. It is the first record of its visit, or
// concurrent to that record.
func evidenceRecord(id, concurrent, contentType, head string) string {
	ip, info := "", ""
	if concurrent == "" {
		ip, info = "WARC-IP-Address: 192.0.2.7\n", "WARC-Warcinfo-ID: <info>\n"
	}
	return `WARC-Type: metadata
WARC-Record-ID: <` + id + `>
WARC-Date: 2026-11-21T09:00:00.123456Z
WARC-Target-URI: urn:evidence:http://www.example.org/
` + concurrent + ip + `Content-Type: ` + contentType + `
WARC-Block-Digest: ` + digest.Of([]byte(head)).String() + `
` + info + `Content-Length: ` + strconv.Itoa(len(head)) + `

` + strings.ReplaceAll(head, "\r\n", "⏎\n")
}

func TestOriginOfAVisit(t *testing.T) {
	t.Parallel()
	v := visit("http://www.example.org/", page("hello"))
	v.Date = time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.FixedZone("", 3600))
	out, _ := written(t, Options{}, v)
	want := digest.Origin{
		RecordID: out[0].Origin.RecordID, URI: "http://www.example.org/", Date: start, Payload: digest.Of([]byte("hello")),
		File: "arcrawl-20261121090000123-00001-localhost.warc.gz", Offset: out[0].Origin.Offset, Length: out[0].Origin.Length, Size: 5,
	}
	if diff := cmp.Diff(want, out[0].Origin); diff != "" {
		t.Errorf("origin (-want +got):\n%s", diff)
	}
}

func TestFileBeginsWithWarcinfo(t *testing.T) {
	t.Parallel()
	info := []Field{{"software", "arcrawl/1"}, {"operator", "Národní\r\nknihovna"}, {"format", "WARC File Format 1.1"}}
	out, records := written(t, Options{Prefix: "nl-news", Host: "c1.example", Info: info}, visit("http://www.example.org/", page("x")))
	k := records[0]
	want := []Field{{"software", "arcrawl/1"}, {"operator", `Národní\x0d\x0aknihovna`}, {"format", "WARC File Format 1.1"}}
	if diff := cmp.Diff(want, k.fields(t)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"WARC-Type": "warcinfo", "WARC-Filename": "nl-news-20261121090000123-00001-c1.example.warc.gz", "Content-Type": "application/warc-fields",
		"WARC-Date": "2026-11-21T09:00:00.123456Z", "WARC-Warcinfo-ID": "",
	} {
		if got := k.get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if out[0].Origin.File != k.get("WARC-Filename") {
		t.Errorf("origin in %s", out[0].Origin.File)
	}
}

func TestUnusualURIsAreWrittenUnchanged(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"http://xn--a.example.org/", "http://exa mple.org/", "http://www.example.org:99999/", "http://www.example.org/=?UTF-8?Q?a=3Ab?=",
		"http://[::1]/", "http://www.example.org/" + strings.Repeat("a", 4000), `http://www.example.org/<">`,
	} {
		v := visit("http://www.example.org/", page("x"))
		v.URI = uri.FromCanonical(address)
		_, records := written(t, Options{}, v)
		if got := records[1].get("WARC-Target-URI"); got != address {
			t.Errorf("target URI is %q, want %q", got, address)
		}
	}
}

func TestWriteRefusesContradictoryVisits(t *testing.T) {
	t.Parallel()
	whole := func(change func(*Visit)) Visit {
		v := visit("http://www.example.org/", page("x"))
		change(&v)
		return v
	}
	revisit := func(change func(*Revisit)) Visit {
		r := &Revisit{Profile: NotModified, Origin: original}
		change(r)
		return whole(func(v *Visit) { v.Response, v.Revisit = nil, r })
	}
	tests := []struct {
		name  string
		visit Visit
		want  string
	}{
		{"no URI", whole(func(v *Visit) { v.URI = uri.URI{} }), "no URI"},
		{"no date", whole(func(v *Visit) { v.Date = time.Time{} }), "no date"},
		{"response and revisit", whole(func(v *Visit) { v.Revisit = &Revisit{} }), "both a response and a revisit"},
		{"response and head", whole(func(v *Visit) { v.Head = []byte("x") }), "both a head and a response"},
		{"nothing", whole(func(v *Visit) { v.Response, v.Request, v.Metadata = nil, nil, nil }), "nothing to store"},
		{"a URI with a line end", whole(func(v *Visit) { v.URI = uri.FromCanonical("http://a/\r\nX: 1") }), "a header cannot hold the value"},
		{"a reason with a line end", whole(func(v *Visit) { v.Response.Truncated = "time\nX: 1" }), "a header cannot hold the value"},
		{"a type with a line end", whole(func(v *Visit) { v.Response.IdentifiedType = "text/\r\nhtml" }), "a header cannot hold the value"},
		{"a field name with a colon", whole(func(v *Visit) { v.Metadata = []Field{{"a:b", ""}} }), "is not a token"},
		{"a block that is shorter than announced", whole(func(v *Visit) { v.Response.Size++ }), "unexpected EOF"},
		{"a block that is longer than announced", whole(func(v *Visit) { v.Response.Size-- }), "longer than"},
		{"a block with another digest", whole(func(v *Visit) { v.Response.BlockDigest[0]++ }), "as announced"},
		{"a response without block digest", whole(func(v *Visit) { v.Response.BlockDigest = digest.Digest{} }), "block digest"},
		{"a revisit of nothing", revisit(func(r *Revisit) { r.Origin.URI = "" }), "revisit without its original"},
		{"a revisit without payload digest", revisit(func(r *Revisit) { r.Origin.Payload = digest.Digest{} }), "revisit without its original"},
		{"a revisit without profile", revisit(func(r *Revisit) { r.Profile = 0 }), "unknown profile"},
		{"a revisit by payload without head", revisit(func(r *Revisit) { r.Profile = IdenticalPayload }), "without a response head"},
		{"an original with a line end", revisit(func(r *Revisit) { r.Origin.URI = "http://a/\nb" }), "a header cannot hold the value"},
	}
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	for _, tt := range tests {
		if _, err := w.Write(start, tt.visit); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
	mustWrite(t, w, start, visit("http://www.example.org/", page("x")))
	must(t, w.Close(start))
	if records := readDir(t, dir); len(records) != 4 {
		t.Errorf("%d records, want warcinfo and the 3 of the valid visit", len(records))
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                        "",
		`plain \x0a text, 100 %`:  `plain \x0a text, 100 %`,
		"žluť":                    "žluť",
		"a\r\nWARC-Type: request": `a\x0d\x0aWARC-Type: request`,
		" a b  ":                  `\x20a b\x20\x20`,
		"  ":                      `\x20\x20`,
		"\xff\xc3":                `\xff\xc3`,
		"a\u0085\u2028b":          `a\xc2\x85\xe2\x80\xa8b`,
		"a\u00a0b\u00a0":          "a\u00a0b\\xc2\\xa0",
		"\tx\x00":                 `\x09x\x00`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestIDsOfAFileDifferOnlyInTheirNumber writes two files, with a failed visit between other visits.
func TestIDsOfAFileDifferOnlyInTheirNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	mustWrite(t, w, start, visit(address(1), page("x")))
	short := page("x")
	short.Size++
	if _, err := w.Write(start, visit(address(2), short)); err == nil {
		t.Error("a response that is not as long as announced is written")
	}
	mustWrite(t, w, start, visit(address(3), page("y")))
	must(t, w.Seal(start))
	mustWrite(t, w, start, visit(address(4), page("z")))
	must(t, w.Close(start))
	var numbers []string
	files := map[string]bool{}
	for _, k := range readDir(t, dir) {
		id := strings.Trim(k.id(), "<>")
		u, err := uuid.Parse(id)
		if err != nil || u.URN() != id || u.Version() != 8 || u.Variant() != uuid.RFC4122 {
			t.Errorf("id %s is version %d, variant %s: %v", id, u.Version(), u.Variant(), err)
		}
		files[id[:len(id)-8]] = true
		numbers = append(numbers, id[len(id)-8:])
	}
	want := "00000000 00000010 00000011 00000012 00000030 00000031 00000032 " + "00000000 00000010 00000011 00000012"
	if got := strings.Join(numbers, " "); got != want || len(files) != 2 {
		t.Errorf("the numbers of the records are %s, want %s; they begin in %d ways", got, want, len(files))
	}
}

func TestAFileEndsWithItsLastNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	first := mustWrite(t, w, start, visit(address(1), page("x")))
	w.current[""].visits = maxVisits - 1
	last := mustWrite(t, w, start, visit(address(2), page("y")))
	next := mustWrite(t, w, start, visit(address(3), page("z")))
	must(t, w.Close(start))
	if first.Origin.File != last.Origin.File || next.Origin.File == last.Origin.File || !strings.HasSuffix(last.Origin.RecordID, "fffffff0") {
		t.Errorf("the last number of a file is %s, followed by %+v", last.Origin.RecordID, next.Origin)
	}
}
