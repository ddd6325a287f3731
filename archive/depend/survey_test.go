package depend

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

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
