package archive

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/keep"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// pushable returns a folder of three WARC files with 1200, 2 and 1 captures, and the lines that an OutbackCDX server
// should have of them.
func pushable(t *testing.T) (dir string, want []string) {
	t.Helper()
	dir = t.TempDir()
	id := 0
	for name, n := range map[string]int{"a": 1200, "b": 2, "c": 1} {
		texts := []string{warcInfo}
		for i := range n {
			host := map[string]string{"a": "old", "b": "b", "c": "c"}[name]
			texts = append(texts, warcRecord(fmt.Sprint(id), fmt.Sprintf("http://%s.example/%d", host, i), "x"))
			id++
		}
		if err := os.WriteFile(filepath.Join(dir, name+".warc.gz"), members(texts...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
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

// pushAttempts is how often lines are sent to a server that fails.
const pushAttempts = 4

// TestAPushResumesWhereTheServerFailed pushes to a server that fails for a while, fails for longer, and refuses single
// lines.
func TestAPushResumesWhereTheServerFailed(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir, want := pushable(t)
	s := archivetest.StartCDXServer(t)
	list := filepath.Join(t.TempDir(), "sent")
	posts, fails := 0, func(n int) bool { return n == 1 }
	s.Behave(func(lines []string) (int, string) {
		if posts++; fails(posts) {
			return http.StatusServiceUnavailable, "not now"
		}
		return 0, ""
	})
	run := func() (string, error) {
		cmd, errs := newIndex(), &bytes.Buffer{}
		cmd.SetContext(t.Context())
		cmd.SetErr(errs)
		p, err := newPush(cmd, s.URL+"/crawl", list, false)
		if err != nil {
			t.Fatal(err)
		}
		p.Wait = func(context.Context, time.Duration) error { return nil }
		err = pushFiles(cmd, p, []string{dir})
		return errs.String(), err
	}
	fails = func(n int) bool { return n == 1 || n >= 4 } // once, and then permanently in the second file
	if _, err := run(); err == nil || cli.ExitCode(err) != cli.ExitFailure || !strings.Contains(err.Error(), "file 2 of 3") || !strings.Contains(err.Error(), "503") ||
		!strings.Contains(err.Error(), "1200 captures of the files before are there. Run the command again") {
		t.Errorf("a server that fails: %v", err)
	}
	if posts != 3+pushAttempts {
		t.Errorf("%d posts to a server that fails, want %d", posts, 3+pushAttempts)
	}
	fails = func(int) bool { return false }
	if says, err := run(); err != nil || !strings.Contains(says, "3 captures of 2 files") || !strings.Contains(says, "1 file sent before") {
		t.Errorf("when the server is back: %v, %s", err, says)
	}
	if got, _ := s.Seen(); cmp.Diff(want, got) != "" {
		t.Errorf("the server does not have all lines: %s", cmp.Diff(want, got))
	}
	list += "2"
	s.Behave(func(lines []string) (int, string) {
		for _, line := range lines {
			if strings.Contains(line, "old.example/77 ") {
				return http.StatusBadRequest, "At line: " + line
			}
		}
		return 0, ""
	})
	if says, err := run(); cli.ExitCode(err) != cli.ExitFailure || !strings.Contains(says, "skipped http://old.example/77") || !strings.Contains(says, "1202 captures of 3 files") || !strings.Contains(says, "1 capture refused") {
		t.Errorf("a line that is refused: %v, %s", err, says)
	}
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
		if diff := cmp.Diff(want, got); diff != "" || n != posts || s.Largest() > keep.MaxLines {
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
	daemontest.WriteFile(t, filepath.Join(dir, "new.warc.gz.open"), string(members(warcInfo)))
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
