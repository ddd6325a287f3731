package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// onlyReaders is the reason of tests that run without the race detector because they take long under it.
const onlyReaders = "archive/warc starts its goroutines, and tests of archive/index run under the race detector"

func TestOwnArchiveHasNoFindings(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	found, sum := verified(t, VerifyOptions{}, l.Dir)
	if len(found) > 0 {
		t.Errorf("findings in a sound archive: %v", found)
	}
	want := Verified{Files: 1, Bytes: sum.Bytes, Blocks: sum.Blocks, Records: map[string]int{
		"warcinfo": 1, "response": 3, "revisit": 3, "request": 6, "metadata": 6,
	}}
	if fmt.Sprint(sum) != fmt.Sprint(want) || sum.Bytes == 0 || sum.Blocks == 0 {
		t.Errorf("the summary is %v, want %v", sum, want)
	}
}

// TestEachFaultIsReported puts one fault into a file of otherwise sound records. Verify must report only that fault,
// at its offset.
func TestEachFaultIsReported(t *testing.T) {
	t.Parallel()
	const target = "http://a.example/"
	good := archivetest.Response("good", target, archivetest.HTMLHead, "body")
	last := archivetest.Response("last", target+"last", archivetest.HTMLHead, "the last one")
	revisitWith := func(block string, more ...string) string {
		return archivetest.Plain(archivetest.Fields("revisit", "again", append([]string{
			"WARC-Target-URI: " + target, "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
			"WARC-Payload-Digest: " + digest.Of([]byte("body")).String(),
		}, more...)...), block)
	}
	revisit := func(more ...string) string { return revisitWith("", more...) }
	refersTo := func(id, uri, date string) []string {
		return []string{"WARC-Refers-To: <urn:x:" + id + ">", "WARC-Refers-To-Target-URI: " + uri, "WARC-Refers-To-Date: " + date}
	}
	const date = "2026-11-21T09:00:00Z"
	headed := func(head string) string {
		return revisitWith(head+"\r\n\r\n", append(refersTo("good", target, date), "Content-Type: application/http;msgtype=response")...)
	}
	for _, c := range []struct {
		name   string
		record string
		want   string // severity, kind and a part of the text; empty for none
	}{
		{"nothing is wrong", archivetest.Response("x", target+"x", archivetest.HTMLHead, "x"), ""},
		{"a digest in hexadecimal", archivetest.Plain(archivetest.Fields("resource", "x", "WARC-Target-URI: urn:x", "WARC-Block-Digest: sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709"), ""), ""},
		{"a block digest of something else", strings.Replace(archivetest.Response("x", target, archivetest.HTMLHead, "x"), "Block-Digest: sha1:", "Block-Digest: sha1:AAAA", 1), "warning algorithm letters"},
		{"a block with another byte", strings.Replace(archivetest.Response("x", target, archivetest.HTMLHead, "brave"), "brave", "grave", 1), "error block-digest the header says|error payload-digest the header says"},
		{"an unknown digest", archivetest.Plain(archivetest.Fields("resource", "x", "WARC-Target-URI: urn:x", "WARC-Block-Digest: crc:12"), ""), "warning algorithm crc:12"},
		{"no target", archivetest.Plain(archivetest.Fields("resource", "x"), ""), "error header WARC-Target-URI"},
		{"no date", strings.Replace(archivetest.Info, "WARC-Date: "+date+"\r\nContent-Type", "WARC-Record-ID: <urn:x:2>\r\nContent-Type", 1), "error header WARC-Date is missing|error header twice|error duplicate-id same id"},
		{"a date that is not valid", strings.Replace(archivetest.Response("x", target, archivetest.HTMLHead, "x"), date, "yesterday", 1), "error header yesterday"},
		{"a header that is not UTF-8", archivetest.Plain(archivetest.Fields("metadata", "x", "WARC-Target-URI: http://a.example/\xff"), ""), "error header UTF-8"},
		{"a header line without a name", archivetest.Plain(archivetest.Fields("metadata", "x", "nonsense"), ""), "error header nonsense"},
		{"another version", strings.Replace(archivetest.Response("x", target, archivetest.HTMLHead, "x"), "WARC/1.1", "WARC/0.9", 1), "error version 0.9"},
		{"no length", archivetest.Plain(archivetest.Fields("metadata", "x", "Content-Length: many"), ""), "error header many"},
		{"a length that is too small", archivetest.Plain(archivetest.Fields("metadata", "x", "Content-Length: 2"), "abcdef"), "error length 2 bytes"},
		{"a length that is too large", archivetest.Plain(archivetest.Fields("metadata", "x", "Content-Length: 20"), "abcdef"), "error length 20"},
		{"a huge length", archivetest.Plain(archivetest.Fields("metadata", "x", "Content-Length: 9223372036854775807"), "abcdef"), "error length 9223372036854775807"},
		{"no end", strings.TrimSuffix(archivetest.Plain(archivetest.Fields("metadata", "x"), "abcdef"), "\r\n"), "error length continues for 2 bytes"},
		{"no record", "something else", "error header something else"},
		{"nothing", "", "error header no record"},
		{"a header without end", "WARC/1.1\r\n" + strings.Repeat("X: y\r\n", (64<<10)/6), "error header does not end"},
		{"a header of 2 MB", archivetest.Plain(archivetest.Fields("metadata", "x", "X: "+strings.Repeat("y", 2<<20)), "z"), "error header does not end"},
		{"an id that was used", archivetest.Response("good", target+"other", archivetest.HTMLHead, "x"), "error duplicate-id same id"},
		{"an answer to nobody", archivetest.Plain(archivetest.Fields("request", "x", "WARC-Target-URI: "+target, "WARC-Concurrent-To: <urn:x:none>"), ""), "error dangling urn:x:none"},
		{"a warcinfo that is not there", archivetest.Response("x", target, archivetest.HTMLHead, "x", "WARC-Warcinfo-ID: <urn:x:none>"), "error dangling WARC-Warcinfo-ID"},
		{"a revisit", revisit(refersTo("good", target, date)...), ""},
		{"a revisit with another content coding", headed(archivetest.HTMLHead + "\r\nContent-Encoding: gzip"), "warning revisit-framing gzip"},
		{"a revisit in chunks, of a plain body", headed(archivetest.ChunkedHead), ""},
		{"a revisit of a missing record", revisit(refersTo("none", target+"none", date)...), "error revisit-unresolved urn:x:none"},
		{"a revisit found by URI and date", revisit(refersTo("none", target, date)...), "warning dangling by URI and date"},
		{"a revisit of another URI", revisit(refersTo("good", target+"other", date)...), "error revisit-differs another URI"},
		{"a revisit of another date", revisit(refersTo("good", target, "2025-11-21T09:00:00Z")...), "error revisit-differs another date"},
		{"a revisit of another payload", revisit(refersTo("last", target+"last", date)...), "error revisit-differs payload digest"},
		{"a revisit of itself", revisit(refersTo("again", target, date)...), "error revisit-chain a revisit itself"},
		{"a revisit of no response", revisit(refersTo("info", target, date)...), "error revisit-differs neither"},
		{"a revisit that names nothing", revisit(), "warning header Target-URI|warning header Date"},
		{"a revisit without its original", strings.Replace(revisit(), digest.Of([]byte("body")).String(), digest.Of([]byte("other")).String(), 1), "warning header Target-URI|warning header Date|error revisit-unresolved names neither"},
		{"a revisit without digest", strings.Replace(revisit(refersTo("good", target, date)...), "WARC-Payload-Digest", "X", 1), "error header WARC-Payload-Digest is missing"},
		{"a revisit without profile", strings.Replace(revisit(refersTo("good", target, date)...), "WARC-Profile", "X", 1), "error header WARC-Profile"},
		{"a digest of the chunks", framedResponse(target), "warning framing 6.3.2"},
		{"chunks that were taken away", archivetest.Response("x", target, archivetest.ChunkedHead, "plain text"), ""},
		{"two records in one member", archivetest.Response("x", target+"1", archivetest.HTMLHead, "1") + archivetest.Response("y", target+"2", archivetest.HTMLHead, "2"), "error members same gzip member"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			at := len(archivetest.Zipped(t, archivetest.Info, good))
			found, sum := verified(t, VerifyOptions{}, archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, archivetest.Info, good, c.record, last)))
			check(t, found, c.want, int64(at))
			if sum.Records["response"] < 2 {
				t.Errorf("the records around the fault were not read: %v", sum.Records)
			}
			if c.want == "" || strings.Contains(c.want, "members") || c.record == "" {
				return
			}
			at = len(archivetest.Info + good)
			found, _ = verified(t, VerifyOptions{}, archivetest.Save(t, "a.warc", []byte(archivetest.Info+good+c.record+last)))
			if len(found) == 0 || found[0].Offset != int64(at) && found[0].Offset != int64(at+2) {
				t.Errorf("in a plain file: found %v, want a finding at %d", found, at)
			}
		})
	}
}

// framedResponse returns a response with the payload digest of the body as it was sent, with its chunk framing.
func framedResponse(target string) string {
	return archivetest.Response("x", target, archivetest.ChunkedHead, "2\r\nab\r\n0\r\n\r\n")
}

func check(t *testing.T, found []warc.Finding, want string, at int64) {
	t.Helper()
	if want == "" {
		if len(found) > 0 {
			t.Errorf("found %v, want nothing", found)
		}
		return
	}
	wants := strings.Split(want, "|")
	if len(found) != len(wants) {
		t.Errorf("found %v, want %q", found, wants)
		return
	}
	for i, f := range found {
		words := strings.SplitN(wants[i], " ", 3)
		is := fmt.Sprint(f.Severity, " ", f.Kind)
		if is != words[0]+" "+words[1] || !strings.Contains(f.Text, words[2]) || f.Offset != at {
			t.Errorf("found %v at %d, want %q at %d", f.Error(), f.Offset, wants[i], at)
		}
	}
}

func TestOtherFormatsAreReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sound := archivetest.Zipped(t, archivetest.Info, archivetest.Response("a", "http://a.example/", archivetest.HTMLHead, "body"))
	other := bytes.ReplaceAll(sound, nil, nil)
	for name, content := range map[string][]byte{
		"arc.arc":             []byte("filedesc://x 0.0.0.0 20260101000000 text/plain 9\n1 0 X\n\n"),
		"arc.arc.gz":          archivetest.Zipped(t, "filedesc://x 0.0.0.0 20260101000000 text/plain 9\n"),
		"empty.warc":          nil,
		"sound.warc.gz":       sound,
		"still.warc.gz.open":  other[:len(other)-5],
		"text.warc":           []byte(strings.Repeat("no record\n", 10)),
		"torn.warc.gz":        sound[:len(sound)-5],
		"begins-torn.warc.gz": append([]byte("\x1f\x8b\x08 and no more"), archivetest.Zipped(t, archivetest.Info, archivetest.Response("b", "http://b.example/", archivetest.HTMLHead, "body"))...),
		"index.cdxj":          []byte("not looked at"),
	} {
		archivetest.Must(t, os.WriteFile(filepath.Join(dir, name), content, 0o644))
	}
	archivetest.Must(t, os.Mkdir(filepath.Join(dir, "none"), 0o755))
	found, sum := verified(t, VerifyOptions{}, dir, filepath.Join(dir, "missing.warc"), filepath.Join(dir, "none"))
	var got []string
	for _, f := range found {
		name, err := filepath.Rel(dir, f.File)
		archivetest.Must(t, err)
		got = append(got, fmt.Sprintf("%s %d %s %s", name, f.Offset, f.Severity, f.Kind))
	}
	half := int64(len(archivetest.Zipped(t, archivetest.Info)))
	want := []string{
		"missing.warc -1 error unreadable",
		"none -1 error empty",
		"arc.arc -1 error arc",
		"arc.arc.gz -1 error arc",
		"begins-torn.warc.gz 0 error gzip",
		"empty.warc -1 error empty",
		"still.warc.gz.open -1 warning open",
		fmt.Sprintf("still.warc.gz.open %d warning truncated", half),
		"text.warc -1 error not-warc",
		fmt.Sprintf("torn.warc.gz %d error truncated", half),
	}
	// The three sound warcinfo records have one id.
	for len(got) > 0 && strings.HasSuffix(got[len(got)-1], "duplicate-id") {
		got = got[:len(got)-1]
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if sum.Records["response"] != 2 || sum.Records["warcinfo"] != 4 {
		t.Errorf("records %v, want 2 responses and 4 warcinfo", sum.Records)
	}
}

// TestEveryCutAndFlippedByteIsReported damages a sound archive at each place in turn.
func TestEveryCutAndFlippedByteIsReported(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, onlyReaders)
	file := archivetest.Small(t).Files()[0]
	content, err := os.ReadFile(file)
	archivetest.Must(t, err)
	const step = 23 // a prime, so that no periodic position is skipped
	ends := map[int]bool{0: true}
	whole := archivetest.Save(t, "whole.warc.gz", content)
	r, err := warc.OpenFile(whole)
	archivetest.Must(t, err)
	defer r.Close() //nolint:errcheck // nothing was written
	for {
		rec, err := r.Next()
		if err != nil {
			break
		}
		archivetest.Must(t, rec.Close())
		ends[int(rec.Offset+rec.Length)] = true
	}
	path, text := filepath.Join(t.TempDir(), filepath.Base(file)), unzip(content)
	for pos := range len(content) {
		if pos > 20 && pos%step > 0 {
			continue
		}
		cut := bytes.Clone(content[:pos])
		flipped := bytes.Clone(content)
		flipped[pos] ^= 0x10
		for name, damaged := range map[string][]byte{"cut": cut, "flipped": flipped} {
			archivetest.Must(t, os.WriteFile(path, damaged, 0o644))
			found, sum := verified(t, VerifyOptions{}, path)
			if len(found) == 0 && !(name == "cut" && ends[pos]) && !(name == "flipped" && unguarded(ends, pos)) &&
				!bytes.Equal(text, unzip(damaged)) {
				t.Errorf("%s at %d: no finding", name, pos)
			}
			if name == "flipped" && sum.Records["response"]+sum.Records["revisit"] < 5 {
				t.Errorf("flipped at %d: only the records %v were read", pos, sum.Records)
			}
		}
	}
}

// unzip returns the text of a gzip file. It is nil if the file is damaged. Padding within the compressed data may
// change without damage.
func unzip(content []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil
	}
	return text
}

// unguarded reports whether a byte has no effect on the data: the time and the system in the header of a member, and
// the padding of the last byte before its CRC.
func unguarded(ends map[int]bool, at int) bool {
	for i := 4; i <= 9; i++ {
		if ends[at-i] {
			return true
		}
	}
	return ends[at+9]
}

// FuzzReader checks that reading ends for all files, and that no block is read twice.
func FuzzReader(f *testing.F) {
	f.Add([]byte(archivetest.Info + archivetest.Response("a", "http://a.example/", archivetest.ChunkedHead, "1\r\na\r\n0\r\n\r\n")))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Add([]byte("WARC/1.0\r\nContent-Length: 3\r\n\r\nab"))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, name := range []string{"f.warc", "f.warc.gz"} {
			if strings.HasSuffix(name, ".gz") {
				content = append(archivetest.Zipped(t, string(content)), content...)
			}
			path := archivetest.Save(t, name, content)
			_, sum := verified(t, VerifyOptions{}, path)
			if sum.Blocks > int64(2*len(content)+1000) {
				t.Errorf("%d bytes of blocks in a file of %d", sum.Blocks, len(content))
			}
		}
	})
}

// verified verifies files and returns the findings and the summary.
func verified(t testing.TB, o VerifyOptions, paths ...string) ([]warc.Finding, Verified) {
	t.Helper()
	var all []warc.Finding
	sum, err := Verify(context.Background(), paths, o, func(f warc.Finding) error {
		all = append(all, f)
		return nil
	})
	archivetest.Must(t, err)
	return all, sum
}

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
			found, _ := verified(t, VerifyOptions{}, archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, archivetest.Info, good, c.record)))
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
		found, _ := verified(t, VerifyOptions{}, archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, c.info, good, cut)))
		check(t, found, c.want, int64(at))
	}
}

// TestStrictAsksAnotherReader has a record with a wrong address and no media type, and our own archive.
func TestStrictAsksAnotherReader(t *testing.T) {
	t.Parallel()
	if found, _ := verified(t, VerifyOptions{Strict: true}, archivetest.Small(t).Dir); len(found) > 0 {
		t.Errorf("in a sound archive: %v", found)
	}
	odd := archivetest.Plain(archivetest.Fields("metadata", "x", "WARC-Target-URI: http://a.example/", "WARC-IP-Address: somewhere"), "text")
	file := archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, archivetest.Info, odd))
	found, _ := verified(t, VerifyOptions{}, file)
	check(t, found, "", 0)
	found, sum := verified(t, VerifyOptions{Strict: true}, file)
	check(t, found, "warning gowarc ip address|warning gowarc Content-Type", int64(len(archivetest.Zipped(t, archivetest.Info))))
	if sum.Errors != 0 || sum.Warnings != 2 {
		t.Errorf("%+v", sum)
	}
}

// A crawl writes next to the verification. While the open files are read, it writes an original and a revisit of it.
func TestARevisitFindsAnOriginalThatWasWrittenSinceTheListing(t *testing.T) {
	t.Parallel()
	const target = "http://a.example/new"
	info := func(id string) string { return strings.ReplaceAll(archivetest.Info, "urn:x:info", "urn:x:info-"+id) }
	original := archivetest.Response("original", target, archivetest.HTMLHead, "new")
	revisit := archivetest.Plain(archivetest.Fields("revisit", "again", "WARC-Target-URI: "+target,
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified", "WARC-Refers-To: <urn:x:original>",
		"WARC-Refers-To-Target-URI: "+target, "WARC-Refers-To-Date: "+archivetest.Start.Format(warc.DateLayout)), "")
	revisit = strings.Replace(revisit, "T09:", "T20:", 1) // its date
	for _, c := range []struct {
		name, listed string   // the file with the revisit
		written      string   // the file that gets the original while it is read
		records      []string // of this file
		lost         bool
	}{
		{"in a newer file", "b.warc.gz.open", "c.warc.gz.open", []string{info("c"), original}, false},
		{"at the end of an older file", "b.warc.gz.open", "a.warc.gz.open", []string{info("a"), original}, false},
		{"in an older file, sealed since", "b.warc.gz.open", "a.warc.gz", []string{info("a"), original}, false},
		{"nowhere", "b.warc.gz.open", "c.warc.gz.open", []string{info("c")}, true},
		{"a sealed file refers to nothing newer", "b.warc.gz", "c.warc.gz.open", []string{info("c"), original}, true},
	} {
		dir := t.TempDir()
		save := func(name string, records ...string) {
			archivetest.Must(t, os.WriteFile(filepath.Join(dir, name), archivetest.Zipped(t, records...), 0o600))
		}
		save("a.warc.gz.open", info("a"))
		save(c.listed, info("b"), revisit)
		save("z.warc.gz.open", info("z"))
		var faults []string
		written := false
		_, err := Verify(t.Context(), []string{dir}, VerifyOptions{}, func(f warc.Finding) error {
			if f.Kind == warc.StillOpen && filepath.Base(f.File) == "z.warc.gz.open" { // all others have been read
				if c.written == "a.warc.gz" {
					archivetest.Must(t, os.Remove(filepath.Join(dir, "a.warc.gz.open")))
				}
				save(c.written, c.records...)
				written = true
			}
			if f.Severity == warc.Error {
				faults = append(faults, f.Error())
			}
			return nil
		})
		if lost := len(faults) == 1 && strings.Contains(faults[0], "the original is not there"); err != nil || !written ||
			lost != c.lost || len(faults) > 1 || !lost && len(faults) > 0 {
			t.Errorf("%s: faults %q, %v; want a lost original: %t", c.name, faults, err, c.lost)
		}
	}
}

// The payload of a record that somebody replaced may have the SHA-1 of the old one. Its SHA-256 then differs.
func TestThePayloadIsComparedWithTheSHA256OfItsVisit(t *testing.T) {
	t.Parallel()
	const head, body = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nbody\r\n0\r\n\r\n"
	right := digest.SHA256(sha256.Sum256([]byte("body"))).String()
	wrong := digest.SHA256(sha256.Sum256([]byte("bodx"))).String()
	for _, c := range []struct{ name, software, sum, want string }{
		{"the same", "arcrawl/1", right, ""},
		{"another", "arcrawl/1", wrong, "the metadata record of the visit says " + wrong},
		{"none", "arcrawl/1", "", ""},
		{"a field of another program", "other/1", wrong, ""},
	} {
		dir, now := t.TempDir(), archivetest.Start
		w, _, err := warcout.Open(warcout.Options{
			Dir: dir, Prefix: "test", Info: []warcout.Field{{Name: "software", Value: c.software}},
		}, now)
		archivetest.Must(t, err)
		u, err := uri.Parse("http://a.example/")
		archivetest.Must(t, err)
		v := warcout.Visit{
			URI: u, Date: now, IP: netip.MustParseAddr("192.0.2.7"), Request: []byte("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"),
			Metadata: []warcout.Field{{Name: "via", Value: "x"}},
			Response: &warcout.Response{
				Block: strings.NewReader(head + body), Size: int64(len(head + body)), BlockDigest: digest.Of([]byte(head + body)),
				PayloadDigest: digest.Of([]byte("body")), PayloadSize: 4,
			},
		}
		if c.sum != "" {
			v.Metadata = append(v.Metadata, warcout.Field{Name: crawler.PayloadSHA256, Value: c.sum})
		}
		_, err = w.Write(now, v)
		archivetest.Must(t, err)
		archivetest.Must(t, w.Close(now.Add(time.Hour)))
		var found []string
		_, err = Verify(t.Context(), []string{dir}, VerifyOptions{}, func(f warc.Finding) error {
			found = append(found, f.Error())
			return nil
		})
		if err != nil || len(found) > 0 && c.want == "" || c.want != "" && !strings.Contains(strings.Join(found, "\n"), c.want) {
			t.Errorf("%s: %q, %v", c.name, found, err)
		}
	}
}

// sample holds files that another program wrote of one small site, and what is in them. The site has pages, a copy, a
// body in chunks, a gzipped one, a redirect and a missing page. Each was visited once or twice.
type sample struct {
	made     string
	files    []string
	warnings map[warc.Kind]int
	captures int // responses and revisits of the site; the digests of their payloads are right
	framed   int // of these, those whose payload digest is of the body with its chunks
	imported int
}

// A payload is imported if it is not empty and its digest is not of the body with its chunks. Wget names neither URI
// nor date of an original, and takes the block digest of a revisit before it writes the block.
var samples = []sample{
	{
		made: "warcio 1.8.1, WARC 1.0", files: []string{"warcio-1.0.warc.gz"},
		warnings: map[warc.Kind]int{warc.Framing: 1}, captures: 8, framed: 1, imported: 3,
	},
	{
		made: "warcio 1.8.1, WARC 1.1", files: []string{"warcio-1.1.warc.gz"},
		warnings: map[warc.Kind]int{warc.Framing: 1}, captures: 8, framed: 1, imported: 3,
	},
	{
		made: "GNU Wget 1.21.3, deduplicated", files: []string{"wget-1.warc.gz", "wget-2.warc.gz"},
		warnings: map[warc.Kind]int{warc.Framing: 1, warc.BlockDigest: 6, warc.BadHeader: 12, warc.NoInfo: 2},
		captures: 16, framed: 2, imported: 8,
	},
	{
		made: "pywb 2.10.0b1, recording", files: []string{"pywb.warc.gz"},
		warnings: map[warc.Kind]int{warc.NoInfo: 1}, captures: 10, imported: 10,
	},
}

// TestFilesOfOtherProgramsAreReadWhole verifies, plays and imports what other programs wrote.
func TestFilesOfOtherProgramsAreReadWhole(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		t.Run(s.made, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, f := range s.files {
				text := archivetest.Read(t, filepath.Join("testdata", "samples", f))
				archivetest.Must(t, os.WriteFile(filepath.Join(dir, f), []byte(text), 0o600))
			}
			found := map[warc.Kind]int{}
			sum, err := Verify(t.Context(), []string{dir}, VerifyOptions{}, func(f warc.Finding) error {
				found[f.Kind]++
				if f.Severity == warc.Error {
					t.Error(f.Error())
				}
				return nil
			})
			if err != nil || sum.Errors != 0 {
				t.Errorf("verify: %+v, %v", sum, err)
			}
			if !maps.Equal(found, s.warnings) {
				t.Errorf("verify warns of %v, want %v", found, s.warnings)
			}
			captures, framed := playsAll(t, dir)
			if captures != s.captures || framed != s.framed {
				t.Errorf("%d captures have their payloads, %d with chunks; want %d and %d", captures, framed, s.captures, s.framed)
			}
			if n := importedFrom(t, dir); n != s.imported {
				t.Errorf("%d payloads were imported, want %d", n, s.imported)
			}
		})
	}
}

// playsAll reads the payload of each capture of the site, and compares it with the digest of its record. It returns how
// many it compared, and how many of the digests are of the body with its chunks.
func playsAll(t *testing.T, dir string) (played, framed int) {
	t.Helper()
	l, err := captures.OpenLibrary(t.Context(), dir, captures.Options{}, noFinding)
	archivetest.Must(t, err)
	defer l.Close() //nolint:errcheck // nothing was written
	files, faults := warc.Files([]string{dir})
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	var uris []string
	for _, f := range files {
		archivetest.Must(t, warc.EachRecord(t.Context(), f, nil, warc.NewFindings(f), func(rec *warc.Record) error {
			if u := rec.Header.Target(); strings.HasPrefix(u, "http://127.0.0.1:") && !slices.Contains(uris, u) {
				uris = append(uris, u)
			}
			return nil
		}))
	}
	for _, u := range uris {
		all, err := l.History(u)
		archivetest.Must(t, err)
		for _, c := range all {
			if c.Type != "response" && c.Type != "revisit" {
				continue
			}
			p, err := l.Payload(t.Context(), c, false)
			if err != nil {
				t.Errorf("%s of %s: %v", c.Timestamp, u, err)
				continue
			}
			body, err := io.ReadAll(p)
			archivetest.Must(t, err)
			archivetest.Must(t, p.Close())
			played++
			switch sum := digest.Of(body).String(); {
			case "sha1:"+strings.TrimPrefix(c.Digest, "sha1:") == sum:
			case strings.HasSuffix(u, "/pieces"):
				framed++
			default:
				t.Errorf("%s of %s has the payload %s, the record says %s", c.Timestamp, u, sum, c.Digest)
			}
		}
	}
	return played, framed
}

// importedFrom returns how many payloads of a folder can be the origins of revisits.
func importedFrom(t *testing.T, dir string) int {
	t.Helper()
	store, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Compactors: -1, Now: archivetest.Start})
	archivetest.Must(t, err)
	defer store.Close() //nolint:errcheck // nobody needs it
	to, err := dedup.Open(store.DB(), dedup.Options{Name: uri.ReplayKey})
	archivetest.Must(t, err)
	now := func() time.Time { return archivetest.Start }
	sum, err := importFiles(t.Context(), to, []string{dir}, importOptions{Now: now}, noFinding)
	archivetest.Must(t, err)
	return int(sum.Entries)
}
