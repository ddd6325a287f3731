package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// exported returns the entries that arcrawl frontier list --output writes.
func exported(t *testing.T, conf string) map[uri.URI]frontier.Entry {
	t.Helper()
	all := map[uri.URI]frontier.Entry{}
	lines := bufio.NewScanner(strings.NewReader(steer(t, conf, cli.ExitOK, "", "list", "--output", "-")))
	lines.Buffer(nil, cli.MaxLine)
	for lines.Scan() {
		var e frontier.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		all[e.URI] = e
	}
	return all
}

// TestALostStoreIsRebuilt crawls the demo site for some seconds, and rebuilds the store without the old one.
func TestALostStoreIsRebuilt(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := filepath.Join(t.TempDir(), "demo")
	if code, out, errs := command("demo", "--for", "6s", "--dir", dir); code != cli.ExitOK {
		t.Fatal(code, out, errs)
	}
	conf := filepath.Join(dir, "arcrawl.toml")
	before := exported(t, conf)
	days := func() string { _, out, _ := command("report", "days", "--config", conf); return out }
	counted := days()
	steer(t, conf, cli.ExitFolder, "move the content of that folder away", "backup", "restore", "--rebuild")
	if err := os.Rename(filepath.Join(dir, "state"), filepath.Join(dir, "lost")); err != nil {
		t.Fatal(err)
	}
	rotate(t, filepath.Join(dir, "crawl.log"))
	daemontest.WriteFile(t, filepath.Join(dir, "crawl.log.1"), readText(t, filepath.Join(dir, "crawl.log.1"))+"no line of a log\n")
	code, out, errs := command("backup", "restore", "--rebuild", "--links", "--config", conf)
	if code != cli.ExitOK || !strings.Contains(out, "1 faulty line skipped") || !strings.Contains(out, " 0 missing") ||
		!strings.Contains(errs, "not read: "+filepath.Join(dir, "crawl.log.1")+`: "no line of a log": `) {
		t.Fatalf("exit code %d:\n%s%s", code, out, errs)
	}
	if !strings.Contains(out, "unvisited URIs found in ") {
		t.Errorf("the archived pages were not read:\n%s", out)
	}
	if strings.HasPrefix(out, "0 visits") || strings.Contains(out, "\n0 last payloads") {
		t.Errorf("nothing was rebuilt:\n%s", out)
	}
	steer(t, conf, cli.ExitOK, "0 visits missing", "backup", "restore", "--missing")
	steer(t, conf, cli.ExitOK, "", "list")
	after := exported(t, conf)
	if again := days(); again != counted || !strings.Contains(counted, "127.0.0.1") {
		t.Errorf("the accounts of days were\n%s\nand are\n%s", counted, again)
	}
	for u, want := range before {
		if want.Visits == 0 && want.LastStatus == 0 {
			if _, ok := after[u]; !ok && !strings.Contains(want.Via, "feed") && !strings.Contains(want.Via, "sitemap") && !strings.HasSuffix(want.Via, "/robots.txt") {
				t.Errorf("%s was found on %s but not visited, and is not in the new store", u, want.Via)
			}
			delete(after, u)
			continue
		}
		if diff := cmp.Diff(rebuildable(want), rebuildable(after[u]), cmp.Comparer(func(a, b uri.URI) bool { return a == b })); diff != "" {
			t.Errorf("%s: -lost +rebuilt:\n%s", u, diff)
		}
		if early := want.Due.Sub(after[u].Due); early > 0 || early < -2*time.Millisecond {
			t.Errorf("%s is due %s too early", u, early)
		}
		delete(after, u)
	}
	if len(before) < 20 || len(after) > 0 {
		t.Errorf("%d URIs were lost, %v are in the new store only", len(before), after)
	}
	// What is archived is known again once it is imported, as the help says.
	status := func() string { _, out, _ := command("dedup", "--config", conf); return out }
	if none := status(); strings.Contains(none, ".warc.gz") {
		t.Errorf("the index is not empty:\n%s", none)
	}
	if code, out, errs := command("dedup", "import", "--config", conf, filepath.Join(dir, "warc")); code != cli.ExitOK || !strings.Contains(status(), ".warc.gz") {
		t.Errorf("import of the archive: %d\n%s%s%s", code, out, errs, status())
	}
	if code, out, errs := command("check", "--store", "--config", conf); code != cli.ExitOK {
		t.Errorf("check --store: %d\n%s%s", code, out, errs)
	}
}

// rotate divides a log into two files.
func rotate(t *testing.T, log string) {
	t.Helper()
	text := readText(t, log)
	half := strings.IndexByte(text[len(text)/2:], '\n') + len(text)/2 + 1
	daemontest.WriteFile(t, log+".1", text[:half])
	daemontest.WriteFile(t, log, text[half:])
}

// rebuildable returns an entry without the fields that neither the log nor the archive has.
func rebuildable(e frontier.Entry) frontier.Entry {
	ms := func(t time.Time) time.Time { return t.Truncate(time.Millisecond) }
	e.LastVisit, e.LastCapture = ms(e.LastVisit), ms(e.LastCapture)
	e.LastRead, e.LastChange = ms(e.LastRead), ms(e.LastChange)
	e.FirstSeen, e.Born = ms(e.FirstSeen), ms(e.Born)
	e.Source, e.Prompt = "", false
	if strings.Contains(e.Why, "young article") {
		e.Wait = 0 // the log has the age that decided
	}
	if e.Why = e.Why[:min(len(e.Why), frontier.MaxWhy)]; strings.HasSuffix(e.URI.String(), "/robots.txt") {
		e.Why = "" // the log has what came of it
	}
	e.Memory, e.Recent, e.Comparison.Sketch, e.Chain = "", evaluators.Ring{}, 0, ""
	e.Rate, _ = strconv.ParseFloat(strconv.FormatFloat(e.Rate, 'g', 4, 64), 64) // the log has four digits
	e.Wait, e.Due = e.Wait.Truncate(time.Second), time.Time{}                   // looked at by itself
	return e
}
