package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

// openIndex opens an empty dedup index.
func openIndex(t testing.TB) *dedup.Index {
	t.Helper()
	o := badger.DefaultOptions(t.TempDir()).WithLogger(nil).WithMemTableSize(8 << 20).WithValueLogFileSize(16 << 20)
	db, err := badger.Open(o)
	archivetest.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	i, err := dedup.Open(db, dedup.Options{Name: uri.ReplayKey})
	archivetest.Must(t, err)
	return i
}

// imported imports files and returns the summary and the findings.
func imported(t testing.TB, i *dedup.Index, o importOptions, paths ...string) (importSummary, []warc.Finding) {
	t.Helper()
	o.Now, o.Plain = func() time.Time { return archivetest.Start }, true
	var found []warc.Finding
	sum, err := importFiles(context.Background(), i, paths, o, func(f warc.Finding) error {
		found = append(found, f)
		return nil
	})
	archivetest.Must(t, err)
	return sum, found
}

// originOf returns the origin that the index has for a payload.
func originOf(t testing.TB, i *dedup.Index, payload, mime string) digest.Origin {
	t.Helper()
	m, err := i.Find(dedup.Query{Key: dedup.Key{Payload: digest.Of([]byte(payload)), Status: 200, MIME: mime}, URI: "http://asks.example/"})
	archivetest.Must(t, err)
	return m.Origin
}

const firstPage = "<p>hello</p>\n<p>one</p>\n"

// everyForm returns a small archive in each format that can be imported.
func everyForm(t testing.TB) (dir string, forms map[string]string, first digest.Origin) {
	t.Helper()
	l := archivetest.New(t)
	first = l.Page("http://www.a.example/", archivetest.HTMLHead, firstPage)
	l.Page("http://www.a.example/chunked", archivetest.ChunkedHead, "<p>in two pieces</p>")
	l.Revisit("https://b.example/copy", archivetest.HTMLHead, first)
	l.Seal()
	dir, file := l.Dir, l.Files()[0]
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		archivetest.Must(t, os.WriteFile(path, content, 0o644))
		return path
	}
	var lines, millis bytes.Buffer
	_, err := index.Build(t.Context(), []string{file}, index.Options{}, &lines, noFinding)
	archivetest.Must(t, err)
	_, err = index.Build(t.Context(), []string{file}, index.Options{Milliseconds: true}, &millis, noFinding)
	archivetest.Must(t, err)
	log := fmt.Sprintf(`%[1]s   200         %[2]d http://www.a.example/ - - text/html #001 %[3]s+40 %[4]s http://www.a.example/ 1vis {"warcFilename":%[5]q,"warcFileOffset":%[6]d}
%[1]s   200         %[2]d https://b.example/copy L http://www.a.example/ text/html #001 %[3]s+40 %[4]s - duplicate:digest {"RevisitRefersToURI":"http://www.a.example/","RevisitRefersToDate":"%[1]s"}
%[1]s   404         %[2]d http://www.a.example/none - - text/html #001 %[3]s+40 %[4]s - lenTrunc {"warcFilename":%[5]q,"warcFileOffset":%[6]d}
`, archivetest.Start.Format("2006-01-02T15:04:05.000Z"), len(firstPage), archivetest.Start.Format("20060102150405")+"123", first.Payload, first.File, first.Offset)
	cdx := fmt.Sprintf(" CDX N b a m s k r M S V g\ncom,a)/ %s http://www.a.example/ text/html 200 %s - - %d %d %s\n",
		archivetest.Start.Format(index.DateLayout), strings.TrimPrefix(first.Payload.String(), "sha1:"), first.Length, first.Offset, first.File)
	pack := filepath.Join(dir, "a.wacz")
	makePackage(t, pack, []string{file})
	hash, size, err := warc.HashFile(pack)
	archivetest.Must(t, err)
	plainFile := write("plain.warc", archivetest.Unzipped(t, file))
	return dir, map[string]string{
		"gzip WARC": file, "plain WARC": plainFile, "WACZ": pack, "CDXJ": write("x.cdxj", lines.Bytes()), "CDX": write("x.cdx", []byte(cdx)),
		"CDXJ with milliseconds": write("z.cdxj", millis.Bytes()), "a compressed index": write("y.cdxj.gz", archivetest.Zipped(t, lines.String())), "crawl.log": write("crawl.log", []byte(log)),
		"a log of another name": write("old-log-2024", []byte(log)),
		"a manifest":            write("list.json", fmt.Appendf(nil, `{"resources":[{"name":"a.wacz","hash":%q,"size":%d,"crawlId":"c1"}]}`, hash, size)),
	}, first
}

func makePackage(t testing.TB, out string, paths []string) {
	t.Helper()
	_, err := wacz.Write(context.Background(), paths, wacz.Options{Out: out, Now: archivetest.Start}, noFinding)
	archivetest.Must(t, err)
}

// TestFramingIsImported imports a page in chunks. It is the original of captures in chunks alone. Indexes and logs do
// not have the framing: they are refused unless the operator knows it.
func TestFramingIsImported(t *testing.T) {
	t.Parallel()
	_, forms, _ := everyForm(t)
	i := openIndex(t)
	imported(t, i, importOptions{}, forms["gzip WARC"])
	for _, framing := range []string{"", digest.Chunked, "chunked gzip"} {
		key := dedup.Key{Payload: digest.Of([]byte("<p>in two pieces</p>")), Status: 200, MIME: "text/html", Framing: framing}
		m, err := i.Find(dedup.Query{Key: key})
		archivetest.Must(t, err)
		if found := m.Hit != dedup.Miss; found != (framing == digest.Chunked) || m.Origin.Framing != framing && found {
			t.Errorf("with the framing %q, the index finds %+v", framing, m)
		}
	}
	for _, name := range []string{"CDXJ", "CDX", "crawl.log"} {
		o := importOptions{Now: func() time.Time { return archivetest.Start }}
		sum, err := importFiles(t.Context(), openIndex(t), []string{forms[name]}, o, func(warc.Finding) error { return nil })
		if err != nil || sum.Errors != 1 || sum.Files != 0 {
			t.Errorf("%s: imported %+v, %v; want one error", name, sum, err)
		}
	}
}

func TestEveryFormatIsImported(t *testing.T) {
	t.Parallel()
	_, forms, first := everyForm(t)
	for name, file := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := openIndex(t)
			sum, found := imported(t, i, importOptions{}, file)
			if sum.Files != 1 || sum.Errors != 0 || sum.Entries == 0 {
				t.Fatalf("imported %+v, found %v", sum, found)
			}
			got := originOf(t, i, firstPage, "text/html")
			if got.URI != first.URI || got.Date.Unix() != first.Date.Unix() || name != "plain WARC" && (got.File != first.File || got.Offset != first.Offset) {
				t.Errorf("the origin is %+v, want %+v", got, first)
			}
			if want := first.Date.Truncate(time.Millisecond); name == "CDXJ with milliseconds" && !got.Date.Equal(want) {
				t.Errorf("the date of the origin is %s, want %s", got.Date, want)
			}
			if got.RecordID != "" && got.RecordID != first.RecordID || got.Size != 0 && got.Size != first.Size {
				t.Errorf("the origin is %+v, want %+v", got, first)
			}
			rows, err := inventory(t.Context(), i)
			if n := sum.Revisits; err != nil || rows[1].Referred != min(1, n) || rows[1].References != n {
				t.Errorf("the index holds %+v, %v; %d revisits of at most one origin were imported", rows, err, n)
			}
			if want := map[string]string{"WACZ": "a.wacz", "a manifest": "a.wacz"}[name]; i.Container(got) != want {
				t.Errorf("the origin is in the package %q, want %q", i.Container(got), want)
			}
			again, _ := imported(t, i, importOptions{}, file)
			if again != (importSummary{Known: 1}) || len(i.Collections()) != 1 {
				t.Errorf("importing the file again returns %+v, %v", again, i.Collections())
			}
			if other, _ := imported(t, i, importOptions{Crawl: "c2"}, file); (other.Known == 0) == (name == "a manifest") { // it names a crawl
				t.Errorf("importing the file of another crawl returns %+v", other)
			}
		})
	}
}

func TestFolderImportsItsWARCsAndPackages(t *testing.T) {
	t.Parallel()
	dir, _, _ := everyForm(t)
	sum, found := imported(t, openIndex(t), importOptions{}, dir)
	if sum.Files != 3 || len(found) != 0 {
		t.Errorf("imported %+v, %v; want two WARC files and a package", sum, found)
	}
}

func TestFilesOfWgetAreImported(t *testing.T) {
	t.Parallel()
	dir, site := archivetest.Wget(t)
	for _, row := range []struct {
		name    string
		file    string
		entries int64
		refs    int64
	}{
		{"its WARC: page, picture and robots.txt; the chunked page has the digest of its chunks", "one.warc.gz", 3, 0},
		{"its revisits", "two.warc.gz", 0, 2},
		{"its plain WARC", "plain.warc", 1, 0},
		{"its index, with record ids", "one.cdx", 4, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			i := openIndex(t)
			sum, found := imported(t, i, importOptions{}, filepath.Join(dir, row.file))
			if sum.Entries != row.entries || sum.Revisits != row.refs || sum.Errors > 0 {
				t.Errorf("imported %+v, %v; want %d originals and %d revisits", sum, found, row.entries, row.refs)
			}
			if row.refs > 0 {
				return
			}
			if o := originOf(t, i, "GIF89a, more or less", "image/gif"); o.URI != site+"/picture.gif" || o.RecordID == "" {
				t.Errorf("the origin of the picture is %+v", o)
			}
		})
	}
}

// TestAnInterruptedImportResumes interrupts an import within a file, in each format.
func TestAnInterruptedImportResumes(t *testing.T) {
	t.Parallel()
	l := archivetest.New(t)
	for n := range 2 * maxImportBatch {
		l.Page(fmt.Sprintf("http://a.example/%d", n), archivetest.HTMLHead, fmt.Sprintf("page %d", n))
	}
	l.Seal()
	var lines bytes.Buffer
	if _, err := index.Build(t.Context(), l.Files(), index.Options{}, &lines, noFinding); err != nil {
		t.Fatal(err)
	}
	pack := filepath.Join(t.TempDir(), "a.wacz")
	makePackage(t, pack, l.Files())
	for name, file := range map[string]string{"WARC": l.Files()[0], "WACZ": pack, "CDXJ": archivetest.Save(t, "a.cdxj", lines.Bytes()), "compressed CDXJ": archivetest.Save(t, "a.cdxj.gz", archivetest.Zipped(t, lines.String()))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := openIndex(t)
			now := func() time.Time { return archivetest.Start }
			im := &importing{index: i, o: importOptions{Now: now, Plain: true}, report: noFinding}
			task := importTask{file: file, name: "a", format: formatOf(file)}
			read, err := im.reader(task)
			archivetest.Must(t, err)
			hash, _, err := warc.HashFile(file)
			archivetest.Must(t, err)
			f := fileImport{importing: im}
			archivetest.Must(t, f.begin(dedup.Collection{Name: "a", Hash: hash}))
			power := errors.New("the power went off")
			cut := func(ctx context.Context, from int64, receive receiver, report func(warc.Finding) error) error {
				n := 0
				return read(ctx, from, func(f dedup.Found, ok bool, after int64) error {
					if ok {
						n++
					}
					if n > maxImportBatch+10 {
						return power
					}
					return receive(f, ok, after)
				}, report)
			}
			if err := readInBatches(t.Context(), 0, cut, f.take, im.report); !errors.Is(err, power) {
				t.Fatal(err)
			}
			var files []importedFile
			o := importOptions{Done: func(f importedFile) error { files = append(files, f); return nil }}
			sum, found := imported(t, i, o, file)
			if sum.Entries != 2*maxImportBatch || len(found) > 0 || len(files) != 1 || !files[0].Resumed {
				t.Errorf("imported %+v, %+v, %v; want %d originals, each once", sum, files, found, 2*maxImportBatch)
			}
			rows, err := inventory(t.Context(), i)
			if err != nil || rows[1].Originals != 2*maxImportBatch {
				t.Errorf("the index holds %+v, %v", rows, err)
			}
		})
	}
}

func TestFilesThatLeaveAManifestAreRemoved(t *testing.T) {
	t.Parallel()
	dir, forms, _ := everyForm(t)
	list := forms["a manifest"]
	i := openIndex(t)
	imported(t, i, importOptions{}, list)
	text, err := os.ReadFile(list)
	archivetest.Must(t, err)
	if sum, _ := imported(t, i, importOptions{Remove: true}, list); sum.Removed != 0 || sum.Known != 1 {
		t.Errorf("a file of the manifest was removed: %+v", sum)
	}
	other := filepath.Join(dir, "other.json")
	for _, file := range []string{list, other} {
		archivetest.Must(t, os.WriteFile(file, bytes.ReplaceAll(text, []byte(`"a.wacz"`), []byte(`"b.wacz"`)), 0o644))
	}
	if sum, _ := imported(t, i, importOptions{Remove: true}, other); sum.Removed != 0 {
		t.Errorf("another manifest removed %+v", sum)
	}
	if sum, _ := imported(t, i, importOptions{}, list); sum.Removed != 0 {
		t.Errorf("a file was removed without --remove: %+v", sum)
	}
	sum, found := imported(t, i, importOptions{Remove: true}, list)
	if sum.Removed != 1 || len(found) != 1 || found[0].Kind != warc.Unreadable {
		t.Errorf("removed %+v, found %v", sum, found)
	}
	if o := originOf(t, i, firstPage, "text/html"); !o.IsZero() {
		t.Errorf("a record of the removed file is still in the index: %+v", o)
	}
}

func TestBadFilesAreReportedAndTheRestIsImported(t *testing.T) {
	t.Parallel()
	dir, forms, _ := everyForm(t)
	whole, err := os.ReadFile(forms["gzip WARC"])
	archivetest.Must(t, err)
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-len(flipped)/3] ^= 0x40
	list := func(line string) []byte { return []byte(`{"resources":[` + line + `]}`) }
	for _, row := range []struct {
		name    string
		file    string
		content []byte
		kind    warc.Kind
		entries bool // whether some records of the file are imported
	}{
		{"a file that is cut", "x.warc.gz", whole[:len(whole)-10], warc.Truncated, true},
		{"a file with a flipped bit", "x.warc.gz", flipped, warc.Gzip, true},
		{"an empty file", "x.warc.gz", nil, warc.Empty, false},
		{"an ARC file that is cut", "x.arc", []byte("filedesc://x 0.0.0.0 20200101000000 text/plain 10\n"), warc.BadHeader, false},
		{"a picture", "x.png", []byte("\x89PNG\r\n\x1a\n and so on"), warc.NotWARC, false},
		{"a package that is not valid", "x.wacz", []byte("PK\x03\x04 and no more"), warc.NotWARC, false},
		{"an index with a line that is not valid", "x.cdxj", []byte("com,a)/ 20200101000000 {\"url\":\"http://a.example/\"\nwhat?\n"), warc.BadHeader, false},
		{"an index with too few fields", "x.cdx", []byte(" CDX N b a\ncom,a)/ 20200101000000\n"), warc.BadHeader, false},
		{"a log with a line that is not valid", "x.log", []byte("this is no line of a log\n"), warc.BadHeader, false},
		{"a compressed index that is cut", "x.cdxj.gz", archivetest.Zipped(t, strings.Repeat("com,a)/ 20200101000000 {\"url\":\"http://a.example/\"}\n", 9))[:40], warc.Truncated, false},
		{"a manifest that is not valid", "x.json", []byte("[1, 2"), warc.BadHeader, false},
		{"a manifest without resources", "x.json", []byte("{}"), warc.BadHeader, false},
		{"a manifest with a file that is not there", "x.json", list(`{"name":"gone.wacz"}`), warc.Unreadable, false},
		{"a manifest with a file of the network", "x.json", list(`{"name":"a.wacz","path":"https://a.example/a.wacz"}`), warc.Unreadable, false},
		{"a manifest with another hash", "x.json", list(`{"name":"a.wacz","hash":"sha256:0000"}`), warc.BlockDigest, false},
		{"a manifest with another size", "x.json", list(`{"name":"a.wacz","size":7}`), warc.Length, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			sub := t.TempDir()
			file := filepath.Join(sub, row.file)
			archivetest.Must(t, os.WriteFile(file, row.content, 0o644))
			pack, err := os.ReadFile(forms["WACZ"])
			if err == nil {
				err = os.WriteFile(filepath.Join(sub, "a.wacz"), pack, 0o644)
			}
			archivetest.Must(t, err)
			sum, found := imported(t, openIndex(t), importOptions{}, file, forms["CDX"], filepath.Join(dir, "missing.warc.gz"))
			kinds := map[warc.Kind]int{warc.Unreadable: -1} // the finding of the missing file
			for _, f := range found {
				kinds[f.Kind]++
			}
			if kinds[row.kind] < 1 || kinds[warc.Unreadable] < 0 {
				t.Errorf("found %v, want the missing file and %s", found, row.kind)
			}
			if sum.Errors != len(found) || (sum.Entries > 1) != row.entries || sum.Entries < 1 {
				t.Errorf("imported %+v, want %d errors and the intact records", sum, len(found))
			}
		})
	}
}

// FuzzLineParsers checks that the parsers accept any line, and that the index can hold what they return.
func FuzzLineParsers(f *testing.F) {
	f.Add("com,a)/ 20200101000000 {\"url\":\"http://a.example/\",\"digest\":\"sha1:KA64BYVGVNNI5NHPC5SEGJGDTFLRKZ54\",\"status\":\"200\"}")
	f.Add(" CDX N b a m s k r M S V g")
	f.Add("com,a)/ 20200101000000 http://a.example/ text/html 200 KA64BYVGVNNI5NHPC5SEGJGDTFLRKZ54 - - 1 2 a.warc.gz")
	f.Add("2026-01-02T06:00:00.000Z   200       4000 http://news.example/ - - text/html #001 20260102055959960+40 sha1:KA64BYVGVNNI5NHPC5SEGJGDTFLRKZ54 - -")
	f.Add("com,a)/ 20200101000000 {\"url\":\"http://a.example/\\n\",\"digest\":\"sha1:KA64BYVGVNNI5NHPC5SEGJGDTFLRKZ54\",\"status\":\"200\"}")
	f.Fuzz(func(t *testing.T, line string) {
		for _, parse := range []lineParser{parseCDXJLine, parseCDXLine(), parseLogLine} {
			found, ok, err := parse(line)
			if ok && (err != nil || found.Payload.IsZero() || found.Origin.IsZero() || !found.Revisit && (!usable(found) || strings.Contains(found.Origin.URI, "\n"))) {
				t.Errorf("%q: got %+v, %v", line, found, err)
			}
		}
	})
}

func TestFilesAreImportedInTheirOrder(t *testing.T) {
	t.Parallel()
	dir, forms, _ := everyForm(t)
	var paths []string
	for n := range 12 { // the same bytes under many names: the first file is imported, the others are skipped as known
		copied := filepath.Join(dir, fmt.Sprintf("copy-%02d.cdxj", n))
		text, err := os.ReadFile(forms["CDXJ"])
		archivetest.Must(t, err)
		if n%2 == 1 {
			text = append(text, fmt.Sprintf("org,example-%d)/ 20260301120000 {\"url\": \"http://example-%d.org/\"}\n", n, n)...)
		}
		archivetest.Must(t, os.WriteFile(copied, text, 0o644))
		paths = append(paths, copied)
	}
	i := openIndex(t)
	var order []string
	o := importOptions{Done: func(f importedFile) error {
		order = append(order, fmt.Sprint(filepath.Base(f.File), " ", f.Known))
		return nil
	}}
	sum, found := imported(t, i, o, paths...)
	var want []string
	for n := range 12 {
		want = append(want, fmt.Sprintf("copy-%02d.cdxj %t", n, n%2 == 0 && n > 0))
	}
	if !slices.Equal(order, want) || sum.Known != 5 || sum.Files != 7 || len(found) > 0 {
		t.Errorf("imported %+v in the order %q, %v; want %q", sum, order, found, want)
	}
	for n, c := range i.Collections() {
		if want := fmt.Sprintf("copy-%02d.cdxj", max(0, 2*n-1)); c.Name != want {
			t.Errorf("the collection %d is %s, want %s", c.Number, c.Name, want)
		}
	}
	full := errors.New("the disk is full")
	now := func() time.Time { return archivetest.Start }
	once := importOptions{Now: now, Plain: true, Added: func() error { return full }}
	_, err := importFiles(t.Context(), openIndex(t), paths, once, func(warc.Finding) error { return nil })
	if !errors.Is(err, full) {
		t.Errorf("Files = %v, want %v", err, full)
	}
}
