package archive

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

const (
	importedPage = "<p>imported</p>"
	importedURI  = "http://old.example/"
)

// importedRecords returns the records of an earlier archive: a page, and a revisit of it.
func importedRecords() (original, revisit string) {
	const refersTo = "WARC-Refers-To: <urn:x:1>\r\nWARC-Refers-To-Target-URI: " + importedURI +
		"\r\nWARC-Refers-To-Date: 2026-11-21T09:00:00Z\r\nWARC-Target-URI: " + importedURI +
		"\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	revisit = archivetest.Plain(archivetest.Fields("revisit", "2", refersTo,
		"WARC-Payload-Digest: "+digest.Of([]byte(importedPage)).String()), "")
	return archivetest.Response("1", importedURI, archivetest.HTMLHead, importedPage), strings.Replace(revisit, "2026-11", "2026-12", 1)
}

// earlier writes an earlier archive: a WARC file, and a manifest with a package of it.
func earlier(t *testing.T) (dir, plain, manifest string) {
	t.Helper()
	dir = t.TempDir()
	original, revisit := importedRecords()
	plain, manifest = filepath.Join(dir, "b.warc"), filepath.Join(dir, "collection.json")
	daemontest.WriteFile(t, plain, archivetest.Info+original+revisit)
	if code, out, errs := command("wacz", "-o", filepath.Join(dir, "d.wacz"), plain); code != cli.ExitOK {
		t.Fatal(out, errs)
	}
	daemontest.WriteFile(t, manifest, `{"resources":[{"name":"d.wacz","path":"d.wacz","crawlId":"crawl-7"}]}`)
	return dir, plain, manifest
}

// dedupStatus returns the imported files that status --json lists.
func dedupStatus(t *testing.T, conf string) []dedup.Row {
	t.Helper()
	code, out, errs := command("dedup", "status", "-c", conf, "--json")
	var list []dedup.Row
	if err := json.Unmarshal([]byte(out), &list); code != cli.ExitOK || err != nil || len(list) == 0 || list[0].Name != "(this crawl)" {
		t.Fatalf("dedup status: exit code %d, %v\n%s%s", code, err, out, errs)
	}
	return list[1:]
}

// TestDedupForgetsRemovedFiles removes a file, by its manifest and by its name, and purges its entries.
func TestDedupForgetsRemovedFiles(t *testing.T) {
	t.Parallel()
	dir, plain, manifest := earlier(t)
	conf, _ := daemontest.Configure(t, daemontest.Settled)
	run := func(want int, says string, args ...string) {
		t.Helper()
		line{append([]string{"dedup", args[0], "-c", conf}, args[1:]...), want, []string{says}}.run(t)
	}
	state := func(want string) {
		t.Helper()
		got := ""
		for _, h := range dedupStatus(t, conf) {
			got += fmt.Sprintf("%s %s %d; ", h.Name, h.State, h.Originals)
		}
		if got != want {
			t.Errorf("the index holds %s, want %s", got, want)
		}
	}
	run(cli.ExitOK, `{"summary":{"files":1,"known":0,"removed":0,"entries":1,"revisits":1,`, "import", "--json", manifest)
	run(cli.ExitOK, "crawl-7", "status")
	daemontest.WriteFile(t, filepath.Join(dir, "other.warc.gz"), string(archivetest.Zipped(t, archivetest.Info, archivetest.Response("9", "http://old.example/9", archivetest.HTMLHead, "nine"))))
	daemontest.WriteFile(t, manifest, `{"resources":[{"name":"other.warc.gz"},{"name":"lost.wacz","path":"lost.wacz"}]}`)
	run(cli.ExitDamaged, filepath.Join(dir, "lost.wacz")+": error: the manifest names this file: stat: no such file or directory", "import", manifest)
	state("d.wacz active 1; other.warc.gz active 1; ")
	daemontest.WriteFile(t, manifest, `{"resources":[{"name":"other.warc.gz"}]}`)
	run(cli.ExitOK, "1 removed", "import", "--remove", manifest)
	state("d.wacz removed 1; other.warc.gz active 1; ")
	run(cli.ExitOK, "0 removed", "import", "--remove", manifest)
	run(cli.ExitUsage, "no imported file has the number or name none", "remove", "none")
	run(cli.ExitOK, "other.warc.gz: removed", "remove", "other.warc.gz")
	run(cli.ExitOK, "1 known before", "import", manifest) // it is taken back
	state("d.wacz removed 1; other.warc.gz active 1; ")
	run(cli.ExitOK, "entries deleted", "remove", "--purge")
	state("other.warc.gz active 1; ")
	run(cli.ExitOK, "0 entries deleted", "remove", "--purge")
	run(cli.ExitUsage, "valid formats: warc, arc, wacz", "import", "--as", "tape", manifest)
	run(cli.ExitOK, "1 file with 1 original", "import", "--as", "warc", "--crawl", "c9", plain)
	if list := dedupStatus(t, conf); len(list) != 2 || list[1].Crawl != "c9" {
		t.Errorf("the index holds %+v", list)
	}
}

// TestDedupLostPrintsWhatIsLost declares the file with an original lost. Before that, the command prints its captures
// and the revisit in another file that needs it, by host and month.
func TestDedupLostPrintsWhatIsLost(t *testing.T) {
	t.Parallel()
	conf, dir := daemontest.Configure(t, daemontest.Settled)
	folder := filepath.Join(dir, "warc")
	archivetest.Must(t, os.MkdirAll(folder, 0o755))
	page, revisit := importedRecords()
	original, later := filepath.Join(folder, "first.warc.gz"), filepath.Join(folder, "second.warc.gz")
	daemontest.WriteFile(t, original, string(archivetest.Zipped(t, archivetest.Info, page)))
	daemontest.WriteFile(t, later, string(archivetest.Zipped(t, archivetest.Info, revisit)))
	run := func(args ...string) (out, errs string) {
		t.Helper()
		return line{args, cli.ExitOK, nil}.run(t)
	}
	c, err := config.Load(conf)
	archivetest.Must(t, err)
	f, err := daemon.MakeStore(t.Context(), c, time.Now(), false)
	if err == nil {
		err = f.Close()
	}
	archivetest.Must(t, err)
	if _, errs := run("dedup", "lost", "-c", conf, "--moved", later); errs != "" {
		t.Errorf("a file that was moved has an impact: %s", errs)
	}
	if _, errs := run("dedup", "lost", "-c", conf, original); !strings.Contains(errs, "the impact is not known") {
		t.Errorf("without an index it says %q", errs)
	}
	run("dedup", "lost", "-c", conf, "--found", original, later)
	run("index", "-o", filepath.Join(folder, "index.cdxj"), folder)
	archivetest.Must(t, os.Remove(original))
	out, errs := run("dedup", "lost", "-c", conf, original)
	rows := strings.Fields(out)
	for _, want := range []string{"old.example", "2026-11", "2026-12"} {
		if !slices.Contains(rows, want) {
			t.Errorf("%q is missing in\n%s%s", want, out, errs)
		}
	}
	if !strings.Contains(out, "1 file now lost; 0 URIs due") {
		t.Errorf("it says\n%s%s", out, errs)
	}
	if out, _ := run("dedup", "lost", "-c", conf); !strings.Contains(out, "first.warc.gz") || strings.Contains(out, "second") {
		t.Errorf("the list of losses is\n%s", out)
	}
}
