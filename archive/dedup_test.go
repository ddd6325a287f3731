package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/importer"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

const (
	importedPage = "<p>imported</p>"
	importedURI  = "http://old.example/"
)

// warcResponse returns a response of HTML as text.
func warcResponse(id, target, body string) string {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-11-20T09:00:00Z\r\nWARC-Record-ID: <urn:x:%s>\r\n"+
		"Content-Type: application/http;msgtype=response\r\nWARC-Payload-Digest: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		target, id, digest.Of([]byte(body)), len(block), block)
}

// earlier writes an earlier archive in each form that can be imported.
func earlier(t *testing.T) (dir string, forms map[string]string) {
	t.Helper()
	dir = t.TempDir()
	sum := digest.Of([]byte(importedPage)).String()
	revisit := "WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Target-URI: http://old.example/copy\r\nWARC-Date: 2026-11-20T10:00:00Z\r\nWARC-Record-ID: <urn:x:2>\r\n" +
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\nWARC-Refers-To: <urn:x:1>\r\nWARC-Refers-To-Target-URI: " + importedURI +
		"\r\nWARC-Refers-To-Date: 2026-11-20T09:00:00Z\r\nWARC-Payload-Digest: " + sum + "\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
	texts := []string{warcInfo, warcResponse("1", importedURI, importedPage), revisit}
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		daemontest.WriteFile(t, path, content)
		return path
	}
	gz := write("a.warc.gz", string(members(texts...)))
	forms = map[string]string{
		"WARC, gzip": gz, "WARC, plain": write("b.warc", strings.Join(texts, "")), "CDXJ": filepath.Join(dir, "c.cdxj"), "WACZ": filepath.Join(dir, "d.wacz"),
		"CDX": write("e.cdx", " CDX N b a m s k r M S V g\nexample,old)/ 20261120090000 "+importedURI+" text/html 200 "+strings.TrimPrefix(sum, "sha1:")+" - - 300 200 a.warc.gz\n"),
		"crawl.log of Heritrix": write("crawl.log", "2026-11-20T09:00:00.000Z   200         15 "+importedURI+" - - text/html #042 20261120090000000+51 "+sum+
			` - - {"contentSize":15,"warcFilename":"a.warc.gz","warcFileOffset":200}`+"\n"+
			"2026-11-20T10:00:00.000Z   200         15 http://old.example/copy L "+importedURI+" text/html #042 20261120100000000+51 "+sum+
			` - warcRevisit:digest,duplicate:digest {"contentSize":15}`+"\n"),
	}
	for _, args := range [][]string{{"index", "-o", forms["CDXJ"], gz}, {"wacz", "-o", forms["WACZ"], gz}} {
		if code, out, errs := command(args...); code != cli.ExitOK {
			t.Fatal(args, out, errs)
		}
	}
	forms["manifest"] = write("collection.json", `{"resources":[{"name":"d.wacz","path":"d.wacz","crawlId":"crawl-7"}]}`)
	return dir, forms
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

func TestDedupImportTakesEveryForm(t *testing.T) {
	t.Parallel()
	_, forms := earlier(t)
	for name, file := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conf, _ := daemontest.Configure(t, daemontest.Settled)
			code, out, errs := command("dedup", "import", "-c", conf, file)
			if code != cli.ExitOK || !strings.Contains(out, "1 file with 1 original and ") || errs != "" {
				t.Fatalf("exit code %d\n%s%s", code, out, errs)
			}
			once := dedupStatus(t, conf)
			if len(once) != 1 || once[0].Originals != 1 || once[0].State != "active" || name == "manifest" && once[0].Crawl != "crawl-7" {
				t.Fatalf("the index holds %+v", once)
			}
			if code, out, errs := command("dedup", "status", "-c", conf); code != cli.ExitOK || !strings.Contains(out, "(this crawl)") || !strings.Contains(out, filepath.Base(once[0].Name)) {
				t.Errorf("status: exit code %d\n%s%s", code, out, errs)
			}
			other := filepath.Join(t.TempDir(), "moved"+filepath.Ext(strings.TrimSuffix(file, ".gz"))) // the same under another name
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if daemontest.WriteFile(t, other, string(content)); name == "manifest" {
				other = file // its paths are seen from its folder
			}
			code, out, errs = command("dedup", "import", "-c", conf, "--json", file, other)
			var last struct{ Summary importer.Summary }
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || code != cli.ExitOK ||
				last.Summary != (importer.Summary{Known: 2}) {
				t.Errorf("again: exit code %d, %v\n%s%s", code, err, out, errs)
			}
			if again := dedupStatus(t, conf); fmt.Sprint(again) != fmt.Sprint(once) {
				t.Errorf("importing it again changed\n%+v to\n%+v", once, again)
			}
		})
	}
}

// TestDedupForgetsRemovedFiles removes a file, by its manifest and by its name, and purges its entries.
func TestDedupForgetsRemovedFiles(t *testing.T) {
	t.Parallel()
	dir, forms := earlier(t)
	conf, _ := daemontest.Configure(t, daemontest.Settled)
	run := func(want int, says string, args ...string) {
		t.Helper()
		code, out, errs := command(append([]string{"dedup", args[0], "-c", conf}, args[1:]...)...)
		if code != want || !strings.Contains(out+errs, says) {
			t.Errorf("dedup %v: exit code %d, want %d and %q\n%s%s", args, code, want, says, out, errs)
		}
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
	manifest := forms["manifest"]
	run(cli.ExitOK, "1 file with 1 original", "import", manifest)
	daemontest.WriteFile(t, filepath.Join(dir, "other.warc.gz"), string(members(warcInfo, warcResponse("9", "http://old.example/9", "nine"))))
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
	run(cli.ExitOK, "1 file with 1 original", "import", "--as", "warc", "--crawl", "c9", forms["WARC, plain"])
	if list := dedupStatus(t, conf); len(list) != 2 || list[1].Crawl != "c9" {
		t.Errorf("the index holds %+v", list)
	}
}

// interrupted is a standard error that stops the command when it is written to, as Ctrl-C would.
type interrupted struct {
	bytes.Buffer
	stop context.CancelFunc
}

func (i *interrupted) Write(p []byte) (int, error) {
	i.stop()
	return i.Buffer.Write(p)
}

// TestDedupImportResumesWhereItWasInterrupted stops an import in the middle of a file, where it reports damage.
func TestDedupImportResumesWhereItWasInterrupted(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	const n = 10*dedup.MaxBatch + 10 // reading is ahead of the reports, and much is left at the interrupt
	texts := []string{warcInfo}
	for i := range n {
		if i == dedup.MaxBatch+5 {
			texts = append(texts, "no record")
		}
		texts = append(texts, warcResponse(fmt.Sprint(i), fmt.Sprint("http://old.example/", i), fmt.Sprint("page ", i)))
	}
	file := filepath.Join(t.TempDir(), "a.warc.gz")
	daemontest.WriteFile(t, file, string(members(texts...)))
	conf, _ := daemontest.Configure(t, daemontest.Settled)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	errs := &interrupted{stop: stop}
	interruptedCode := cli.Run(ctx, wing(), []string{"dedup", "import", "-c", conf, file}, &bytes.Buffer{}, errs)
	if interruptedCode == cli.ExitOK || !strings.Contains(errs.String(), "no record begins here") {
		t.Fatalf("the import was not interrupted: exit code %d, %s", interruptedCode, errs)
	}
	if h := dedupStatus(t, conf); len(h) != 1 || h[0].State == "active" || h[0].Originals == 0 || h[0].Originals >= n {
		t.Fatalf("after the interruption the index holds %+v", h)
	}
	code, out, printed := command("dedup", "import", "-c", conf, file)
	if want := fmt.Sprintf("%d originals, 0 revisits, ", n); code != cli.ExitOK && code != cli.ExitDamaged || !strings.Contains(out, want) || !strings.Contains(out, "resumed an interrupted import") {
		t.Errorf("exit code %d, want %q\n%s%s", code, want, out, printed)
	}
	if h := dedupStatus(t, conf); len(h) != 1 || h[0].State != "active" || h[0].Originals != n {
		t.Errorf("at the end the index holds %+v", h)
	}
}

// TestDedupLostPrintsWhatIsLost declares the file with an original lost. Before that, the command prints its captures
// and the revisit in another file that needs it, by host and month.
func TestDedupLostPrintsWhatIsLost(t *testing.T) {
	t.Parallel()
	conf, dir := daemontest.Configure(t, daemontest.Settled)
	folder := filepath.Join(dir, "warc")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	sum := digest.Of([]byte(importedPage)).String()
	revisit := "WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Target-URI: " + importedURI +
		"\r\nWARC-Date: 2026-12-20T10:00:00Z\r\nWARC-Record-ID: <urn:x:2>\r\n" +
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n" +
		"WARC-Refers-To: <urn:x:1>\r\nWARC-Refers-To-Target-URI: " + importedURI +
		"\r\nWARC-Refers-To-Date: 2026-11-20T09:00:00Z\r\nWARC-Payload-Digest: " + sum + "\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
	original, later := filepath.Join(folder, "first.warc.gz"), filepath.Join(folder, "second.warc.gz")
	daemontest.WriteFile(t, original, string(members(warcInfo, warcResponse("1", importedURI, importedPage))))
	daemontest.WriteFile(t, later, string(members(warcInfo, revisit)))
	run := func(args ...string) (out, errs string) {
		t.Helper()
		code, out, errs := command(args...)
		if code != cli.ExitOK {
			t.Fatalf("%q: exit code %d\n%s%s", args, code, out, errs)
		}
		return out, errs
	}
	c, err := config.Load(conf)
	if err != nil {
		t.Fatal(err)
	}
	f, err := daemon.MakeStore(t.Context(), c, time.Now(), false)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, errs := run("dedup", "lost", "-c", conf, "--moved", later); errs != "" {
		t.Errorf("a file that was moved has an impact: %s", errs)
	}
	if _, errs := run("dedup", "lost", "-c", conf, original); !strings.Contains(errs, "the impact is not known") {
		t.Errorf("without an index it says %q", errs)
	}
	run("dedup", "lost", "-c", conf, "--found", original, later)
	run("index", "-o", filepath.Join(folder, "index.cdxj"), folder)
	if err := os.Remove(original); err != nil {
		t.Fatal(err)
	}
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
