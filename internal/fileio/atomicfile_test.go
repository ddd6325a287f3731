package fileio_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// checkFolder fails unless the folder holds one file, named name, with the given content.
func checkFolder(t *testing.T, dir, name, content string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the folder holds %v, %v; want %s alone", entries, err, name)
	}
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != content {
		t.Errorf("%s holds %q, %v; want %q", name, got, err, content)
	}
}

func TestWriteReplacesTheWholeFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.json")
	for _, content := range []string{"a long first version", "short", ""} {
		must(t, fileio.Write(name, []byte(content), 0o640))
		checkFolder(t, dir, "a.json", content)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm()&^0o640 != 0 {
		t.Errorf("the mode is %v, %v; want at most 0640", info.Mode(), err)
	}
}

func TestWriteLeavesNothingWhenItFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := fileio.Write(filepath.Join(dir, "missing", "a"), nil, 0o640); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that does not exist: %v", err)
	}
	name := filepath.Join(dir, "folder")
	must(t, os.Mkdir(name, 0o750))
	if err := fileio.Write(name, []byte("x"), 0o640); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v; want no hidden file", entries, err)
	}
}

func TestNewNeverReplacesAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.warc.gz")
	for i, content := range []string{"first", "second"} {
		f, err := fileio.Create(name, 0o644)
		must(t, err)
		defer f.Discard()
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := f.New(); errors.Is(err, fs.ErrExist) != (i > 0) {
			t.Errorf("the %s file: %v", content, err)
		}
	}
	checkFolder(t, dir, "a.warc.gz", "first")
}

func TestADiscardedFileNeverAppears(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := fileio.Create(filepath.Join(dir, "a"), 0o644)
	must(t, err)
	if _, err := f.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	f.Discard()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the folder holds %v, %v; want it empty", entries, err)
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	must(t, z.Close())
	return b.Bytes()
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(name, data, 0o600))
	return name
}

func TestCompressionIsRecognisedByContent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789\n", 50_000)
	for _, c := range []struct {
		name, file string
		data       []byte
		text       string
		compressed bool
	}{
		{"plain", "a.log", []byte(long), long, false},
		{"plain with a misleading name", "a.log.gz", []byte("text"), "text", false},
		{"gzipped", "a.log", zipped(t, long), long, true},
		{"two gzip members", "a.log.gz", append(zipped(t, "one,"), zipped(t, "two")...), "one,two", true},
		{"empty", "a.log", nil, "", false},
		{"one byte", "a.log", []byte("\x1f"), "\x1f", false},
		{"gzipped and empty", "a.log", zipped(t, ""), "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, err := fileio.OpenText(write(t, c.file, c.data))
			must(t, err)
			got, err := io.ReadAll(f)
			if string(got) != c.text || err != nil || f.Compressed() != c.compressed {
				t.Errorf("%d bytes, compressed %v, %v; want %d bytes, compressed %v", len(got), f.Compressed(), err, len(c.text), c.compressed)
			}
			if n, err := f.Consumed(); n != int64(len(c.data)) || err != nil {
				t.Errorf("consumed %d bytes, %v; want %d", n, err, len(c.data))
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if r, err := fileio.NewTextReader(bytes.NewReader(c.data)); err != nil {
				t.Error(err)
			} else if again, err := io.ReadAll(r); string(again) != c.text || err != nil {
				t.Errorf("NewReader reads %d bytes, %v; want %d", len(again), err, len(c.text))
			}
		})
	}
}

func TestSkipMovesWithinTheText(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{"plain": []byte("0123456789"), "gzipped": zipped(t, "0123456789")} {
		f, err := fileio.OpenText(write(t, "a.log", data))
		must(t, err)
		defer f.Close()
		if err := f.Skip(7); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if rest, err := io.ReadAll(f); string(rest) != "789" || err != nil {
			t.Errorf("%s: after 7 bytes comes %q, %v", name, rest, err)
		}
	}
	f, err := fileio.OpenText(write(t, "a.log", zipped(t, "0123")))
	must(t, err)
	defer f.Close()
	if err := f.Skip(5); !errors.Is(err, io.EOF) {
		t.Errorf("skipped beyond the end of a compressed text: %v", err)
	}
}

func TestDamageIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := fileio.OpenText(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := fileio.OpenText(write(t, "a", []byte("\x1f\x8b\x08"))); err == nil || !strings.Contains(err.Error(), "decompress") {
		t.Errorf("half a header: %v", err)
	}
	whole := zipped(t, "some text")
	f, err := fileio.OpenText(write(t, "a", whole[:len(whole)-4]))
	must(t, err)
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "some text" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("without the last bytes: %q, %v", text, err)
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
