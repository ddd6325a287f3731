package archive

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/warcout"
)

// audited is an archive of five files with a manifest. An auditor has noted its head when it had three.
type audited struct {
	dir, manifest string
	files         []string
	noted         string
}

// newAudited writes the pages of an archive, each into a file of its own.
func newAudited(t *testing.T, word string) *audited {
	t.Helper()
	lib := archivetest.New(t)
	a := &audited{dir: lib.Dir, manifest: filepath.Join(lib.Dir, fixity.FileName)}
	m, err := fixity.Open(a.dir, archivetest.Start)
	archivetest.Must(t, err)
	lib.Describe(func(string) []warcout.Field {
		head, err := fixity.Head(a.dir)
		archivetest.Must(t, err)
		return []warcout.Field{{Name: fixity.HeadField, Value: "sha256:" + head}}
	})
	for n := range 5 {
		lib.Page(fmt.Sprintf("http://a.example/%d", n), archivetest.HTMLHead, fmt.Sprintf("<p>%s %d</p>", word, n))
		lib.Seal()
		a.files = lib.Files()
		e, err := fixity.Measure(t.Context(), a.files[n], nil)
		archivetest.Must(t, errors.Join(err, m.Add(filepath.Base(a.files[n]), e, lib.Now)))
		if n == 2 {
			a.noted, err = fixity.Head(a.dir)
			archivetest.Must(t, err)
		}
	}
	archivetest.Must(t, m.Close())
	return a
}

// lines returns the lines of the manifest.
func (a *audited) lines(t *testing.T) []string {
	t.Helper()
	return strings.SplitAfter(strings.TrimSuffix(archivetest.Read(t, a.manifest), "\n"), "\n")
}

// forge replaces a file by one with another record, which is sound in itself.
func (a *audited) forge(t *testing.T, n int) {
	t.Helper()
	archivetest.Must(t, os.WriteFile(a.files[n], []byte(archivetest.Read(t, newAudited(t, "forged").files[n])), 0o600))
}

// rechain writes the manifest as if it had always listed the files as they are now, without those that are gone.
func (a *audited) rechain(t *testing.T) {
	t.Helper()
	lines := a.lines(t)
	text := lines[0]
	for i, file := range a.files {
		e, err := fixity.Measure(t.Context(), file, nil)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		var was fixity.Entry
		archivetest.Must(t, errors.Join(err, json.Unmarshal([]byte(lines[i+1]), &was)))
		before := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		e.File, e.Listed = was.File, was.Listed
		e.Previous = fmt.Sprintf("%x", sha256.Sum256([]byte(before[len(before)-1])))
		line, err := json.Marshal(e)
		archivetest.Must(t, err)
		text += string(line) + "\n"
	}
	archivetest.Must(t, os.WriteFile(a.manifest, []byte(text), 0o600))
}

// An auditor comes back with the head that was noted years ago.
func TestAnAuditorFindsEachForgeryByTheNotedHead(t *testing.T) {
	t.Parallel()
	const otherHead = "no manifest here has a line with the SHA-256"
	for name, c := range map[string]struct {
		attack  func(a *audited)
		finding string
	}{
		"a file is deleted": {func(a *audited) { archivetest.Must(t, os.Remove(a.files[0])) }, "is gone"},
		"a byte is changed": {func(a *audited) {
			text := archivetest.Read(t, a.files[1])
			archivetest.Must(t, os.WriteFile(a.files[1], []byte(text[:70]+string(text[70]^1)+text[71:]), 0o600))
		}, " when it was sealed"},
		"two files are swapped": {func(a *audited) {
			aside := a.files[0] + ".aside"
			archivetest.Must(t, errors.Join(
				os.Rename(a.files[0], aside), os.Rename(a.files[1], a.files[0]), os.Rename(aside, a.files[1])))
		}, " when it was sealed"},
		"a file is renamed": {func(a *audited) {
			archivetest.Must(t, os.Rename(a.files[1], filepath.Join(a.dir, "renamed.warc.gz")))
		}, "is gone"},
		"a record is forged": {func(a *audited) { a.forge(t, 1) }, " when it was sealed"},
		"a record and its line are forged": {func(a *audited) {
			a.forge(t, 1)
			lines := a.lines(t)
			a.rechain(t)
			lines[2] = a.lines(t)[2]
			archivetest.Must(t, os.WriteFile(a.manifest, []byte(strings.Join(lines, "")), 0o600))
		}, "line 4 does not follow the line before it"},
		"a record and the whole chain are forged": {func(a *audited) { a.forge(t, 1); a.rechain(t) }, otherHead},
		"a file and its line are removed from the chain": {func(a *audited) {
			archivetest.Must(t, os.Remove(a.files[2]))
			a.rechain(t)
		}, otherHead},
		"the last files and lines are cut off": {func(a *audited) {
			lines := a.lines(t)
			for _, file := range a.files[2:] {
				archivetest.Must(t, os.Remove(file))
			}
			archivetest.Must(t, os.WriteFile(a.manifest, []byte(strings.Join(lines[:3], "")), 0o600))
		}, otherHead},
		"the manifest is removed": {func(a *audited) { archivetest.Must(t, os.Remove(a.manifest)) }, otherHead},
	} {
		a := newAudited(t, "page")
		later := "5 files, head " + headOf(t, a.dir) + "; continues the head " + a.noted + ", by 2 later lines"
		line{[]string{"verify", "--manifest-head", a.noted, a.dir}, cli.ExitOK, []string{"0 errors, 0 warnings", later}}.run(t)
		c.attack(a)
		out, errs := line{[]string{"verify", "--manifest-head", a.noted, a.dir}, cli.ExitDamaged, []string{c.finding}}.run(t)
		if t.Failed() {
			t.Fatalf("%s:\n%s%s", name, out, errs)
		}
	}
}

func headOf(t *testing.T, dir string) string {
	t.Helper()
	head, err := fixity.Head(dir)
	archivetest.Must(t, err)
	return head
}

// Who forges the whole chain must also forge the files that were begun later: each names the head at that time.
func TestLaterFilesNameTheHeadBeforeThem(t *testing.T) {
	t.Parallel()
	a := newAudited(t, "page")
	a.forge(t, 1)
	a.rechain(t)
	out, _ := line{[]string{"verify", a.dir}, cli.ExitOK, []string{"0 errors, 4 warnings"}}.run(t)
	if n := strings.Count(out, "the manifest was replaced, or the file is from another folder"); n != 4 {
		t.Errorf("%d of 4 files, the forged and the later ones, are named:\n%s", n, out)
	}
}

func TestHeadsOfSeveralFolders(t *testing.T) {
	t.Parallel()
	a, b, parent := newAudited(t, "page"), newAudited(t, "other"), t.TempDir()
	archivetest.Must(t, errors.Join(os.Rename(a.dir, filepath.Join(parent, "a")), os.Rename(b.dir, filepath.Join(parent, "b"))))
	both := []string{"verify", "--manifest-head", a.noted, "--manifest-head", "SHA256:" + strings.ToUpper(b.noted), parent}
	line{both, cli.ExitOK, []string{"0 errors, 0 warnings", "a/manifest.jsonl: 5 files", "b/manifest.jsonl: 5 files"}}.run(t)
	line{[]string{"verify", "--manifest-head", a.noted, filepath.Join(parent, "b")}, cli.ExitDamaged, []string{"it is the head of another folder"}}.run(t)
	line{[]string{"verify", "--manifest-head", a.noted[1:], parent}, cli.ExitUsage, []string{"is not 64 hexadecimal digits"}}.run(t)
}
