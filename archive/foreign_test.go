package archive

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/foreign"
)

// wget crawls a small site with GNU wget: one.warc.gz has a page, an image of it and a chunked page, two.warc.gz has
// revisits of the image and the chunked page, and plain.warc the image again, without compression.
func wget(t testing.TB) (dir, site string) {
	t.Helper()
	program, err := exec.LookPath("wget")
	if err != nil {
		missing := t.Skipf
		if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") == "1" {
			missing = t.Fatalf
		}
		missing("GNU wget is not installed: %v", err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<html><img src="/picture.gif"></html>`) // wget reports what goes wrong
		case "/picture.gif":
			w.Header().Set("Content-Type", "image/gif")
			_, _ = io.WriteString(w, "GIF89a, more or less")
		case "/chunked":
			w.Header().Set("Content-Type", "text/plain")
			for i := range 3 {
				fmt.Fprintf(w, "piece %d\n", i)
				w.(http.Flusher).Flush()
			}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	dir = t.TempDir()
	for _, line := range []string{
		"--warc-file=one --warc-cdx --page-requisites @/ @/chunked",
		"--warc-file=two --warc-dedup=one.cdx @/picture.gif @/chunked",
		"--warc-file=plain --no-warc-compression @/picture.gif",
	} {
		args := strings.Fields(strings.ReplaceAll(line, "@", server.URL))
		cmd := exec.CommandContext(t.Context(), program, append([]string{"--quiet", "--no-proxy"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("wget %s: %v\n%s", line, err, out)
		}
	}
	return dir, server.URL
}

func TestTheArchiveOfWgetIsSoundWithItsHabitsNamed(t *testing.T) {
	t.Parallel()
	dir, _ := wget(t)
	found, sum := verified(t, VerifyOptions{}, dir)
	kinds := map[Kind]int{}
	for _, f := range found {
		kinds[f.Kind]++
		if f.Severity != Warning {
			t.Errorf("%s", f.Error())
		}
	}
	// The chunked page has a digest of its chunks. The revisits have the block digest of nothing, and do not say the URI
	// and the date of their originals.
	want := map[Kind]int{Framing: 1, BlockDigest: 2, BadHeader: 4}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v: %v", kinds, want, found)
	}
	if sum.Records["response"] != 5 || sum.Records["revisit"] != 2 { // robots.txt is one of them
		t.Errorf("records %v, want 5 responses and 2 revisits", sum.Records)
	}
}

// TestAStrangerSeesTheSameRecords compares our reader with npm's warcio, record by record.
func TestAStrangerSeesTheSameRecords(t *testing.T) {
	t.Parallel()
	ours := small(t)
	files := ours.files()
	if theirs, _ := wget(t); t.Failed() {
		return
	} else if more, err := filepath.Glob(filepath.Join(theirs, "*.warc.gz")); err == nil {
		files = append(files, more...)
	}
	for _, file := range files {
		strange := foreign.Records(t, file)
		r, err := OpenFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range strange {
			rec, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			block, err := io.ReadAll(rec)
			if err != nil {
				t.Fatal(err)
			}
			if err := rec.Close(); err != nil {
				t.Fatal(err)
			}
			if rec.Offset != want.Offset || rec.Length != want.Length || "<"+rec.ID()+">" != want.ID ||
				rec.Header.Target() != trimID(want.Target) || string(block) != string(want.Block) {
				t.Errorf("%s at %d: %s of %d bytes, warcio reads %s at %d of %d bytes", file, rec.Offset, rec.ID(), rec.Length, want.ID, want.Offset, want.Length)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: after %d records comes %v, want the end", file, len(strange), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAStrangerReadsWhatWasReduplicated has warcio check the digests of new files, block and payload.
func TestAStrangerReadsWhatWasReduplicated(t *testing.T) {
	t.Parallel()
	l, _ := three(t)
	out, _, _ := rewritten(t, []string{l.dir}, RewriteOptions{All: true})
	files, err := filepath.Glob(filepath.Join(out, "*.warc.gz"))
	if err != nil || len(files) != 3 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, r := range foreign.Records(t, files...) {
		if len(r.Errors) > 0 {
			t.Errorf("%s at %d: %v", r.File, r.Offset, r.Errors)
		}
	}
}
