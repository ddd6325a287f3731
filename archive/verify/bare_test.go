package verify

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// bareArchive returns a folder with two files of captures, as Heritrix 3.1.1 wrote them: its revisits name neither a
// record id nor URI and date.
func bareArchive(t *testing.T) (dir string) {
	t.Helper()
	head := archivetest.HTMLHead + "\r\n\r\n"
	record := func(kind string, second int, target, body string) string {
		block, profile := head+body, ""
		if kind == "revisit" {
			block, profile = head, "\r\nWARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
		}
		text := archivetest.Plain([]string{
			"WARC-Type: " + kind, fmt.Sprintf("WARC-Record-ID: <urn:x:%s-%d>", kind, second),
			fmt.Sprintf("WARC-Date: 2014-03-25T12:12:%02dZ", second), "WARC-Target-URI: " + target,
			"Content-Type: application/http; msgtype=response",
			"WARC-Payload-Digest: " + digest.Of([]byte(body)).String() + profile,
		}, block)
		return strings.Replace(text, "WARC/1.1", "WARC/1.0", 1)
	}
	const page, copied = "http://a.example/", "http://b.example/copy"
	first := archivetest.Zipped(t, archivetest.Info,
		record("response", 1, page, "one"), record("response", 2, page, "two"), record("response", 3, page, "one"),
		record("response", 4, copied, "other"),
	)
	second := archivetest.Zipped(t, strings.Replace(archivetest.Info, ":info>", ":info2>", 1),
		record("revisit", 10, page, "one"), record("revisit", 11, page, "two"),
		record("response", 20, page, "late"), record("response", 21, page, "one"),
		record("revisit", 12, page, "late"),  // only a later capture has it
		record("revisit", 13, page, "other"), // only another URI has it
	)
	path := archivetest.Save(t, "1.warc.gz", first)
	archivetest.Must(t, os.WriteFile(filepath.Join(filepath.Dir(path), "2.warc.gz"), second, 0o600))
	return filepath.Dir(path)
}

// A revisit that names nothing has the last earlier capture of its URI with the same payload as its original.
func TestARevisitThatNamesNothingFindsItsOriginalByPayload(t *testing.T) {
	t.Parallel()
	dir := bareArchive(t)
	var unresolved []string
	_, err := Files(t.Context(), []string{dir}, Options{}, func(f warc.Finding) error {
		if f.Severity == warc.Error {
			unresolved = append(unresolved, string(f.Kind)+" "+f.Record)
		}
		return nil
	})
	archivetest.Must(t, err)
	want := "revisit-unresolved urn:x:revisit-12, revisit-unresolved urn:x:revisit-13"
	if got := strings.Join(unresolved, ", "); got != want {
		t.Errorf("verify reports %s, want %s", got, want)
	}

	none := func(f warc.Finding) error { return &f }
	s, err := depend.New(t.Context(), []string{dir}, nil, none)
	archivetest.Must(t, err)
	originals := map[string]string{}
	for i, c := range s.All() {
		if !c.IsRevisit {
			continue
		}
		originals[s.IDOf(i)] = "missing"
		if o := s.Original(i); o >= 0 {
			originals[s.IDOf(i)] = s.IDOf(o)
		}
	}
	for revisit, original := range map[string]string{
		"urn:x:revisit-10": "urn:x:response-3", "urn:x:revisit-11": "urn:x:response-2",
		"urn:x:revisit-12": "missing", "urn:x:revisit-13": "missing",
	} {
		if originals[revisit] != original {
			t.Errorf("the survey has %s as the original of %s, want %s", originals[revisit], revisit, original)
		}
	}

	for _, indexed := range []bool{false, true} {
		if indexed {
			to := filepath.Join(dir, index.FileName)
			_, err := index.WriteFile(t.Context(), []string{dir}, index.Options{}, to, nil)
			archivetest.Must(t, err)
		}
		l, err := index.OpenLibrary(t.Context(), dir, index.Options{}, none)
		archivetest.Must(t, err)
		checkBare(t, l)
		archivetest.Must(t, l.Close())
	}

	left, out := 0, filepath.Join(t.TempDir(), "new")
	sum, err := rewrite.Files(t.Context(), []string{filepath.Join(dir, "2.warc.gz")},
		rewrite.Options{Out: out, From: []string{dir}}, func(f warc.Finding) error {
			if f.Kind != warc.NoOriginal {
				return &f
			}
			left++
			return nil
		})
	archivetest.Must(t, err)
	if sum.Filled != 2 || left != 2 {
		t.Errorf("reduplicate made %d responses and left %d revisits, want 2 and 2", sum.Filled, left)
	}
}

// checkBare compares what the library shows for revisits that name nothing.
func checkBare(t *testing.T, l *index.Library) {
	t.Helper()
	captures, err := l.History("http://a.example/")
	archivetest.Must(t, err)
	want := map[string]string{"urn:x:revisit-10": "one", "urn:x:revisit-11": "two", "urn:x:revisit-12": "", "urn:x:revisit-13": ""}
	for _, c := range captures {
		text, ok := want[c.RecordID]
		if !ok {
			continue
		}
		delete(want, c.RecordID)
		p, err := l.Payload(t.Context(), c, true)
		if err != nil {
			if text != "" || !strings.Contains(err.Error(), "names no original") {
				t.Errorf("the payload of %s: %v", c.RecordID, err)
			}
			continue
		}
		body, err := io.ReadAll(p)
		archivetest.Must(t, err)
		archivetest.Must(t, p.Close())
		if string(body) != text {
			t.Errorf("the payload of %s is %q, want %q", c.RecordID, body, text)
		}
	}
	if len(want) > 0 {
		t.Errorf("the history lacks %v", want)
	}
}

// Files of Heritrix 1 have the versions of drafts. They are read like others, and cause one warning.
func TestDraftsOfTheFormatAreRead(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"0.17": "warning 0.17", "0.18": "warning 0.18", "0.9": "error error", "2.0": "error error",
	} {
		texts := []string{archivetest.Info, archivetest.Response("1", "http://a.example/", archivetest.HTMLHead, "one")}
		for i := range texts {
			texts[i] = strings.Replace(texts[i], "WARC/1.1", "WARC/"+version, 1)
		}
		var got []string
		_, err := Files(t.Context(), []string{archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, texts...))}, Options{},
			func(f warc.Finding) error {
				if f.Kind != warc.BadVersion {
					return &f
				}
				if got = append(got, string(f.Severity)); f.Severity == warc.Warning {
					got = append(got, version)
				}
				return nil
			})
		archivetest.Must(t, err)
		if strings.Join(got, " ") != want {
			t.Errorf("the version %s causes %v, want %s", version, got, want)
		}
	}
}

// Records of https have WARC-Protocol twice: for HTTP and for TLS. Before, each was an error, and cat showed none.
func TestRecordsOfHTTPSHaveTwoProtocols(t *testing.T) {
	t.Parallel()
	l := archivetest.Versioned(t)
	sum, err := Files(t.Context(), []string{l.Dir}, Options{}, func(f warc.Finding) error { return &f })
	if err != nil || sum.Errors+sum.Warnings > 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	if text := string(archivetest.Unzipped(t, l.Files()[0])); !strings.Contains(text, "WARC-Protocol: tls/1.3\r\n") {
		t.Error("the archive has no record of https")
	}
}
