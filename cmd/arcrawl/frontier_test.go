package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// stock creates the store of a stopped daemon with some URIs.
func stock(t *testing.T, texts ...string) (conf string) {
	t.Helper()
	conf, dir := daemontest.Configure(t, daemontest.Settled)
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if _, err := f.Add(time.Now(), frontier.Candidate{URI: uri.FromCanonical(text), Seed: text}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return conf
}

// steer runs visit, hold, release or a command of frontier, and expects an exit code and words.
func steer(t *testing.T, conf string, code int, words string, args ...string) (out string) {
	t.Helper()
	if !slices.Contains([]string{"visit", "hold", "release", "backup"}, args[0]) {
		args = append([]string{"frontier"}, args...)
	}
	got, out, errs := command(append(args, "--config", conf)...)
	if got != code || !strings.Contains(out+errs, words) {
		t.Fatalf("arcrawl %v: exit code %d, want %d with %q:\n%s%s", args, got, code, words, out, errs)
	}
	return out
}

func TestFrontierCommands(t *testing.T) {
	t.Parallel()
	conf := stock(t, "http://a.example/1", "http://a.example/2", "http://b.example/")
	steer(t, conf, cli.ExitOK, "3\n", "list", "--count")
	steer(t, conf, cli.ExitOK, "2\n", "list", "--count", "--host", "a.example", "--state", "due")
	steer(t, conf, cli.ExitOK, "http://b.example/", "list", "--match", `b\.`)
	steer(t, conf, cli.ExitUsage, "no URIs chosen", "hold")
	steer(t, conf, cli.ExitUsage, "unknown --state", "list", "--count", "--state", "tired")
	steer(t, conf, cli.ExitUsage, "re2syntax", "list", "--count", "--match", "(")
	steer(t, conf, cli.ExitOK, "would apply to 2 URIs; nothing was changed", "hold", "--dry-run", "--prefix", "http://a.example/")
	steer(t, conf, cli.ExitOK, "2 of 2 URIs changed", "hold", "--prefix", "http://a.example/")
	steer(t, conf, cli.ExitOK, "held", "list", "--state", "held", "--limit", "1")
	steer(t, conf, cli.ExitOK, "1 of 1 URIs changed", "release", "http://a.example/2")
	steer(t, conf, cli.ExitOK, "1 of 3 URIs changed", "release", "--all")
	steer(t, conf, cli.ExitUsage, "cannot be used together", "visit", "--all", "--at", "2027-01-31T06:00:00Z", "--in", "1h")
	steer(t, conf, cli.ExitOK, "3 of 3 URIs changed", "visit", "--all", "--in", "12h", "--spread", "1h")
	steer(t, conf, cli.ExitOK, "3\n", "list", "--count", "--state", "waiting")
	steer(t, conf, cli.ExitOK, `{"changed":1,"in_progress":0,"matched":1}`, "visit", "--json", "http://b.example/")
	steer(t, conf, cli.ExitOK, "1 of 1 hosts changed", "hold", "a.example")
	steer(t, conf, cli.ExitOK, "1 of 2 hosts changed", "release", "*.example")
	steer(t, conf, cli.ExitFailure, "no known host matches", "hold", "c.example")
	steer(t, conf, cli.ExitUsage, "add --yes to confirm", "forget", "http://b.example/")
	steer(t, conf, cli.ExitOK, "1 of 1 URIs changed", "forget", "--yes", "http://b.example/")
	steer(t, conf, cli.ExitOK, "2\n", "list", "--count")
}

// writeHost writes a host file next to a main file.
func writeHost(t *testing.T, conf, name, text string) {
	t.Helper()
	dir := filepath.Join(filepath.Dir(conf), "hosts.d")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, filepath.Join(dir, name), text)
}

// TestFrontierCommandsChooseByLabel chooses by the label of a domain and the owner of a host below it.
func TestFrontierCommandsChooseByLabel(t *testing.T) {
	t.Parallel()
	conf := stock(t, "http://www.a.example/1", "http://b.a.example/2", "http://c.example/")
	writeHost(t, conf, "a.example.toml", "labels = [\"papers\"]\n")
	writeHost(t, conf, "b.a.example.toml", "owner = \"maria\"\ntitle = \"The B\"\n")
	writeHost(t, conf, "c.example.toml", "collections = [\"elections\"]\n")
	steer(t, conf, cli.ExitOK, "2\n", "list", "--count", "--label", "papers")
	steer(t, conf, cli.ExitOK, "1\n", "list", "--count", "--label", "papers", "--owner", "maria")
	steer(t, conf, cli.ExitOK, "2 of 2 URIs changed", "hold", "--label", "papers")
	steer(t, conf, cli.ExitOK, "1\n", "list", "--count", "--collection", "elections", "--state", "due")
	steer(t, conf, cli.ExitUsage, "in use are labels papers; collections elections; owners maria", "list", "--count", "--label", "paper")
	steer(t, conf, cli.ExitUsage, "leave out --host", "list", "--count", "--label", "papers", "--host", "c.example")
	if code, out, errs := command("host", "list", "--files", "-c", conf, "--label", "papers"); code != cli.ExitOK ||
		strings.Contains(out, "c.example") || !strings.Contains(out, "The B  papers, maria") {
		t.Errorf("host list: exit code %d\n%s%s", code, out, errs)
	}
	writeHost(t, conf, "d.example.toml", "[seed]\n")
	if _, out, _ := command("host", "list", "--files", "-c", conf); !strings.Contains(out, "faulty") || !strings.Contains(out, "The B") {
		t.Errorf("with a faulty file, host list prints\n%s", out)
	}
	if _, out, _ := command("effective", "-c", conf, "b.a.example"); !strings.Contains(out, "labels  papers\n") {
		t.Errorf("effective prints\n%s", out)
	}
}

func TestFrontierExportIsImportedIntoAnotherStore(t *testing.T) {
	t.Parallel()
	from, to := stock(t, "http://a.example/1", "http://a.example/2", "http://b.example/"), stock(t)
	steer(t, from, cli.ExitOK, "", "hold", "http://a.example/1")
	file := filepath.Join(t.TempDir(), "all.jsonl")
	steer(t, from, cli.ExitOK, "", "list", "--output", file)
	if code, _, errs := command("frontier", "list", "--config", from, "--output", file); code != cli.ExitFolder {
		t.Errorf("an export to an existing file: %d, %s", code, errs)
	}
	steer(t, to, cli.ExitOK, "3 URIs added, 0 already known", "import", file)
	steer(t, to, cli.ExitOK, "0 URIs added, 3 already known", "import", file)
	want, got := steer(t, from, cli.ExitOK, "", "list", "--json"), steer(t, to, cli.ExitOK, "", "list", "--json")
	if want != got || strings.Count(got, "\n") != 3 || strings.Count(got, `"held":true`) != 1 {
		t.Errorf("exported:\n%s\nimported:\n%s", want, got)
	}
	daemontest.WriteFile(t, file, `{"uri":"http://c.example/"}`+"\n"+`{"uri":"http://c.example/2","visit":3}`)
	steer(t, to, cli.ExitFailure, `all.jsonl, line 2: json: unknown field "visit"`, "import", file)
	steer(t, to, cli.ExitOK, "1\n", "list", "--count", "--host", "c.example") // what came before is there
}

func TestFrontierOfARunningDaemon(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	site := startKillSite(t)
	path := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, path, site.toml())
	d := daemontest.StartProcess(t, built.In(t, dir), path)
	site.waitFor(t, d, site.asked.Load()+50)
	list := steer(t, path, cli.ExitOK, "", "list", "--json")
	lines := bufio.NewScanner(strings.NewReader(list))
	n := 0
	for lines.Scan() {
		var e frontier.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n < 10 {
		t.Errorf("%d URIs of the running daemon:\n%s", n, list)
	}
	steer(t, path, cli.ExitOK, "of", "hold", "--all")
	held := steer(t, path, cli.ExitOK, "", "list", "--count", "--state", "held")
	steer(t, path, cli.ExitOK, "", "release", "--all")
	if held == "0\n" {
		t.Error("nothing is held")
	}
	asked := site.asked.Load()
	site.waitFor(t, d, asked+20) // the crawl continues
	d.Terminate(t)
	steer(t, path, cli.ExitOK, fmt.Sprintln(0), "list", "--count", "--state", "held")
}
