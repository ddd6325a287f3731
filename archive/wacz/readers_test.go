package wacz

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestOtherProgramsAcceptTheArchive lets programs check the digests and the form of an archive with versions, revisits,
// cut responses and all codings. Each must also find the fault in a file whose payload was changed.
func TestOtherProgramsAcceptTheArchive(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	l := archivetest.Versioned(t)
	response := archivetest.Response("bad", "http://www.a.example/", archivetest.HTMLHead, "<p>one</p>")
	bad := archivetest.Save(t, "bad.warc.gz",
		archivetest.Zipped(t, archivetest.Info, strings.Replace(response, "<p>one</p>", "<p>two</p>", 1)))
	good, broken := filepath.Join(t.TempDir(), "good.wacz"), filepath.Join(t.TempDir(), "broken.wacz")
	packedAs(t, good, l.Files(), Options{})
	text := archivetest.Read(t, good)
	at := len(text) / 3 // in a WARC file
	archivetest.Must(t, os.WriteFile(broken, []byte(text[:at]+string(text[at]^1)+text[at+1:]), 0o600))
	for _, c := range []struct {
		program   string
		args      []string
		good, bad []string
		known     string // what it says of the versions of one page, and why that is no fault
		why       string
	}{
		{
			"warcio",
			[]string{"check"},
			l.Files(),
			[]string{bad},
			"payload digest failed",
			"it takes the digest of a chunked body with its chunks, against WARC/1.1, 6.3.2",
		},
		{
			"jwarc",
			[]string{"validate"},
			l.Files(),
			[]string{bad},
			"invalid HTTP header Content-Length",
			"it does not know that a body with WARC-Truncated is shorter than its Content-Length",
		},
		{"wacz", []string{"validate", "-f"}, []string{good}, []string{broken}, "", ""},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			want := 0
			if c.known != "" {
				want = archivetest.Versions
			}
			out, errs, err := foreign.Program(t, c.program, slices.Concat(c.args, c.good)...)
			out += errs
			known := strings.Count(out, c.known)
			if c.known == "" {
				known = 0
			}
			if all := strings.Count(out, "failed"); err != nil && want == 0 || known != want || all > want {
				t.Errorf("%s says %q %d times, want %d (%s), and %d other faults: %v\n%s",
					c.program, c.known, known, want, c.why, all-known, err, out)
			}
			if out, _, err := foreign.Program(t, c.program, slices.Concat(c.args, c.bad)...); err == nil {
				t.Errorf("%s finds no fault in %s\n%s", c.program, c.bad, out)
			}
		})
	}
}

// TestAnotherIndexerFindsTheSameCaptures compares our index of an archive with the one of py-wacz's indexer: key,
// second, URI, media type, status, digest, and the place of each capture.
func TestAnotherIndexerFindsTheSameCaptures(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	l := archivetest.Versioned(t)
	captures := func(text string) map[string]bool {
		all := map[string]bool{}
		for line := range strings.Lines(text) {
			e, err := index.ParseEntry(strings.TrimSpace(line))
			archivetest.Must(t, err)
			if !strings.HasPrefix(e.URL, "http") { // the other records are about no page
				continue
			}
			all[strings.Join([]string{
				e.Key, e.Timestamp, e.URL, e.MIME, e.Status, e.Digest, e.Filename,
				strconv.FormatInt(e.Offset, 10), strconv.FormatInt(e.Length, 10),
			}, " ")] = true
		}
		return all
	}
	var ours strings.Builder
	_, err := index.Build(t.Context(), l.Files(), index.Options{}, &ours, func(f warc.Finding) error { return &f })
	archivetest.Must(t, err)
	out, errs, err := foreign.Program(t, "cdxj-indexer", l.Files()...)
	if err != nil {
		t.Fatalf("cdxj-indexer: %v\n%s", err, errs)
	}
	a, b := captures(ours.String()), captures(out)
	for line := range maps.Keys(a) {
		if !b[line] {
			t.Errorf("only we have     %s", line)
		}
	}
	for line := range maps.Keys(b) {
		if !a[line] {
			t.Errorf("only it has      %s", line)
		}
	}
	if len(a) == 0 {
		t.Error("there are no captures")
	}
	t.Logf("both have %d captures", len(a))
}
