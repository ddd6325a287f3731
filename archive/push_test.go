package archive

import (
	"bytes"
	"compress/gzip"
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
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// warcRecord returns a resource record as text, with the digests of its block.
func warcRecord(id, target, body string) string {
	head := fmt.Sprintf("WARC/1.1\r\nContent-Length: %d\r\n", len(body))
	sum := digest.Of([]byte(body)).String()
	return head + "WARC-Type: resource\r\nWARC-Target-URI: " + target + "\r\nWARC-Date: 2026-11-20T09:00:00Z\r\nWARC-Record-ID: <urn:x:" + id + ">\r\n" +
		"Content-Type: text/html\r\nWARC-Block-Digest: " + sum + "\r\nWARC-Payload-Digest: " + sum + "\r\n\r\n" + body + "\r\n\r\n"
}

const warcInfo = "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: 2026-11-20T09:00:00Z\r\nWARC-Record-ID: <urn:x:info>\r\n" +
	"Content-Type: application/warc-fields\r\nContent-Length: 13\r\n\r\nsoftware: x\r\n\r\n\r\n"

// members compresses each text as a gzip member.
func members(texts ...string) []byte {
	var b bytes.Buffer
	for _, text := range texts {
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text)) // to memory
		_ = z.Close()
	}
	return b.Bytes()
}

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
