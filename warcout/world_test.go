package warcout

import (
	"bufio"
	"bytes"
	"compress/gzip" // not the library that wrote the files
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	fast "github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// kept is a record as read by the strict reader of these tests.
type kept struct {
	file           string
	offset, length int64
	header         []Field
	block          []byte
}

func (k kept) get(name string) string {
	for _, f := range k.header {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func (k kept) id() string { return k.get("WARC-Record-ID") }

// fields reads an application/warc-fields block.
func (k kept) fields(t testing.TB) []Field {
	t.Helper()
	var out []Field
	for line := range strings.SplitSeq(strings.TrimSuffix(string(k.block), "\r\n"), "\r\n") {
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			t.Errorf("line %q of a fields block has no colon", line)
		}
		out = append(out, Field{name, value})
	}
	return out
}

// readFile reads a file of whole gzip members with one record each. It returns an error for any deviation.
func readFile(path string) ([]kept, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []kept
	for pos := 0; pos < len(data); {
		in := bytes.NewReader(data[pos:])
		raw, err := readMember(in)
		if err != nil {
			return out, fmt.Errorf("%s: member at %d: %w", path, pos, err)
		}
		k, err := parseRecord(raw)
		if err != nil {
			return out, fmt.Errorf("%s: record at %d: %w", path, pos, err)
		}
		next := len(data) - in.Len()
		k.file, k.offset, k.length = filepath.Base(path), int64(pos), int64(next-pos)
		out = append(out, k)
		pos = next
	}
	return out, checkReferences(out)
}

func readMember(in *bytes.Reader) ([]byte, error) {
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	zip.Multistream(false)
	return io.ReadAll(zip)
}

func parseRecord(raw []byte) (kept, error) {
	head, rest, ok := bytes.Cut(raw, []byte("\r\n\r\n"))
	lines := strings.Split(string(head), "\r\n")
	if !ok || lines[0] != "WARC/1.1" {
		return kept{}, fmt.Errorf("no WARC/1.1 header in %.80q", raw)
	}
	var k kept
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ": ")
		if !ok || !isToken(name) || value != strings.TrimSpace(value) || strings.ContainsAny(value, "\r\n\x00") {
			return k, fmt.Errorf("header line %q", line)
		}
		k.header = append(k.header, Field{name, value})
	}
	size, err := strconv.Atoi(k.get("Content-Length"))
	if err != nil || len(rest) != size+4 || string(rest[size:]) != "\r\n\r\n" {
		return k, fmt.Errorf("content length %q, but %d bytes follow", k.get("Content-Length"), len(rest))
	}
	k.block = rest[:size]
	sum := "" // of an empty block
	if size > 0 {
		sum = digest.Of(k.block).String()
	}
	if sum != k.get("WARC-Block-Digest") {
		return k, fmt.Errorf("block digest %q, not %q", k.get("WARC-Block-Digest"), sum)
	}
	return k, nil
}

// checkReferences checks what doc.go specifies: a file begins with its warcinfo, ids are unique, and all references
// point to earlier records.
func checkReferences(records []kept) error {
	seen := map[string]bool{}
	for i, k := range records {
		if (i == 0) != (k.get("WARC-Type") == "warcinfo") {
			return fmt.Errorf("record %d is %s", i, k.get("WARC-Type"))
		}
		info := ""
		if to := k.get("WARC-Concurrent-To"); to != "" {
			if !seen[to] || !related(to, k.id()) {
				return fmt.Errorf("record %d, %s, is concurrent to %s, which does not come before it or has no like id", i, k.id(), to)
			}
		} else if i > 0 {
			info = records[0].id()
		}
		if k.get("WARC-Warcinfo-ID") != info {
			return fmt.Errorf("record %d is of warcinfo %q, want %q", i, k.get("WARC-Warcinfo-ID"), info)
		}
		if seen[k.id()] || k.id() == "" {
			return fmt.Errorf("record id %q twice", k.id())
		}
		seen[k.id()] = true
	}
	return nil
}

// related reports whether two ids differ in their last digit only, like the ids of one visit.
func related(a, b string) bool { return len(a) == len(b) && a != b && a[:len(a)-2] == b[:len(b)-2] }

// readDir reads all sealed files, in the order of their names.
func readDir(t testing.TB, dir string) []kept {
	t.Helper()
	var out []kept
	for _, path := range sealedFiles(t, dir) {
		records, err := readFile(path)
		must(t, err)
		out = append(out, records...)
	}
	return out
}

func sealedFiles(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	must(t, err)
	return paths
}

// namesIn returns the sorted file names in a folder.
func namesIn(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// dechunk undoes chunked transfer coding, for the payload digests of the tests.
func dechunk(t testing.TB, body []byte) []byte {
	t.Helper()
	var out []byte
	in := bufio.NewReader(bytes.NewReader(body))
	for {
		line, err := in.ReadString('\n')
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err2 := strconv.ParseInt(size, 16, 64)
		if err != nil || err2 != nil {
			t.Fatalf("chunk size %q: %v, %v", line, err, err2)
		}
		if n == 0 {
			return out
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			t.Fatal(err)
		}
		out = slices.Concat(out, chunk[:n])
	}
}

// wholeMembers returns the number of gzip members of a file. All of them must be whole.
func wholeMembers(t testing.TB, path string) (n int) {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	for in := bytes.NewReader(data); in.Len() > 0; n++ {
		if _, err := readMember(in); err != nil {
			t.Fatalf("%s: member %d: %v", path, n, err)
		}
	}
	return n
}

var (
	start  = time.Date(2026, 11, 21, 9, 0, 0, 123456000, time.UTC)
	server = netip.MustParseAddr("192.0.2.7")
)

// page returns a response with a body that the record holds unchanged.
func page(body string) *Response {
	block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return &Response{
		Block: strings.NewReader(block), Size: int64(len(block)), BlockDigest: digest.Of([]byte(block)),
		PayloadDigest: digest.Of([]byte(body)), PayloadSize: int64(len(body)),
	}
}

// visit returns an ordinary visit with three records.
func visit(address string, r *Response) Visit {
	u, err := uri.Parse(address)
	if err != nil {
		panic(err)
	}
	return Visit{
		URI: u, Date: start, IP: server, Response: r,
		Request:  []byte("GET " + u.RequestTarget() + " HTTP/1.1\r\nHost: " + u.Authority() + "\r\n\r\n"),
		Metadata: []Field{{"hopsFromSeed", "L"}, {"fetchTimeMs", "12"}},
	}
}

// opened is a Writer on a folder, with the repairs that its opening made.
func opened(t testing.TB, o Options) (*Writer, []Repair) {
	t.Helper()
	w, repairs, err := Open(o, start)
	must(t, err)
	t.Cleanup(func() { _ = w.Close(start) })
	return w, repairs
}

// written writes visits to a new folder, closes the writer and returns the records in the folder.
func written(t testing.TB, o Options, visits ...Visit) ([]Written, []kept) {
	t.Helper()
	o.Dir = t.TempDir()
	w, _ := opened(t, o)
	var out []Written
	for _, v := range visits {
		one := mustWrite(t, w, start, v)
		out = append(out, one)
	}
	must(t, w.Close(start))
	return out, readDir(t, o.Dir)
}

// responseOf returns a Response with exactly the given bytes.
func responseOf(block []byte, payload []byte) *Response {
	return &Response{
		Block: bytes.NewReader(block), Size: int64(len(block)), BlockDigest: digest.Of(block),
		PayloadDigest: digest.Of(payload), PayloadSize: int64(len(payload)),
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// benchPage returns a page of about 15 KB that compresses like real HTML.
func benchPage() (block []byte, sum, payload digest.Digest) {
	var body bytes.Buffer
	for i := 0; body.Len() < 15_000; i++ {
		d := digest.Of(fmt.Appendf(nil, "%d", i))
		fmt.Fprintf(&body, "<li class=\"entry\"><a href=\"/articles/%d/%x.html\">Article %d of the day</a> <span>%x</span></li>\n", i*7919, d[:6], i, d[6:9])
	}
	block = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", body.Len(), body.Bytes())
	return block, digest.Of(block), digest.Of(body.Bytes())
}

// BenchmarkWrite measures the cost of a visit with a page of 15 KB: response, request and metadata, compressed and
// synced. The baseline is the minimum work of any writer, measured in the same run. It writes the same bytes as gzip
// members, with one digest and an append, once without and once with a sync for each page.
func BenchmarkWrite(b *testing.B) {
	block, sum, payload := benchPage()
	v := visit(address(1), nil)
	writeTo := func(b *testing.B, w *Writer, series string) {
		one := v
		one.Series = series
		one.Response = &Response{
			Block: bytes.NewReader(block), Size: int64(len(block)), BlockDigest: sum,
			PayloadDigest: payload, PayloadSize: 15_000,
		}
		if _, err := w.Write(start, one); err != nil {
			b.Error(err)
		}
	}
	write := func(b *testing.B, w *Writer) { writeTo(b, w, "") }
	nosync := func(path string) (storage, error) {
		f, err := createFile(path)
		return &unsynced{f}, err
	}
	records := recordsOf(b, v, responseOf(block, nil))
	b.Run("baseline", func(b *testing.B) { baseline(b, block, records, false) })
	b.Run("visit without sync", func(b *testing.B) {
		w, _ := opened(b, Options{Dir: b.TempDir()})
		w.create = nosync
		b.SetBytes(int64(len(block)))
		b.ReportAllocs()
		for b.Loop() {
			write(b, w)
		}
	})
	b.Run("baseline with sync", func(b *testing.B) { baseline(b, block, records, true) })
	b.Run("visit", func(b *testing.B) {
		w, _ := opened(b, Options{Dir: b.TempDir()})
		b.SetBytes(int64(len(block)))
		for b.Loop() {
			write(b, w)
		}
	})
	ofEight := func(series ...string) func(b *testing.B) {
		return func(b *testing.B) {
			w, _ := opened(b, Options{Dir: b.TempDir()})
			var syncs, writers atomic.Int64
			w.create = func(path string) (storage, error) {
				f, err := createFile(path)
				return &counted{f, &syncs}, err
			}
			b.SetBytes(int64(len(block)))
			b.SetParallelism(4) // times the two cores that such machines have
			b.RunParallel(func(pb *testing.PB) {
				own := series[int(writers.Add(1))%len(series)]
				for pb.Next() {
					writeTo(b, w, own)
				}
			})
			b.ReportMetric(float64(syncs.Load())/float64(b.N), "syncs/op")
		}
	}
	b.Run("visit of 8 writers", ofEight(""))
	b.Run("visit of 8 writers, one of them to a series", ofEight("", "", "", "", "", "", "", "embargo"))
	b.Run("visit of 8 writers to 4 series", ofEight("a", "b", "c", "d"))
}

// recordsOf returns the records of a visit before compression.
func recordsOf(b *testing.B, v Visit, r *Response) (records [][]byte) {
	dir := b.TempDir()
	w, _ := opened(b, Options{Dir: dir})
	v.Response = r
	mustWrite(b, w, start, v)
	must(b, w.Close(start))
	data, err := os.ReadFile(sealedFiles(b, dir)[0])
	must(b, err)
	for in := bytes.NewReader(data); in.Len() > 0; {
		raw, err := readMember(in)
		must(b, err)
		records = append(records, raw)
	}
	return records[1:]
}

func baseline(b *testing.B, block []byte, records [][]byte, sync bool) {
	f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
	must(b, err)
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	zip, err := fast.NewWriterLevel(out, DefaultLevel)
	must(b, err)
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		_ = digest.Of(block)
		for _, part := range records {
			zip.Reset(out)
			_, _ = zip.Write(part)
			_ = zip.Close()
		}
		_ = out.Flush()
		if sync {
			_ = f.Sync()
		}
	}
}

type unsynced struct{ storage }

func (unsynced) Sync() error { return nil }

type counted struct {
	storage
	syncs *atomic.Int64
}

func (c *counted) Sync() error {
	c.syncs.Add(1)
	return c.storage.Sync()
}
