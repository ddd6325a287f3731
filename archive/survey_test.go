package archive

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/digest"
)

// three is a library of three files: the second needs the first, the third needs the first and the second.
func three(t testing.TB) (l *library, names []string) {
	t.Helper()
	l = newLibrary(t)
	first := l.page("http://www.a.example/", htmlHead, "<p>one</p>")
	l.page("http://b.example/", htmlHead, "<p>alone</p>")
	l.seal()
	l.revisit("http://www.a.example/", htmlHead+"\r\nX-Visit: second", first)
	second := l.page("http://b.example/two", chunkedHead, "<p>two, in chunks</p>")
	l.revisit("http://b.example/two", chunkedHead+"\r\nX-Visit: second", second)
	l.seal()
	l.notModified("http://www.a.example/", first)
	l.revisit("https://c.example/two", chunkedHead+"\r\nX-Visit: third", second)
	l.revisit("https://c.example/two", htmlHead+"\r\nX-Visit: fourth", second)
	l.seal()
	for _, path := range l.files() {
		names = append(names, filepath.Base(path))
	}
	return l, names
}

func surveyed(t *testing.T, paths ...string) *Survey {
	t.Helper()
	s, err := NewSurvey(context.Background(), paths, nil, func(f Finding) error { return &f })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDependenciesAreKnownInBothDirections(t *testing.T) {
	t.Parallel()
	l, names := three(t)
	s := surveyed(t, l.dir)
	got, err := s.Dependencies([]string{names[0], filepath.Join(l.dir, names[1]), names[2]})
	if err != nil {
		t.Fatal(err)
	}
	want := []Dependencies{
		{File: names[0], Captures: 2, Needs: []Dependency{}, NeededBy: []Dependency{{names[1], 1}, {names[2], 1}}},
		{File: names[1], Captures: 3, Needs: []Dependency{{names[0], 1}}, NeededBy: []Dependency{{names[2], 2}}},
		{File: names[2], Captures: 3, Needs: []Dependency{{names[0], 1}, {names[1], 2}}, NeededBy: []Dependency{}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	alone, err := surveyed(t, l.files()[2]).Dependencies([]string{names[2]})
	if err != nil || len(alone) != 1 || alone[0].Missing != 3 {
		t.Errorf("alone: %v, %v, want 3 revisits without original", alone, err)
	}
	if _, err := s.Dependencies([]string{"other.warc.gz"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestTheImpactOfALossIsKnownBeforehand(t *testing.T) {
	t.Parallel()
	l, names := three(t)
	s := surveyed(t, l.dir)
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
				return fmt.Errorf("%v is lost itself and has an original", l)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range losses {
			got = append(got, fmt.Sprintf("%s:%d/%d/%d", l.Host, l.Captures, l.Revisits, l.Saved))
			each -= l.Captures
			if l.Period != "2026-11" {
				t.Errorf("period %s, want 2026-11", l.Period)
			}
		}
		if strings.Join(got, " ") != c.want || each != 0 {
			t.Errorf("losing %v: %v, want %s", c.lost, got, c.want)
		}
	}
}

// rewritten makes new files and proves them, alone.
func rewritten(t *testing.T, paths []string, o RewriteOptions, known ...string) (out string, sum Rewritten, found []Finding) {
	t.Helper()
	o.Out = filepath.Join(t.TempDir(), "new")
	sum, err := Rewrite(context.Background(), paths, o, func(f Finding) error {
		found = append(found, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Files == 0 {
		return o.Out, sum, found
	}
	for _, f := range first(verified(t, VerifyOptions{Known: known}, o.Out)) {
		t.Errorf("in the new files: %s", f.Error())
	}
	if left, err := filepath.Glob(filepath.Join(o.Out, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return o.Out, sum, found
}

func first(found []Finding, _ Verified) []Finding { return found }

func TestAReduplicatedFileStandsAlone(t *testing.T) {
	t.Parallel()
	l, _ := three(t)
	last := l.files()[2]
	out, sum, found := rewritten(t, []string{last}, RewriteOptions{From: []string{l.dir}})
	if len(found) > 0 || sum.Filled != 2 || sum.Repointed != 1 || sum.Files != 1 {
		t.Errorf("sum %+v, findings %v, want 2 filled and 1 repointed in 1 file", sum, found)
	}
	lib := opened(t, out)
	for name, want := range map[string]string{
		"http://www.a.example/":            "<p>one</p>",
		"https://c.example/two@2026112115": "<p>two, in chunks</p>",
		"https://c.example/two":            "<p>two, in chunks</p>",
	} {
		if got, err := content(t, lib, name, true); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	// The response to the conditional request was a 304, which nobody can play: the original's head stands there.
	unmodified := history(t, lib, "http://www.a.example/")[0]
	if unmodified.Type != "response" || unmodified.Status != "200" {
		t.Errorf("the unmodified page is a %s with status %s", unmodified.Type, unmodified.Status)
	}
	filled := history(t, lib, "https://c.example/two")
	if filled[0].Type != "response" || filled[1].Type != "revisit" || filled[1].RefersTo.RecordID != filled[0].RecordID {
		t.Errorf("the copies are a %s and a %s that refers to %s", filled[0].Type, filled[1].Type, filled[1].RefersTo.RecordID)
	}
	p, err := lib.Payload(context.Background(), filled[0], false)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(p.Head.Raw), "X-Visit: third") {
		t.Errorf("the head is %q, want the revisit's own", p.Head.Raw)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if filled[0].Digest != digest.Of([]byte("<p>two, in chunks</p>")).String() {
		t.Errorf("payload digest %s", filled[0].Digest)
	}
}

func TestEveryRevisitCanBeFilled(t *testing.T) {
	t.Parallel()
	l, _ := three(t)
	out, sum, found := rewritten(t, []string{l.dir}, RewriteOptions{All: true})
	if len(found) > 0 || sum.Filled != 5 || sum.Repointed != 0 || sum.Files != 3 {
		t.Errorf("sum %+v, findings %v, want 5 filled in 3 files", sum, found)
	}
	_, verdict := verified(t, VerifyOptions{}, out)
	if verdict.Records["revisit"] != 0 || verdict.Records["response"] != 8 {
		t.Errorf("records %v, want 8 responses and no revisit", verdict.Records)
	}
}

// TestWhatDependsOnNothingIsCopiedByteForByte also shows that nothing is written over.
func TestWhatDependsOnNothingIsCopiedByteForByte(t *testing.T) {
	t.Parallel()
	l, names := three(t)
	out, sum, _ := rewritten(t, []string{l.dir}, RewriteOptions{})
	if sum.Filled+sum.Repointed != 0 {
		t.Errorf("sum %+v, want copies alone", sum)
	}
	for _, name := range names {
		if a, b := read(t, filepath.Join(l.dir, name)), read(t, filepath.Join(out, name)); a != b {
			t.Errorf("%s has changed", name)
		}
	}
	_, err := Rewrite(context.Background(), []string{l.dir}, RewriteOptions{Out: out}, func(f Finding) error { return &f })
	if err == nil || !strings.Contains(err.Error(), "nothing is overwritten") {
		t.Errorf("writing over files: %v", err)
	}
}

func TestARevisitWithoutItsOriginalIsKeptAndNamed(t *testing.T) {
	t.Parallel()
	l, _ := three(t)
	last := l.files()[2]
	_, sum, found := rewritten(t, []string{last}, RewriteOptions{}, l.files()[:2]...)
	if len(found) != 3 || found[0].Kind != NoOriginal || sum.Errors != 3 || sum.Filled != 0 {
		t.Errorf("sum %+v, findings %v, want three revisits without original", sum, found)
	}
}

func TestAPartIsTakenOut(t *testing.T) {
	t.Parallel()
	l, names := three(t)
	from, to, err := ParsePeriod("2026112114")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		choose  Selection
		keep    bool
		records string // by type
		needs   string
	}{
		{"a host", Selection{Hosts: []string{"c.example"}}, false, "metadata:3 request:2 response:1 revisit:1 warcinfo:1", ""},
		{"a host that needs nothing", Selection{Hosts: []string{"b.example"}}, false, "metadata:3 request:3 response:2 revisit:1 warcinfo:2", ""},
		{"a host and those below", Selection{Hosts: []string{".a.example"}}, false, "metadata:4 request:3 response:1 revisit:2 warcinfo:3", ""},
		{"a prefix", Selection{Prefixes: []string{"http://b.example/t"}}, false, "metadata:2 request:2 response:1 revisit:1 warcinfo:1", ""},
		{"a period", Selection{From: from, To: to}, false, "metadata:3 request:1 response:1 warcinfo:1", ""},
		{"a host as it is", Selection{Hosts: []string{"c.example"}}, true, "metadata:2 request:2 revisit:2 warcinfo:1", names[1] + " 2"},
		{"nothing", Selection{Hosts: []string{"example"}}, false, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var known []string
			if c.keep {
				known = []string{l.files()[1]}
			}
			out, sum, found := rewritten(t, []string{l.dir}, RewriteOptions{Select: c.choose, Keep: c.keep}, known...)
			if len(found) > 0 {
				t.Errorf("findings %v", found)
			}
			var needs []string
			for _, d := range sum.Needs {
				needs = append(needs, fmt.Sprintf("%s %d", d.File, d.Revisits))
			}
			if strings.Join(needs, " ") != c.needs {
				t.Errorf("it needs %v, want %s", needs, c.needs)
			}
			if sum.Files == 0 {
				if c.records != "" {
					t.Error("no file was made")
				}
				return
			}
			_, verdict := verified(t, VerifyOptions{}, out)
			if got := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(verdict.Records), "map["), "]"); got != c.records {
				t.Errorf("records %s, want %s", got, c.records)
			}
		})
	}
}

// TestWgetsRevisitsAreFilled has everything that is awkward: URIs in angle brackets, revisits that name their original by
// its id alone, digests of chunks, a plain file.
func TestWgetsRevisitsAreFilled(t *testing.T) {
	t.Parallel()
	dir, site := wget(t)
	out, sum, found := rewritten(t, []string{filepath.Join(dir, "two.warc.gz"), filepath.Join(dir, "plain.warc")}, RewriteOptions{From: []string{dir}})
	if len(found) > 0 || sum.Filled != 2 || sum.Files != 2 {
		t.Errorf("sum %+v, findings %v, want 2 filled in 2 files", sum, found)
	}
	lib := opened(t, out)
	if got, err := content(t, lib, site+"/chunked", true); got != "piece 0\npiece 1\npiece 2\n" || err != nil {
		t.Errorf("the chunked page: %q, %v", got, err)
	}
	for _, c := range history(t, lib, site+"/picture.gif") {
		if c.Type != "response" {
			t.Errorf("the picture is a %s", c.Type)
		}
	}
}
