package warcout

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/nlnwa/gowarc"
)

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
			record, offset, findings, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || !findings.Valid() {
				t.Fatalf("gowarc at %d of %s: %v, %v", offset, file, err, findings)
			}
			types[record.Type().String()]++
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
		Profile: NotModified, Origin: first.Origin, Head: []byte("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n"), ETag: `"1"`,
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
