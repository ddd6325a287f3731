package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// arcRecord returns a record with the first line of a version.
func arcRecord(version int, uri, date, content string) string {
	more := ""
	if version == 2 {
		more = "200 abcdef - 0 x.arc "
	}
	return fmt.Sprintf("%s 192.0.2.7 %s text/html %s%d\n%s\n", uri, date, more, len(content), content)
}

// arcFile returns the records of an ARC file: its version block, a name that was looked up, two pages, one of them with
// a space in its URI, a cut page, and another page.
func arcFile(version int) []string {
	block := map[int]string{
		1: "1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n",
		// Heritrix 1 describes the crawl in the first record.
		11: "1 1 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n<?xml version=\"1.0\"?><arcmetadata/>\n",
		2:  "2 0 InternetArchive\nURL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length\n",
	}[version]
	return []string{
		arcRecord(version, "filedesc://x.arc", "20050102030405", block),
		arcRecord(version, "dns:a.example", "20050102030405", "20050102030405\na.example. 1 IN A 192.0.2.7"),
		arcRecord(version, "http://a.example/", "20050102030406", archivetest.HTMLHead+"\r\n\r\n"+firstPage),
		arcRecord(version, "http://a.example/with space", "200501020304", "HTTP/1.0 200 OK\nContent-Type: text/plain\n\nspaced"),
		arcRecord(version, "http://a.example/cut", "20050102030407", archivetest.HTMLHead+"\r\nContent-Length: 9\r\n\r\ncut"),
		arcRecord(version, "http://a.example/last", "20050102030408", archivetest.HTMLHead+"\r\n\r\nthe last"),
	}
}

func TestARCFilesAreImported(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 11, 2} {
		for _, packed := range []bool{false, true} {
			t.Run(fmt.Sprint(version, packed), func(t *testing.T) {
				t.Parallel()
				records := arcFile(version)
				content, before := []byte(strings.Join(records, "")), []byte(strings.Join(records[:2], ""))
				if packed {
					content, before = archivetest.Zipped(t, records...), archivetest.Zipped(t, records[:2]...)
				}
				// The name says nothing, so the format is detected by the content.
				file := archivetest.Save(t, "old", content)
				i := openIndex(t)
				sum, found := imported(t, i, importOptions{}, file)
				if sum.Entries != 3 || sum.Skipped != 3 || len(found) > 0 {
					t.Fatalf("imported %+v, found %v", sum, found)
				}
				o := originOf(t, i, firstPage, "text/html")
				if want := time.Date(2005, 1, 2, 3, 4, 6, 0, time.UTC); o.URI != "http://a.example/" || !o.Date.Equal(want) {
					t.Errorf("the origin is %+v", o)
				}
				if o.File != "old" || o.Offset != int64(len(before)) || o.Size != int64(len(firstPage)) || o.RecordID != "" {
					t.Errorf("the origin is %+v, want it at %d", o, len(before))
				}
				spaced := originOf(t, i, "spaced", "text/plain")
				if want := time.Date(2005, 1, 2, 3, 4, 0, 0, time.UTC); spaced.URI != "http://a.example/with%20space" || !spaced.Date.Equal(want) {
					t.Errorf("the origin of the second page is %+v", spaced)
				}
			})
		}
	}
}

// TestDamageInAnARCFileIsReported damages one record. The records after it are imported.
func TestDamageInAnARCFileIsReported(t *testing.T) {
	t.Parallel()
	records := arcFile(1)
	plain := strings.Join(records, "")
	broken := strings.Replace(plain, "http://a.example/ 192.0.2.7 20050102030406 text/html ", "http://a.example/ never ", 1)
	flipped := archivetest.Zipped(t, records...)
	flipped[len(archivetest.Zipped(t, records[:2]...))+30] ^= 0x40
	for name, content := range map[string][]byte{"plain": []byte(broken), "gzip": flipped} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := openIndex(t)
			sum, found := imported(t, i, importOptions{}, archivetest.Save(t, "x.arc", content))
			if len(found) == 0 || sum.Entries != 2 || sum.Errors != len(found) {
				t.Errorf("imported %+v, found %v; want two records and a fault", sum, found)
			}
			if o := originOf(t, i, "the last", "text/html"); o.URI != "http://a.example/last" {
				t.Errorf("the last record is %+v", o)
			}
		})
	}
}

// TestAnARCFileIsReadFromItsMiddle resumes after the third record.
func TestAnARCFileIsReadFromItsMiddle(t *testing.T) {
	t.Parallel()
	records := arcFile(1)
	file := archivetest.Save(t, "x.arc.gz", archivetest.Zipped(t, records...))
	var uris []string
	receive := func(f dedup.Found, ok bool, _ int64) error {
		if ok {
			uris = append(uris, f.Origin.URI)
		}
		return nil
	}
	from := int64(len(archivetest.Zipped(t, records[:3]...)))
	archivetest.Must(t, readARC(file, nil)(t.Context(), from, receive, noFinding))
	if got := strings.Join(uris, " "); got != "http://a.example/with%20space http://a.example/last" {
		t.Errorf("the rest has %s", got)
	}
}

// TestRecordsWithSHA256AreImported reads a package as Browsertrix writes them: its payload digests are SHA-256.
func TestRecordsWithSHA256AreImported(t *testing.T) {
	t.Parallel()
	record := func(id, body string, sum [sha256.Size]byte) string {
		return archivetest.Plain(archivetest.Fields("response", id,
			"WARC-Target-URI: http://a.example/"+id, "Content-Type: application/http; msgtype=response",
			"WARC-Payload-Digest: sha256:"+hex.EncodeToString(sum[:])), archivetest.HTMLHead+"\r\n\r\n"+body)
	}
	file := archivetest.Save(t, "data.warc.gz", archivetest.Zipped(t, archivetest.Info,
		record("1", firstPage, sha256.Sum256([]byte(firstPage))), record("2", "another", sha256.Sum256(nil))))
	i := openIndex(t)
	sum, found := imported(t, i, importOptions{}, file)
	if sum.Entries != 1 || len(found) > 0 {
		t.Errorf("imported %+v, found %v; want the record with the right digest", sum, found)
	}
	if o := originOf(t, i, firstPage, "text/html"); o.URI != "http://a.example/1" {
		t.Errorf("the origin is %+v", o)
	}
}

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
	slow.Unraced(t, onlyReaders)
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
		sum, found := imported(t, i, importOptions{}, file)
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
