package depend

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// TestASearchGuessesWhereAHashIs searches a run for each of its captures. Some URIs have very many, so that the guesses
// are wrong.
func TestASearchGuessesWhereAHashIs(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		uris, visits, keep int
		reads              float64 // for each search, at most
	}{
		"each URI once":            {60_000, 1, 100, 4},
		"few URIs with many dates": {4, 10_000, 100, 9},
		"all steps are kept":       {60_000, 1, maxProbes, 3},
		"a small run":              {3, 2, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines, keys []string
			for u := range c.uris {
				uri := fmt.Sprint("http://a.example/", u)
				for v := range c.visits {
					one := capture{file: 1, offset: int64(u), uri: uri, date: start.Add(time.Duration(v) * time.Second)}
					one.digest = hashOf(fmt.Sprint("payload ", u, v), digestWidth)
					lines = one.appendLines(lines)
					if (u*c.visits+v)%97 == 0 || c.uris < 4 {
						keys = append(keys, one.moment().secondKey("0"), byDigest+one.digest)
					}
				}
			}
			keys = append(keys, byMoment+"-", byMoment+"zzzz", byDigest+"-", byDigest+"zzzz")
			slices.Sort(lines)
			content := &counted{Reader: bytes.NewReader([]byte(strings.Join(lines, "")))}
			r, memory := newRun(content, content.Size(), c.keep), &run{memory: lines}
			for _, key := range keys {
				want, err := memory.lines(key)
				if err != nil {
					t.Fatal(err)
				}
				got, err := r.lines(key)
				if d := cmp.Diff(want, got); d != "" || err != nil {
					t.Fatalf("%s: %v, -want +got\n%s", key, err, d)
				}
			}
			if n := float64(content.reads) / float64(len(keys)); n > c.reads {
				t.Errorf("a search reads %.1f times, want at most %.1f", n, c.reads)
			} else {
				t.Logf("a search reads %.1f times", n)
			}
		})
	}
}
