package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

const (
	trixTarget = "https://a.example/"
	trixBody   = "<p>archived by Browsertrix</p>"
	trixPack   = "dedupe-test-orig.wacz"
)

// trixRecord returns a capture with the fields that Browsertrix Crawler writes.
func trixRecord(kind, date, block string, more ...string) string {
	id := map[string]string{"response": "02", "revisit": "03"}[kind]
	sum, payload := sha256.Sum256([]byte(block)), sha256.Sum256([]byte(trixBody))
	return archivetest.Plain(append([]string{
		"WARC-Page-ID: 1b2c3d4e-0000-4000-8000-000000000001", "WARC-Protocol: h2", "WARC-Protocol: tls/1.3",
		"WARC-Resource-Type: document", `WARC-JSON-Metadata: {"ipType":"Public"}`,
		"WARC-Record-ID: <urn:uuid:1b2c3d4e-0000-4000-8000-0000000000" + id + ">",
		"WARC-Target-URI: " + trixTarget, "WARC-Date: " + date, "WARC-Type: " + kind,
		"Content-Type: application/http; msgtype=response",
		"WARC-Payload-Digest: sha256:" + hex.EncodeToString(payload[:]),
		"WARC-Block-Digest: sha256:" + hex.EncodeToString(sum[:]),
	}, more...), block)
}

// TestARevisitOfBrowsertrixLeadsIntoItsPackage has a revisit as Browsertrix Crawler writes it for a payload in a
// package of another crawl: WARC-Refers-To-Container is the name of the package behind file://.
func TestARevisitOfBrowsertrixLeadsIntoItsPackage(t *testing.T) {
	t.Parallel()
	const was = "2026-03-01T10:00:00.250Z"
	head := archivetest.HTMLHead + "\r\n\r\n"
	before := archivetest.Save(t, "rec-orig.warc.gz",
		archivetest.Zipped(t, archivetest.Info, trixRecord("response", was, head+trixBody)))
	pack := filepath.Join(t.TempDir(), trixPack)
	packFiles(t, pack, []string{before})
	file := archivetest.Save(t, "rec-dupe.warc.gz", archivetest.Zipped(t, archivetest.Info,
		trixRecord("revisit", "2026-03-08T10:00:00.750Z", head,
			"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
			"WARC-Refers-To-Target-URI: "+trixTarget, "WARC-Refers-To-Date: "+was,
			"WARC-Refers-To-Container: file://"+trixPack)))
	dir, name := filepath.Split(file)

	alone, err := depend.New(t.Context(), []string{dir}, nil, noFinding)
	archivetest.Must(t, err)
	covered, err := depend.Open(t.Context(), dir, depend.Options{}, noFinding)
	archivetest.Must(t, err)
	for who, s := range map[string]interface {
		Dependencies(names []string) ([]depend.Dependencies, error)
	}{"the files": alone, "the index": covered} {
		all, err := s.Dependencies([]string{name})
		archivetest.Must(t, err)
		want := []depend.Dependency{{File: trixPack, Revisits: 1}}
		if d := all[0]; d.Missing != 1 || !slices.Equal(d.Packages, want) {
			t.Errorf("without the package, %s say %+v; want one missing original in %s", who, d, trixPack)
		}
	}
	archivetest.Must(t, covered.Close())

	both, err := depend.New(t.Context(), []string{dir, pack}, nil, noFinding)
	archivetest.Must(t, err)
	all, err := both.Dependencies([]string{name})
	archivetest.Must(t, err)
	if d := all[0]; d.Missing != 0 || len(d.Needs) != 1 || d.Needs[0].File != trixPack+"/archive/rec-orig.warc.gz" {
		t.Errorf("with the package, the dependencies are %+v", d)
	}

	l, err := index.OpenLibrary(t.Context(), dir, index.Options{Outside: []string{pack}}, noFinding)
	archivetest.Must(t, err)
	captures, err := l.History(trixTarget)
	archivetest.Must(t, err)
	if len(captures) != 2 {
		t.Fatalf("the captures are %v, want two", captures)
	}
	for _, c := range captures {
		p, err := l.Payload(t.Context(), c, true)
		archivetest.Must(t, err)
		b, err := io.ReadAll(p)
		if err = errors.Join(err, p.Close()); err != nil || string(b) != trixBody {
			t.Errorf("the capture in %s has the payload %q, %v", c.Filename, b, err)
		}
	}
	archivetest.Must(t, l.Close())
	if found, _ := verified(t, Options{}, dir, pack); len(found) > 0 {
		t.Errorf("verify finds %v", found)
	}
}
