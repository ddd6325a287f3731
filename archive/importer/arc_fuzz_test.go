package importer

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// recordsOfARC reads all records of an ARC file as an import does. It returns those that can be originals.
func recordsOfARC(t testing.TB, text string) (found []string) {
	r := &arcReader{file: strings.NewReader(text), size: int64(len(text)), name: "a.arc"}
	r.gzip = strings.HasPrefix(text, "\x1f\x8b")
	r.seek(0)
	for r.at() < r.size {
		begin := r.at()
		f, ok, err := r.next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			r.seek(r.find(begin + 1))
		}
		if r.at() <= begin || r.at() > r.size {
			t.Fatalf("reading continues from %d at %d of %d", begin, r.at(), r.size)
		}
		if ok {
			if !usable(f) || strings.ContainsAny(f.Origin.URI, "\r\n") || f.Origin.Offset < begin || f.Origin.Length < 1 {
				t.Fatalf("an original that cannot be one: %+v", f)
			}
			found = append(found, f.Origin.URI)
		}
	}
	return found
}

// FuzzARC reads arbitrary ARC files of partners.
func FuzzARC(f *testing.F) {
	for _, version := range []int{1, 11, 2} {
		f.Add(strings.Join(arcFile(version), ""))
	}
	f.Add(string(archivetest.Zipped(f, arcFile(1)...)))
	f.Add("\n\nhttp://a.example/ 192.0.2.7 20050102030405 text/html 99999999999\nHTTP/1.0 200 OK\n\nx")
	f.Add("http://a.example/ - 200501020304 - -1\n")
	f.Fuzz(func(t *testing.T, text string) { recordsOfARC(t, text) })
}

// TestWorkOnDamagedARCFilesGrowsWithThem reads files in which a record may begin at many places.
func TestWorkOnDamagedARCFilesGrowsWithThem(t *testing.T) {
	for name, piece := range map[string]string{
		"beginnings":          "\nhttp",
		"lines":               "\nhttp://a.example/\n",
		"records without end": "\nhttp://a.example/ 192.0.2.7 20050102030405 text/html 999999999\n",
		"packed beginnings":   "\x1f\x8b\x08",
		"packed members":      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00a",
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			shape := func(n int) string { return piece + strings.Repeat(piece, n/len(piece)) }
			slow.Linear(t, shape, func(text string) { recordsOfARC(t, text) })
		})
	}
}

// TestAHugeFirstLineTakesNoMemory imports files of partners whose first line has 32 MiB, in each format.
func TestAHugeFirstLineTakesNoMemory(t *testing.T) {
	line := strings.Repeat("a", 32<<20)
	for name, content := range map[string]string{
		"a.arc":     "http://a.example/" + line,
		"a.arc.gz":  string(archivetest.Zipped(t, "filedesc://x "+line)),
		"a.warc":    "WARC/1.1\r\nA: " + line,
		"a.warc.gz": string(archivetest.Zipped(t, "WARC/1.1\r\nA: "+line)),
		"a.cdxj":    "com,a)/ 20200101000000 {" + line,
		"a.cdx":     " CDX N b a m s k r M S V g\ncom,a)/ " + line,
	} {
		file, i := archivetest.Save(t, name, []byte(content)), openIndex(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		sum, found := imported(t, i, Options{}, file)
		runtime.ReadMemStats(&after)
		if sum.Entries != 0 || sum.Errors == 0 && len(found) == 0 {
			t.Errorf("%s: imported %+v, %d findings; want an error", name, sum, len(found))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: the import allocated %d MiB for a line of 32 MiB", name, n>>20)
		}
		for _, f := range found {
			if f.Severity != warc.Error || len(f.Text) > 1000 {
				t.Errorf("%s: the finding %.200q has %d bytes", name, f.Text, len(f.Text))
			}
		}
	}
}
