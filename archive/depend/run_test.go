package depend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/warc"
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

func surveyed(t *testing.T, paths ...string) *Survey {
	t.Helper()
	s, err := New(context.Background(), paths, nil, noFinding)
	archivetest.Must(t, err)
	return s
}

func TestDependenciesInBothDirections(t *testing.T) {
	t.Parallel()
	l, names := archivetest.Three(t)
	s := surveyed(t, l.Dir)
	got, err := s.Dependencies([]string{names[0], filepath.Join(l.Dir, names[1]), names[2]})
	archivetest.Must(t, err)
	on := func(file string, n int) Dependency { return Dependency{File: file, Revisits: n} }
	none := []Dependency{}
	want := []Dependencies{
		{
			File: names[0], Captures: 2, Needs: none, Packages: none,
			NeededBy: []Dependency{on(names[1], 1), on(names[2], 1)},
		},
		{
			File: names[1], Captures: 3, Needs: []Dependency{on(names[0], 1)}, Packages: none,
			NeededBy: []Dependency{on(names[2], 2)},
		},
		{
			File: names[2], Captures: 3, Needs: []Dependency{on(names[0], 1), on(names[1], 2)}, Packages: none,
			NeededBy: none,
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	alone, err := surveyed(t, l.Files()[2]).Dependencies([]string{names[2]})
	if err != nil || len(alone) != 1 || alone[0].Missing != 3 {
		t.Errorf("the file without its originals: %v, %v; want 3 revisits without original", alone, err)
	}
	if _, err := s.Dependencies([]string{"other.warc.gz"}); !errors.Is(err, warc.ErrNotFound) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestImpactOfALoss(t *testing.T) {
	t.Parallel()
	l, names := archivetest.Three(t)
	s := surveyed(t, l.Dir)
	for _, c := range []struct {
		lost []string
		want string // host: captures/revisits elsewhere/saved
	}{
		{names[:1], "b.example:1/0/0 www.a.example:3/2/0"},
		{names[1:2], "b.example:2/0/0 c.example:2/2/0 www.a.example:1/0/1"},
		{names[2:], "c.example:2/0/2 www.a.example:1/0/1"},
		{names, "b.example:3/0/0 c.example:2/0/0 www.a.example:3/0/0"},
	} {
		var each int
		losses, err := s.Impact(c.lost, "2006-01", func(l Lost) error {
			each++
			if l.Original != "" && strings.Contains(strings.Join(c.lost, " "), l.File) {
				return fmt.Errorf("%v is in a lost file, but is reported with an original", l)
			}
			return nil
		})
		archivetest.Must(t, err)
		var got []string
		for _, l := range losses {
			got = append(got, fmt.Sprintf("%s:%d/%d/%d", l.Host, l.Captures, l.Revisits, l.Saved))
			each -= l.Captures
			if l.Period != "2026-11" {
				t.Errorf("period %s, want 2026-11", l.Period)
			}
		}
		if strings.Join(got, " ") != c.want || each != 0 {
			t.Errorf("the impact of losing %v is %v, want %s", c.lost, got, c.want)
		}
	}
}

// noFinding fails on the first finding.
func noFinding(f warc.Finding) error { return &f }
