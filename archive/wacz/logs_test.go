package wacz

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// line returns a line of a crawl log. The visit began at the beginning of a minute of the day of the archive, unless
// nothing was sent.
func line(logged, began, status, uri string) string {
	return "2026-11-21T" + logged + ":30.000Z " + status + " 5 " + uri + " - - text/html #001 " + began + " sha1:X " + uri + " -\n"
}

func TestPackagesHaveTheLogOfTheirPeriod(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	first, last := archivetest.Start, l.Now.Add(-time.Hour) // of the captures
	at := func(d time.Time) string { return strings.Replace(d.Format("20060102150405.000"), ".", "", 1) + "+12" }
	page := "http://www.a.example/"
	before := line("00:00", "20261101000000000+1", "  200", page)
	in := line("23:59", at(first), "  200", page)
	other := line("23:59", at(last), "  200", "http://b.example/")
	failed := strings.Replace(line("00:00", "-", "   -2", "http://dead.example/"), "2026-11-21T00:00:30.000Z",
		first.Format("2006-01-02T15:04:05.000Z"), 1)
	after := line("23:59", "20270101000000000+1", "  200", page)
	log := archivetest.Save(t, "crawl.log", []byte("noise\n"+before+in+other+failed+after))
	zipped := archivetest.Save(t, "crawl.log.1.gz", archivetest.Zipped(t, in))
	empty := archivetest.Save(t, "crawl.log.2", []byte(before))

	z, _ := packed(t, l.Files(), Options{Logs: Logs{Files: []string{log, zipped, empty}}})
	if got := string(member(t, z, "logs/crawl.log")); got != in+other+failed {
		t.Errorf("the log of the captures is\n%swant\n%s", got, in+other+failed)
	}
	if got := string(member(t, z, "logs/crawl.log.1")); got != in {
		t.Errorf("the compressed log is\n%swant\n%s", got, in)
	}
	if f, err := z.Open("logs/crawl.log.2"); err == nil {
		_ = f.Close()
		t.Error("the package has a log without lines")
	}
	if d := string(member(t, z, "datapackage.json")); !strings.Contains(d, `"path": "logs/crawl.log"`) {
		t.Errorf("the manifest does not list the log:\n%s", d)
	}
	z, _ = packed(t, l.Files(), Options{Logs: Logs{
		Files: []string{log}, To: last.AddDate(1, 0, 0),
		Select: func(uri string, _ time.Time) bool { return uri == page },
	}})
	if got := string(member(t, z, "logs/crawl.log")); got != in+after {
		t.Errorf("the log of a page, also after the last capture, is\n%swant\n%s", got, in+after)
	}
}

func TestLogsOfOneNameAreRefused(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	a, b := archivetest.Save(t, "crawl.log", []byte("x\n")), archivetest.Save(t, "crawl.log.gz", archivetest.Zipped(t, "x\n"))
	_, err := Write(t.Context(), l.Files(), Options{Out: t.TempDir() + "/x.wacz", Logs: Logs{Files: []string{a, b}}}, noFinding)
	if err == nil || !strings.Contains(err.Error(), "have the same name") {
		t.Errorf("two logs of one name: %v", err)
	}
}
