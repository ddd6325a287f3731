package depend

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// counted is the content of a run in memory. It counts how often it is read.
type counted struct {
	*bytes.Reader
	reads int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	c.reads++
	return c.Reader.ReadAt(b, at)
}

func (*counted) Close() error { return nil }

func (*counted) Name() string { return "a run" }

// TestALookUpTakesOneRead searches runs for their lines: with and without fences, evenly spread ones, and the lines
// of a URI or a file that has very many.
func TestALookUpTakesOneRead(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		uris, visits, files int
		fenced              bool
		reads               float64 // for each look-up, at most
	}{
		"each URI once":            {20_000, 1, 3, true, 2.5},
		"many small files":         {20_000, 1, 200, true, 4},
		"few URIs with many dates": {4, 4000, 3, true, 8},
		"no fences":                {20_000, 1, 3, false, 14},
		"a small run":              {3, 2, 1, true, 1.1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines, keys []string
			for u := range c.uris {
				uri := fmt.Sprint("http://a.example/", u)
				for v := range c.visits {
					n := u*c.visits + v
					one := capture{file: uint32(n % c.files), offset: int64(n) * 20_000, uri: uri}
					one.date = start.Add(time.Duration(v) * time.Second)
					one.digest = hashOf(fmt.Sprint("payload ", u, v), digestWidth)
					lines = one.appendLines(lines)
					if n%97 == 0 || c.uris < 4 {
						keys = append(keys, one.moment().secondKey("0"), byDigest+one.digest, captureKey(one.file, one.offset))
					}
				}
			}
			keys = append(keys, byMoment+"-", byMoment+"zzzz", byDigest+"-", byDigest+"zzzz", fileKey(0), fileKey(9999), onlyID)
			slices.Sort(lines)
			content := &counted{Reader: bytes.NewReader([]byte(strings.Join(lines, "")))}
			r, memory := &run{file: content, size: content.Size()}, &run{memory: lines}
			if c.fenced {
				r.fences = fencesOf(t, lines, content.Size())
			}
			looked := 0
			for _, key := range keys {
				want, err := memory.lines(key)
				archivetest.Must(t, err)
				before := content.reads
				got, err := r.lines(key)
				if d := cmp.Diff(want, got); d != "" || err != nil {
					t.Fatalf("%s: %v, -want +got\n%s", key, err, d)
				}
				if len(got) > 1 {
					content.reads = before // how much is found decides
				} else {
					looked++
				}
			}
			if n := float64(content.reads) / float64(looked); n > c.reads {
				t.Errorf("a look-up reads %.2f times, want at most %.2f", n, c.reads)
			} else {
				t.Logf("a look-up reads %.2f times", n)
			}
		})
	}
}

// fencesOf returns the fences of lines as they are read back.
func fencesOf(t *testing.T, lines []string, size int64) fences {
	t.Helper()
	var f fencer
	for _, line := range lines {
		f.add(line)
	}
	f.add(noLine)
	path := filepath.Join(t.TempDir(), "a.fences")
	archivetest.Must(t, os.WriteFile(path, f.text, 0o600))
	back, err := readFences(path, size)
	if err != nil || back.count() == 0 {
		t.Fatalf("%d fences, %v", back.count(), err)
	}
	return back
}

// TestDamagedFencesAreNotUsed reads fences that were cut or changed, or are of another run.
func TestDamagedFencesAreNotUsed(t *testing.T) {
	t.Parallel()
	var whole fencer
	for i := range 20_000 {
		whole.add(fmt.Sprintf("o%08d and about a hundred bytes%75s\n", i, ""))
	}
	size := whole.at
	whole.add(noLine)
	path := filepath.Join(t.TempDir(), "a.fences")
	for name, c := range map[string]struct {
		text string
		size int64
		used bool
	}{
		"whole":          {string(whole.text), size, true},
		"empty":          {"", size, false},
		"cut":            {string(whole.text[:len(whole.text)-fenceWidth]), size, false},
		"of another run": {string(whole.text), size + 1, false},
		"changed":        {strings.Replace(string(whole.text), "o00000000", "x00000000", 1), size, false},
	} {
		archivetest.Must(t, os.WriteFile(path, []byte(c.text), 0o600))
		if f, err := readFences(path, c.size); err != nil || (f != "") != c.used {
			t.Errorf("%s: %d fences are used, %v", name, f.count(), err)
		}
	}
}
