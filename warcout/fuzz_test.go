package warcout

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// FuzzWriteAndReadBack uses hostile text for all parts of a visit that a server or page can influence. The visit must
// be refused, or read back: headers unchanged, fields as escaped by Escape, and heads with exactly the same bytes.
func FuzzWriteAndReadBack(f *testing.F) {
	f.Add("via", "http://a/", "http://www.example.org/", "urn:uuid:1", `"etag"`, "HTTP/1.1 304 x\r\n\r\n", "length")
	f.Add("a", "x\r\nWARC-Type: response", "http://b/\r\nX: y", "<a>\r\n", "\r\n\r\n", "\xff", "a\nb")
	f.Add("", " \u2028 ", "http://b/ ", ">", "\x00é\xe9", "HTTP/", "")
	f.Add("é", "\\x0a\t", "http://b/=?UTF-8?Q?a=3Ab?=", " ", " tag", "", "\u00a0")
	f.Fuzz(func(t *testing.T, name, value, address, id, etag, head, truncated string) {
		dir := memoryDir(t)
		w, _ := opened(t, Options{Dir: dir})
		o := original
		o.RecordID, o.URI = id, address
		visits := []Visit{
			{
				URI: uri.FromCanonical(address), Date: start, Head: []byte(head), Metadata: []Field{{name, value}},
				Revisit: &Revisit{Profile: NotModified, Origin: o, ETag: etag, LastModified: value},
			},
			{
				URI: uri.FromCanonical("http://www.example.org/"), Date: start,
				Response: &Response{
					Block: strings.NewReader(head), Size: int64(len(head)), BlockDigest: digest.Of([]byte(head)),
					Truncated: truncated, IdentifiedType: value,
				},
			},
		}
		var accepted []bool
		for _, v := range visits {
			_, err := w.Write(start, v)
			accepted = append(accepted, err == nil)
		}
		must(t, w.Close(start))
		var records []kept
		if files := sealedFiles(t, dir); len(files) > 0 {
			var err error
			if records, err = readFile(files[0]); err != nil {
				t.Fatal(err)
			}
			records = records[1:]
		}
		if accepted[0] {
			records = checkRevisit(t, records, visits[0])
		}
		if accepted[1] {
			if len(records) == 0 || string(records[0].block) != head || records[0].get("WARC-Truncated") != truncated {
				t.Fatalf("response %q, truncated %q, came back as %+v", head, truncated, records)
			}
			records = records[1:]
		}
		if len(records) > 0 {
			t.Errorf("%d records too many: %+v", len(records), records)
		}
	})
}

// checkRevisit compares the first records with v and returns the remaining records.
func checkRevisit(t *testing.T, records []kept, v Visit) []kept {
	t.Helper()
	want := []string{"revisit", "metadata"}
	if len(v.Head) > 0 {
		want = []string{"revisit", "metadata", "metadata"}
	}
	if len(records) < len(want) {
		t.Fatalf("%d records, want %q", len(records), want)
	}
	revisit := records[0]
	id := "" // without one the field is left out
	if v.Revisit.Origin.RecordID != "" {
		id = "<" + v.Revisit.Origin.RecordID + ">"
	}
	got := map[string]string{
		v.URI.String():       revisit.get("WARC-Target-URI"),
		v.Revisit.Origin.URI: revisit.get("WARC-Refers-To-Target-URI"),
		id:                   revisit.get("WARC-Refers-To"),
	}
	for want, got := range got {
		if want != got {
			t.Errorf("%q came back as %q", want, got)
		}
	}
	if etag := revisit.get("WARC-Etag"); etag != "" && etag != v.Revisit.ETag {
		t.Errorf("ETag %q came back as %q", v.Revisit.ETag, etag)
	}
	if len(v.Head) > 0 && string(records[1].block) != string(v.Head) {
		t.Errorf("head %q came back as %q", v.Head, records[1].block)
	}
	fields := records[len(want)-1].fields(t)
	if len(fields) != 1 || fields[0] != (Field{v.Metadata[0].Name, Escape(v.Metadata[0].Value)}) {
		t.Errorf("field %q came back as %q", v.Metadata[0], fields)
	}
	return records[len(want):]
}

// FuzzOpen opens a folder with a damaged .open file and journal. Open must repair them or return an error, and each
// file that it seals must have only whole records.
func FuzzOpen(f *testing.F) {
	c := leave(f, Options{})
	final := strings.TrimSuffix(c.name, openSuffix)
	f.Add(c.data, journalVersion)
	f.Add(c.data[:len(c.data)/2], journalVersion+"2026-11-21T09:00:00.000000Z opened "+final+" 10 1\n")
	f.Add(append([]byte("x"), c.data...), "arcrawl-warc")
	f.Fuzz(func(t *testing.T, data []byte, journal string) {
		dir, home := memoryDir(t), t.TempDir()
		put(t, dir, c.name, string(data))
		put(t, home, "j", journal)
		w, _, err := Open(Options{Dir: dir, Journal: filepath.Join(home, "j")}, start)
		if err != nil {
			return
		}
		must(t, w.Close(start))
		for _, path := range sealedFiles(t, dir) {
			if strings.Contains(journal, " "+final+" ") {
				continue // Open trusts a journal that names the file
			}
			if n := wholeMembers(t, path); n < 2 {
				t.Errorf("%s has %d whole records", path, n)
			}
		}
	})
}
