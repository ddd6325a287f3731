package verify

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/importer"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

// sample holds files that another program wrote of one small site, and what is in them. The site has pages, a copy, a
// body in chunks, a gzipped one, a redirect and a missing page. Each was visited once or twice.
type sample struct {
	made     string
	files    []string
	warnings map[warc.Kind]int
	captures int // responses and revisits of the site; the digests of their payloads are right
	framed   int // of these, those whose payload digest is of the body with its chunks
	imported int
}

// A payload is imported if it is not empty and its digest is not of the body with its chunks. Wget names neither URI
// nor date of an original, and takes the block digest of a revisit before it writes the block.
var samples = []sample{
	{
		made: "warcio 1.8.1, WARC 1.0", files: []string{"warcio-1.0.warc.gz"},
		warnings: map[warc.Kind]int{warc.Framing: 1}, captures: 8, framed: 1, imported: 3,
	},
	{
		made: "warcio 1.8.1, WARC 1.1", files: []string{"warcio-1.1.warc.gz"},
		warnings: map[warc.Kind]int{warc.Framing: 1}, captures: 8, framed: 1, imported: 3,
	},
	{
		made: "GNU Wget 1.21.3, deduplicated", files: []string{"wget-1.warc.gz", "wget-2.warc.gz"},
		warnings: map[warc.Kind]int{warc.Framing: 1, warc.BlockDigest: 6, warc.BadHeader: 12},
		captures: 16, framed: 2, imported: 8,
	},
	{
		made: "pywb 2.10.0b1, recording", files: []string{"pywb.warc.gz"},
		warnings: map[warc.Kind]int{warc.NoInfo: 1}, captures: 10, imported: 10,
	},
}

// TestFilesOfOtherProgramsAreReadWhole verifies, plays and imports what other programs wrote.
func TestFilesOfOtherProgramsAreReadWhole(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		t.Run(s.made, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, f := range s.files {
				text := archivetest.Read(t, filepath.Join("testdata", "samples", f))
				archivetest.Must(t, os.WriteFile(filepath.Join(dir, f), []byte(text), 0o600))
			}
			found := map[warc.Kind]int{}
			sum, err := Files(t.Context(), []string{dir}, Options{}, func(f warc.Finding) error {
				found[f.Kind]++
				if f.Severity == warc.Error {
					t.Error(f.Error())
				}
				return nil
			})
			if err != nil || sum.Errors != 0 {
				t.Errorf("verify: %+v, %v", sum, err)
			}
			if !maps.Equal(found, s.warnings) {
				t.Errorf("verify warns of %v, want %v", found, s.warnings)
			}
			captures, framed := playsAll(t, dir)
			if captures != s.captures || framed != s.framed {
				t.Errorf("%d captures have their payloads, %d with chunks; want %d and %d", captures, framed, s.captures, s.framed)
			}
			if n := importedFrom(t, dir); n != s.imported {
				t.Errorf("%d payloads were imported, want %d", n, s.imported)
			}
		})
	}
}

// playsAll reads the payload of each capture of the site, and compares it with the digest of its record. It returns how
// many it compared, and how many of the digests are of the body with its chunks.
func playsAll(t *testing.T, dir string) (captures, framed int) {
	t.Helper()
	l, err := index.OpenLibrary(t.Context(), dir, index.Options{}, noFinding)
	archivetest.Must(t, err)
	defer l.Close() //nolint:errcheck // nothing was written
	files, faults := warc.Files([]string{dir})
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	var uris []string
	for _, f := range files {
		archivetest.Must(t, warc.EachRecord(t.Context(), f, nil, warc.NewFindings(f), func(rec *warc.Record) error {
			if u := rec.Header.Target(); strings.HasPrefix(u, "http://127.0.0.1:") && !slices.Contains(uris, u) {
				uris = append(uris, u)
			}
			return nil
		}))
	}
	for _, u := range uris {
		all, err := l.History(u)
		archivetest.Must(t, err)
		for _, c := range all {
			if c.Type != "response" && c.Type != "revisit" {
				continue
			}
			p, err := l.Payload(t.Context(), c, false)
			if err != nil {
				t.Errorf("%s of %s: %v", c.Timestamp, u, err)
				continue
			}
			body, err := io.ReadAll(p)
			archivetest.Must(t, err)
			archivetest.Must(t, p.Close())
			captures++
			switch sum := digest.Of(body).String(); {
			case "sha1:"+strings.TrimPrefix(c.Digest, "sha1:") == sum:
			case strings.HasSuffix(u, "/pieces"):
				framed++
			default:
				t.Errorf("%s of %s has the payload %s, the record says %s", c.Timestamp, u, sum, c.Digest)
			}
		}
	}
	return captures, framed
}

// importedFrom returns how many payloads of a folder can be the origins of revisits.
func importedFrom(t *testing.T, dir string) int {
	t.Helper()
	store, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Compactors: -1, Now: archivetest.Start})
	archivetest.Must(t, err)
	defer store.Close() //nolint:errcheck // nobody needs it
	to, err := dedup.Open(store.DB(), dedup.Options{Name: uri.ReplayKey})
	archivetest.Must(t, err)
	now := func() time.Time { return archivetest.Start }
	sum, err := importer.Files(t.Context(), to, []string{dir}, importer.Options{Now: now}, noFinding)
	archivetest.Must(t, err)
	return int(sum.Entries)
}
