package curator

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLinesAreReadFromTheEnd reads files in blocks that are smaller and larger than their lines.
func TestLinesAreReadFromTheEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "one\n", "one", "one\ntwo\n\nfour\nfive", strings.Repeat("long ", 20) + "\nx\n" + strings.Repeat("y", 31)} {
		path := filepath.Join(t.TempDir(), "lines")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := slices.Collect(strings.Lines(text))
		slices.Reverse(want)
		for block := range int64(40) {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range backward(f, block+1) {
				got = append(got, string(line))
			}
			if err := f.Close(); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%q in blocks of %d: %q, %v", text, block+1, got, err)
			}
		}
	}
}
