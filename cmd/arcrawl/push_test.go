package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/outbackcdx"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// pushable returns a folder of WARC files with 1,203 captures, and the lines that an OutbackCDX server should have of
// them.
func pushable(t *testing.T) (dir string, want []string) {
	t.Helper()
	dir, _ = archived(t)
	texts := []string{warcInfo}
	for i := range 1200 {
		texts = append(texts, warcRecord(fmt.Sprint(i), fmt.Sprint("http://old.example/", i), "x"))
	}
	writeFile(t, filepath.Join(dir, "a.warc.gz"), string(members(texts...)))
	var made bytes.Buffer
	if _, err := index.Build(t.Context(), []string{dir}, index.Options{}, &made,
		func(f warc.Finding) error { return &f }); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(made.String()) {
		e, err := index.ParseEntry(line)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, strings.TrimSuffix(string(e.AppendCDX(nil)), "\n"))
	}
	slices.Sort(want)
	return dir, want
}

func TestPushSendsAnIndex(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir, want := pushable(t)
	s := archivetest.StartCDXServer(t)
	list := filepath.Join(t.TempDir(), "sent")
	run := func(code int, says ...string) {
		t.Helper()
		got, out, errs := command("index", "--push", s.URL+"/crawl", "--done", list, dir)
		if got != code || out != "" {
			t.Errorf("exit code %d, want %d\n%s%s", got, code, out, errs)
		}
		for _, w := range says {
			if !strings.Contains(errs, w) {
				t.Errorf("%q is not in\n%s", w, errs)
			}
		}
	}
	there := func(posts int) {
		t.Helper()
		got, n := s.Seen()
		if diff := cmp.Diff(want, got); diff != "" || n != posts || s.Largest() > outbackcdx.MaxLines {
			t.Errorf("%d posts of at most %d lines, want %d; -want +there:\n%s", n, s.Largest(), posts, diff)
		}
	}
	run(cli.ExitOK, "1203 captures of 3 files sent to "+s.URL+"/crawl; 0 files sent before")
	there(4)
	run(cli.ExitOK, "0 captures of 0 files", "3 files sent before")
	there(4)
	if code, _, errs := command("index", "--push", s.URL+"/crawl", dir); code != cli.ExitOK || !strings.Contains(errs, "1203 captures") {
		t.Errorf("without a list: exit code %d, %s", code, errs)
	}
	there(8)
	if err := os.WriteFile(filepath.Join(dir, "torn.warc.gz"), members(warcInfo)[:30], 0o644); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "new.warc.gz.open"), string(members(warcInfo)))
	for range 2 { // a damaged file does not count as sent
		run(cli.ExitDamaged, "torn.warc.gz:0: error: the file ends", "3 files sent before, 1 still open", "1 error, listed above; everything else was sent")
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--push", "localhost:8901/x", dir}, "want the address of a collection"},
		{[]string{"--push", "http://localhost:8901", dir}, "want the address of a collection"},
		{[]string{"--push", s.URL + "/other", "--done", list, dir}, "name another file"},
		{[]string{"--push", s.URL + "/crawl", "-o", list, dir}, "cannot be used together"},
		{[]string{"--done", list, dir}, "--done needs --push"},
	} {
		if code, _, errs := command(append([]string{"index"}, c.args...)...); code != cli.ExitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit code %d, %s", c.args, code, errs)
		}
	}
}
