package warcout

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"compress/gzip" // not the library that wrote the files

	"github.com/arcrawl/arcrawl/digest"
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
	if got := digest.Of(k.block).String(); got != k.get("WARC-Block-Digest") {
		return k, fmt.Errorf("block digest %s, not %s", got, k.get("WARC-Block-Digest"))
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
