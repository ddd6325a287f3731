package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

func TestOwnArchiveHasNoFindings(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	found, sum := verified(t, Options{}, l.Dir)
	if len(found) > 0 {
		t.Errorf("findings in a sound archive: %v", found)
	}
	want := Summary{Files: 1, Bytes: sum.Bytes, Blocks: sum.Blocks, Records: map[string]int{
		"warcinfo": 1, "response": 3, "revisit": 3, "request": 6, "metadata": 7,
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
	revisit := func(more ...string) string {
		return archivetest.Plain(archivetest.Fields("revisit", "again", append([]string{
			"WARC-Target-URI: " + target, "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
			"WARC-Payload-Digest: " + digest.Of([]byte("body")).String(),
		}, more...)...), "")
	}
	refersTo := func(id, uri, date string) []string {
		return []string{"WARC-Refers-To: <urn:x:" + id + ">", "WARC-Refers-To-Target-URI: " + uri, "WARC-Refers-To-Date: " + date}
	}
	const date = "2026-11-21T09:00:00Z"
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
			found, sum := verified(t, Options{}, archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, archivetest.Info, good, c.record, last)))
			check(t, found, c.want, int64(at))
			if sum.Records["response"] < 2 {
				t.Errorf("the records around the fault were not read: %v", sum.Records)
			}
			if c.want == "" || strings.Contains(c.want, "members") || c.record == "" {
				return
			}
			at = len(archivetest.Info + good)
			found, _ = verified(t, Options{}, archivetest.Save(t, "a.warc", []byte(archivetest.Info+good+c.record+last)))
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
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	found, sum := verified(t, Options{}, dir, filepath.Join(dir, "missing.warc"), filepath.Join(dir, "none"))
	var got []string
	for _, f := range found {
		name, err := filepath.Rel(dir, f.File)
		if err != nil {
			t.Fatal(err)
		}
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
	content, err := os.ReadFile(archivetest.Small(t).Files()[0])
	if err != nil {
		t.Fatal(err)
	}
	const step = 23 // a prime, so that no periodic position is skipped
	ends := map[int]bool{0: true}
	whole := archivetest.Save(t, "whole.warc.gz", content)
	r, err := warc.OpenFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // nothing was written
	for {
		rec, err := r.Next()
		if err != nil {
			break
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		ends[int(rec.Offset+rec.Length)] = true
	}
	path, text := filepath.Join(t.TempDir(), "damaged.warc.gz"), unzip(content)
	for pos := range len(content) {
		if pos > 20 && pos%step > 0 {
			continue
		}
		cut := bytes.Clone(content[:pos])
		flipped := bytes.Clone(content)
		flipped[pos] ^= 0x10
		for name, damaged := range map[string][]byte{"cut": cut, "flipped": flipped} {
			if err := os.WriteFile(path, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			found, sum := verified(t, Options{}, path)
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

func TestRevisitsAreResolvedInKnownFiles(t *testing.T) {
	t.Parallel()
	l := archivetest.New(t)
	origin := l.Page("http://a.example/", archivetest.HTMLHead, "body")
	l.Seal()
	l.Revisit("http://a.example/", archivetest.HTMLHead, origin)
	l.Seal()
	second := l.Files()[1]
	found, _ := verified(t, Options{}, second)
	if len(found) != 1 || found[0].Kind != warc.NoOriginal {
		t.Errorf("without the other file: %v, want an unresolved revisit", found)
	}
	if found, sum := verified(t, Options{Known: []string{l.Dir}}, second); len(found) > 0 || sum.Files != 1 {
		t.Errorf("with the folder known: %v in %d files, want no finding in 1 file", found, sum.Files)
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Files(ctx, []string{archivetest.Small(t).Dir}, Options{}, func(warc.Finding) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want context.Canceled", err)
	}
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
			_, sum := verified(t, Options{}, path)
			if sum.Blocks > int64(2*len(content)+1000) {
				t.Errorf("%d bytes of blocks in a file of %d", sum.Blocks, len(content))
			}
		}
	})
}

// verified verifies files and returns the findings and the summary.
func verified(t testing.TB, o Options, paths ...string) ([]warc.Finding, Summary) {
	t.Helper()
	var all []warc.Finding
	sum, err := Files(context.Background(), paths, o, func(f warc.Finding) error {
		all = append(all, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, sum
}

func TestFilesOfWgetHaveOnlyKnownWarnings(t *testing.T) {
	t.Parallel()
	dir, _ := archivetest.Wget(t)
	found, sum := verified(t, Options{}, dir)
	kinds := map[warc.Kind]int{}
	for _, f := range found {
		kinds[f.Kind]++
		if f.Severity != warc.Warning {
			t.Errorf("%s", f.Error())
		}
	}
	// The digest of the chunked page covers its chunks. The revisits have the block digest of an empty block, and lack
	// the URI and the date of their originals.
	want := map[warc.Kind]int{warc.Framing: 1, warc.BlockDigest: 2, warc.BadHeader: 4}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v: %v", kinds, want, found)
	}
	if sum.Records["response"] != 5 || sum.Records["revisit"] != 2 { // robots.txt is one of them
		t.Errorf("records %v, want 5 responses and 2 revisits", sum.Records)
	}
}
