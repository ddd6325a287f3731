package warcout

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc/v3"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/uri"
)

// A note is a metadata record that names the record that it is about, and no reader takes it for a capture.
func TestANoteIsAboutARecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	page := mustWrite(t, w, start, visit("http://www.example.org/", page("hello")))
	for _, about := range []string{page.Origin.RecordID, ""} {
		_, err := w.WriteNote(start, "", "urn:change:http://www.example.org/", about, "application/json", []byte(`{"kinds":["text"]}`))
		must(t, err)
	}
	must(t, w.Close(start))
	all := readDir(t, dir)
	note, other := all[len(all)-2], all[len(all)-1]
	if note.get("WARC-Type") != "metadata" || note.get("WARC-Refers-To") != "<"+page.Origin.RecordID+">" ||
		note.get("WARC-Target-URI") != "urn:change:http://www.example.org/" || string(note.block) != `{"kinds":["text"]}` {
		t.Errorf("the note is %+v", note)
	}
	if other.get("WARC-Refers-To") != "" || note.get("WARC-Record-ID") == other.get("WARC-Record-ID") {
		t.Errorf("a note about no record is %+v", other)
	}
}

func TestAResourceIsARecordOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	long := []byte(strings.Repeat("a key = \"a value\"\n", 100_000))
	for _, content := range [][]byte{[]byte("a = 1\n"), long} {
		out, err := w.WriteResource(start, Resource{URI: "urn:arcrawl:x", Date: start, ContentType: "application/toml", Content: content})
		if err != nil || out.IsResponse || out.Origin.Payload != digest.Of(content) || out.Origin.URI != "urn:arcrawl:x" {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	mustWrite(t, w, start, visit("http://www.example.org/", page("hello")))
	if _, err := w.WriteResource(start, Resource{URI: "urn:a", Date: start, ContentType: "text/plain"}); !errors.Is(err, ErrRefused) {
		t.Errorf("an empty resource: %v, want that it is refused", err)
	}
	must(t, w.Close(start))
	all := readDir(t, dir)
	if len(all) != 6 || all[1].get("WARC-Type") != "resource" || string(all[2].block) != string(long) {
		t.Fatalf("the file has %d records: %+v", len(all), all)
	}
	ids := map[string]bool{}
	for _, r := range all {
		ids[r.get("WARC-Record-ID")] = true
	}
	if len(ids) != len(all) || all[1].get("WARC-Payload-Digest") != digest.Of([]byte("a = 1\n")).String() ||
		all[1].get("WARC-Warcinfo-ID") != all[0].get("WARC-Record-ID") {
		t.Errorf("ids %v; the resource has %+v", ids, all[1].header)
	}
}

// TestALookupIsARecordAsHeritrixWritesIt reads a record of a look-up back.
func TestALookupIsARecordAsHeritrixWritesIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	out, err := w.WriteLookup(start, Lookup{Host: "www.example.org.", Date: start, Addresses: []netip.Addr{
		netip.MustParseAddr("::ffff:192.0.2.7"), netip.MustParseAddr("2001:db8::1"),
	}, TTLs: map[netip.Addr]uint32{netip.MustParseAddr("192.0.2.7"): 300}})
	must(t, errors.Join(err, w.Close(start)))
	const block = "20261121090000\nwww.example.org.\t300\tIN\tA\t192.0.2.7\nwww.example.org.\tIN\tAAAA\t2001:db8::1\n"
	all := readDir(t, dir)
	if len(all) != 2 || string(all[1].block) != block || out.Origin.URI != "dns:www.example.org" {
		t.Fatalf("%d records, %+v; block %q", len(all), out.Origin, all[len(all)-1].block)
	}
	for name, want := range map[string]string{
		"WARC-Type": "response", "WARC-Target-URI": "dns:www.example.org", "Content-Type": "text/dns",
		"WARC-Protocol": "dns", "WARC-Warcinfo-ID": all[0].get("WARC-Record-ID"), "WARC-Concurrent-To": "",
	} {
		if got := all[1].get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Some readers look an original up by the text of its date.
func TestRevisitsRepeatTheDateOfTheirOriginal(t *testing.T) {
	t.Parallel()
	second := time.Date(2019, 3, 1, 10, 0, 0, 0, time.UTC)
	own, other := "urn:uuid:11111111-2222-8333-8444-555555555555", "urn:uuid:11111111-2222-4333-8444-555555555555"
	for _, c := range []struct {
		id   string
		date time.Time
		want string
	}{
		{other, second, "2019-03-01T10:00:00Z"},
		{"", second, "2019-03-01T10:00:00Z"},
		{other, second.Add(120 * time.Millisecond), "2019-03-01T10:00:00.120Z"},
		{other, second.Add(120 * time.Microsecond), "2019-03-01T10:00:00.000120Z"},
		{own, second, "2019-03-01T10:00:00.000000Z"},
		{own, second.Add(1200 * time.Microsecond), "2019-03-01T10:00:00.001200Z"},
	} {
		o := digest.Origin{RecordID: c.id, URI: "http://www.example.org/", Date: c.date, Payload: digest.Of([]byte("hello"))}
		v := visit("http://www.example.org/", nil)
		v.Revisit = &Revisit{Profile: IdenticalPayload, Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Origin: o}
		_, all := written(t, Options{}, v)
		if got := all[1].get("WARC-Refers-To-Date"); got != c.want {
			t.Errorf("the revisit of %s at %s refers to %s, want %s", c.id, c.date, got, c.want)
		}
	}
}

// validated reads every WARC file in a folder with gowarc in strict mode and returns the number of records by type.
func validated(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d WARC files in %s, %v", len(files), dir, err)
	}
	types := map[string]int{}
	for _, file := range files {
		r, err := gowarc.NewWarcFileReader(file, 0, gowarc.WithStrictValidation(), gowarc.WithBufferTmpDir(t.TempDir()))
		must(t, err)
		for range 100 {
			record, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || len(record.Validation) > 0 {
				t.Fatalf("gowarc at %d of %s: %v, %v", record.Offset, file, err, record.Validation)
			}
			types[record.WarcRecord.Type().String()]++
			if err := record.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	return types
}

// TestGowarcAcceptsEveryKindOfRecord writes one visit of each kind and validates the files with gowarc.
func TestGowarcAcceptsEveryKindOfRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, Info: []Field{{"software", "arcrawl/test"}, {"format", "WARC File Format 1.1"}}})
	write := func(v Visit) Written { return mustWrite(t, w, start, v) }
	first := write(visit("http://www.example.org/", page("hello")))
	head := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n")

	same := visit("http://www.example.org/", nil)
	same.Revisit = &Revisit{Profile: IdenticalPayload, Origin: first.Origin, Head: head}
	write(same)

	unmodified := visit("http://www.example.org/", nil)
	unmodified.Revisit = &Revisit{
		Profile: NotModified, Origin: first.Origin, Head: []byte("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n"),
	}
	write(unmodified)
	write(visit("http://www.example.org/gone", nil))

	must(t, w.Close(start))
	types := validated(t, dir)
	for _, kind := range []string{"warcinfo", "response", "request", "revisit", "metadata"} {
		if types[kind] == 0 {
			t.Errorf("gowarc read no %s record, but %v", kind, types)
		}
	}
}

// TestWarcioReadsTheWrittenRecords writes each kind of visit and compares the records that warcio reads.
func TestWarcioReadsTheWrittenRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, Info: []Field{{"software", "arcrawl/1"}, {"operator", "Národní knihovna"}}})
	chunked := []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n")
	_, body, _ := strings.Cut(string(chunked), "\r\n\r\n")
	payload := dechunk(t, []byte(body))
	first := mustWrite(t, w, start, visit(address(1), responseOf(chunked, payload)))
	same := visit(address(2), nil)
	same.Revisit = &Revisit{Profile: IdenticalPayload, Origin: first.Origin, Head: []byte("HTTP/1.1 200 OK\r\nX: y\r\n\r\n")}
	mustWrite(t, w, start, same)
	unmodified := visit(address(1), nil)
	unmodified.Revisit = &Revisit{Profile: NotModified, Origin: first.Origin, Head: []byte(notModified)}
	mustWrite(t, w, start, unmodified)
	aborted := visit(address(3), nil)
	aborted.Head = []byte("HTTP/1.1 200 OK\r\nETag: \"a\"\r\n\r\n")
	mustWrite(t, w, start, aborted)
	garbage := visit(address(4), responseOf([]byte("SSH-2.0-x\r\n"), nil))
	mustWrite(t, w, start, garbage)
	mustWrite(t, w, start, visit(address(5), noise(5, 2*spoolMemory)))
	must(t, w.Close(start))

	records := foreign.Records(t, sealedFiles(t, dir)...)
	strict := readDir(t, dir)
	if len(records) != len(strict) {
		t.Fatalf("warcio sees %d records, the strict reader %d", len(records), len(strict))
	}
	var kinds []string
	for i, r := range records {
		if len(r.Errors) > 0 || r.Offset != strict[i].offset || r.Length != strict[i].length || r.ID != strict[i].id() ||
			string(r.Block) != string(strict[i].block) {
			t.Errorf("record %d: warcio sees a %s of %d bytes at %d with errors %q, the strict reader %+v", i, r.Type, r.ContentLength, r.Offset, r.Errors, strict[i].header)
		}
		kinds = append(kinds, r.Type)
	}
	want := "warcinfo " +
		"response request metadata " +
		"revisit request metadata " +
		"revisit request metadata " +
		"metadata request metadata " +
		"metadata request metadata " +
		"response request metadata"
	if diff := cmp.Diff(want, strings.Join(kinds, " ")); diff != "" {
		t.Errorf("record types (-want +got):\n%s", diff)
	}
	if got := records[1]; got.ComputedPayload != digest.Of([]byte("hello world")).String() || got.PayloadDigest != got.ComputedPayload || got.Status != "HTTP/1.1 200 OK" {
		t.Errorf("the chunked response has payload digest %s, computed %s, status %q", got.PayloadDigest, got.ComputedPayload, got.Status)
	}
	for _, i := range []int{4, 7} {
		got := records[i]
		if got.RefersTo != records[1].ID || got.RefersToTarget != records[1].Target || got.RefersToDate != records[1].Date ||
			got.PayloadDigest != records[1].PayloadDigest {
			t.Errorf("revisit %d refers to %s, %s, %s with payload %s; the original is %+v", i, got.RefersTo, got.RefersToTarget, got.RefersToDate, got.PayloadDigest, records[1])
		}
	}
}

// briefRecords returns short records like the records of real visits.
func briefRecords(t testing.TB) (texts [][]byte) {
	t.Helper()
	v := visit("http://www.example.org/world/2026/11/21/a-story-of-some-length.html", nil)
	v.Revisit = &Revisit{Profile: NotModified, Origin: original}
	v.Head = []byte("HTTP/1.1 304 Not Modified\r\nServer: nginx\r\nDate: Sat, 21 Nov 2026 09:00:00 GMT\r\nETag: W/\"5f3c-1a2b3c4d\"\r\nCache-Control: max-age=300\r\n\r\n")
	v.Request = []byte("GET /world/2026/11/21/a-story-of-some-length.html HTTP/1.1\r\nHost: www.example.org\r\n" +
		"User-Agent: Mozilla/5.0 (compatible; arcrawl/1.0; +https://library.example/crawler)\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n")
	v.Metadata = append(v.Metadata, Field{"via", "http://www.example.org/"}, Field{"contentState", "unchanged"})
	records, err := compose(nil, v, "urn:uuid:0f9619ff-8b86-8d01-b42d-00cf00000000", 1, Usual{})
	must(t, err)
	for _, r := range records {
		texts = append(texts, r.text)
	}
	return texts
}

func newBrief() *brief { return &brief{code: newBriefCode()} }

func TestShortRecordsAreReadBackUnchanged(t *testing.T) {
	t.Parallel()
	b := newBrief()
	texts := briefRecords(t)
	for c := byte(' '); c <= '~'; c++ { // covers each literal, and matches of all lengths and distances
		texts = append(texts, bytes.Repeat([]byte{c}, 60+2*int(c)), []byte(strings.Repeat(" ", int(c))+"abcdefgh"+strings.Repeat(string(c), 30*int(c))+"abcdefgh"+strings.Repeat("\r\n", int(c))))
	}
	for _, text := range texts {
		member, ok := b.member([]byte("before"), text)
		if !ok {
			if len(text) > 100 && len(text) <= briefLimit {
				t.Errorf("%.80q… was not accepted", text)
			}
			continue
		}
		got, err := readMember(bytes.NewReader(bytes.TrimPrefix(member, []byte("before"))))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%.80q… is read back as %.80q…: %v", text, got, err)
		}
	}
}

func TestBriefRefusesOtherRecords(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"too long":               strings.Repeat("a", briefLimit+1),
		"not ASCII":              strings.Repeat("a", 100) + "é",
		"a control character":    strings.Repeat("a", 100) + "\x00",
		"shorter as it is":       "ABCDEFG",
		"nothing":                "",
		"a tab between the rest": strings.Repeat("a", 100) + "\tb",
	} {
		if out, ok := newBrief().member([]byte("before"), []byte(text)); ok || string(out) != "before" {
			t.Errorf("%s: taken, %d bytes", name, len(out))
		}
	}
}

// If the code tables fit the records badly, this test fails first.
func TestShortRecordsAreNotLongerThanWithTheGeneralEncoder(t *testing.T) {
	t.Parallel()
	for _, text := range briefRecords(t) {
		var general bytes.Buffer
		zip, err := gzip.NewWriterLevel(&general, DefaultLevel)
		must(t, err)
		_, _ = zip.Write(text)
		_ = zip.Close()
		if member, _ := newBrief().member(nil, text); len(member) > general.Len()*102/100 {
			t.Errorf("%d bytes, by the general encoder %d:\n%s", len(member), general.Len(), text)
		}
	}
}

func FuzzBrief(f *testing.F) {
	for _, text := range briefRecords(f) {
		f.Add(text)
	}
	f.Add([]byte(strings.Repeat("abcd", 900)))
	b := newBrief() // reused for all inputs, without a reset
	f.Fuzz(func(t *testing.T, text []byte) {
		member, ok := b.member(nil, text)
		if !ok {
			return
		}
		if got, err := readMember(bytes.NewReader(member)); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q is read back as %q: %v", text, got, err)
		}
	})
}

// FuzzWriteAndReadBack uses hostile text for all parts of a visit that a server or page can influence. The visit must
// be refused, or read back: headers unchanged, fields as escaped by Escape, and heads with exactly the same bytes.
func FuzzWriteAndReadBack(f *testing.F) {
	f.Add("via", "http://a/", "http://www.example.org/", "urn:uuid:1", "HTTP/1.1 304 x\r\n\r\n", "length")
	f.Add("a", "x\r\nWARC-Type: response", "http://b/\r\nX: y", "<a>\r\n", "\r\n\r\n", "a\nb")
	f.Add("", " \u2028 ", "http://b/ ", ">", "HTTP/1.1 304 \x00é\xe9\r\n\r\n", "")
	f.Add("é", "\\x0a\t", "http://b/=?UTF-8?Q?a=3Ab?=", " ", "HTTP/1.1 304 x\r\nA: é\r\nB: =?UTF-8?Q?a=3Ab?=\r\n\r\n", "\u00a0")
	f.Fuzz(func(t *testing.T, name, value, address, id, head, truncated string) {
		dir := memoryDir(t)
		w, _ := opened(t, Options{Dir: dir})
		o := original
		o.RecordID, o.URI = id, address
		visits := []Visit{
			{
				URI: uri.FromCanonical(address), Date: start, Head: []byte(head), Metadata: []Field{{name, value}},
				Revisit: &Revisit{Profile: NotModified, Origin: o},
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

// headIn returns the head that fields of a metadata record hold.
func headIn(fields []Field) (head []byte) {
	for _, f := range fields {
		if f.Name == HeadField {
			head = append(append(head, f.Value...), "\r\n"...)
		}
	}
	return append(head, "\r\n"...)
}

// checkRevisit compares the first records with v and returns the remaining records.
func checkRevisit(t *testing.T, records []kept, v Visit) []kept {
	t.Helper()
	want := []string{"revisit", "metadata"}
	joined := fieldsCanHold(v.Head)
	if len(v.Head) > 0 && !joined {
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
	fields := records[len(want)-1].fields(t)
	head := records[1].block
	if joined {
		head, fields = headIn(fields[1:]), fields[:1]
	}
	if len(v.Head) > 0 && string(head) != string(v.Head) {
		t.Errorf("head %q came back as %q", v.Head, head)
	}
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
