package archive

import (
	"encoding/xml"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// A bag counts the formats of what the servers sent, with their content coding removed. What cannot be read is counted
// too, and revisits, requests and metadata are not.
func TestABagCountsTheFormatsOfItsFiles(t *testing.T) {
	t.Parallel()
	const page, site = "<!DOCTYPE html><html><head><title>x</title></head><body>y</body></html>", "http://a.example/"
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
		"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
	head := func(lines ...string) string { return "HTTP/1.1 200 OK\r\n" + strings.Join(lines, "\r\n") }
	file := archivetest.Save(t, "formats.warc.gz", archivetest.Zipped(
		t, archivetest.Info,
		archivetest.Response("plain", site, head("Content-Type: text/html"), page),
		archivetest.Response("coded", site+"coded?a=b.png", head("Content-Type: text/html", "Content-Encoding: gzip"),
			archivetest.Coded(t, "gzip", page)),
		archivetest.Response("broken", site+"broken.html", head("Content-Encoding: gzip"), page),
		archivetest.Response("none", site+"none", head("Content-Length: 0"), ""),
		archivetest.Response("other", site+"other", head("Content-Type: application/octet-stream"), "\x01\x02\x03\x04"),
		archivetest.Response("picture", site+"picture", head("Content-Type: text/html"), png),
		archivetest.Plain(archivetest.Fields("metadata", "about", "Content-Type: application/warc-fields"), "a: b\r\n"),
	))
	bag := filepath.Join(t.TempDir(), "bag")
	line{[]string{"bag", "-o", bag, "--premis=formats", filepath.Dir(file)}, cli.ExitOK, nil}.run(t)

	got := strings.Split(archivetest.Read(t, filepath.Join(bag, formatsName)), "\n")
	want := []string{
		"file,id,format,version,mime,payloads,bytes",
		"formats.warc.gz,fmt/471,Hypertext Markup Language,5,text/html,2,142",
		"formats.warc.gz,EMPTY,,,,1,0",
		"formats.warc.gz,UNKNOWN,,,,1,4",
		"formats.warc.gz,UNREADABLE,,,,1,0",
		"formats.warc.gz,fmt/11,Portable Network Graphics,1.0,image/png,1,70",
		"",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the formats (-want +got):\n%s", diff)
	}
	text := archivetest.Read(t, filepath.Join(bag, premisName))
	var d described
	archivetest.Must(t, xml.Unmarshal([]byte(text), &d))
	if !strings.Contains(text, "fmt/471 2, EMPTY 1, UNKNOWN 1, UNREADABLE 1, fmt/11 1") ||
		!slices.ContainsFunc(d.Agents, func(a string) bool { return strings.HasPrefix(a, "siegfried 1.") }) {
		t.Errorf("the history does not say which formats were found: %s", text)
	}
	if tags := archivetest.Read(t, filepath.Join(bag, "tagmanifest-sha256.txt")); !strings.Contains(tags, formatsName) {
		t.Errorf("%s is not among the files of the bag: %s", formatsName, tags)
	}
	line{[]string{"bag", "-o", bag + "2", "--premis=format", filepath.Dir(file)}, cli.ExitUsage, []string{"--premis=formats"}}.run(t)
}
