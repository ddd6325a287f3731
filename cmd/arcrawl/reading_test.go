package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// A faulty file concerns its own host. While the daemon crawls the others, commands that read what was crawled answer.
func TestReadingCommandsAnswerWhileAHostFileIsFaulty(t *testing.T) {
	t.Parallel()
	archive, _ := archivetest.TwoFiles(t)
	const page = "http://www.a.example/"
	places := "[storage]\nwarc = " + config.Quote(archive) + "\n"
	path, dir := daemontest.Configure(t, strings.Replace(daemontest.Settled, "[storage]\n", places, 1)+"[change]\nscrub = ['one', 'two']\n")
	daemontest.WriteFile(t, filepath.Join(dir, "crawl.log"), "")
	hostFile(t, dir, "www.b.example", "[politeness]\nmin_dealy = \"5s\"\n")
	if code, _, errs := command("check", "-c", path); code != cli.ExitConfig || !strings.Contains(errs, "min_dealy") {
		t.Fatalf("check: exit code %d, %s; the file must be faulty", code, errs)
	}
	storageOnly := [][]string{
		{"history", page},
		{"cat", page},
		{"diff", page + "@2026-11-21T09", "@2026-11-21T10"},
		{"report", "visits"},
		{"deps", "--json", "missing.warc.gz"},
	}
	withRules := [][]string{
		{"scrub", "test", page},
		{"scrub", "suggest", page},
		{"effective", "www.a.example"},
		{"canon", page},
		{"scrub", "suggest"},
		{"frontier", "list", "--count"},
	}
	for _, args := range append(storageOnly, withRules...) {
		code, _, errs := command(append(args, "-c", path)...)
		if code == cli.ExitConfig {
			t.Errorf("arcrawl %q: exit code %d, %s", args, code, errs)
		}
	}
	if code, _, errs := command("effective", "www.a.example", "-c", path); code != cli.ExitOK || !strings.Contains(errs, "min_dealy") {
		t.Errorf("effective: exit code %d, %q; want the faulty file named", code, errs)
	}
	daemontest.WriteFile(t, path, strings.Replace(daemontest.Settled, "[storage]\n", places, 1)+"[politeness]\nmin_dealy = \"5s\"\n")
	for _, args := range storageOnly {
		if code, _, errs := command(append(args, "-c", path)...); code == cli.ExitConfig {
			t.Errorf("with a fault in the main file, arcrawl %q: exit code %d, %s", args, code, errs)
		}
	}
	daemontest.WriteFile(t, path, strings.Replace(daemontest.Settled, "[storage]\n", "[storage]\nwarcs = \"x\"\n", 1))
	for _, args := range storageOnly {
		if code, _, errs := command(append(args, "-c", path)...); code != cli.ExitConfig || !strings.Contains(errs, "warcs") {
			t.Errorf("with a fault in [storage], arcrawl %q: exit code %d, %s", args, code, errs)
		}
	}
}

// hostFile writes the file of a host into the folder hosts.d of dir, and returns its path.
func hostFile(t *testing.T, dir, host, text string) string {
	t.Helper()
	path := filepath.Join(dir, "hosts.d", host+".toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, path, text)
	return path
}
