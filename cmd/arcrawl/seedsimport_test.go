package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// TestSeedListsAreImportedExportedAndUndone follows a list through the commands.
func TestSeedListsAreImportedExportedAndUndone(t *testing.T) {
	t.Parallel()
	conf, dir := daemontest.Configure(t, daemontest.Settled)
	file := hostFile(t, dir, "www.a.example", "# by maria\nlabels = [\"papers\"]\n[seeds]\nuris = [\"https://www.a.example/\"]\n")
	list := filepath.Join(dir, "list.csv")
	daemontest.WriteFile(t, list, "uri,owner,target\nhttps://www.a.example/b,jan,90%\nhttps://www.b.example/,jan,\nhttps://www.c.example/,jan,high\n")
	run := func(code int, want string, args ...string) string {
		t.Helper()
		got, out, errs := command(append(args, "-c", conf)...)
		if got != code || !strings.Contains(out+errs, want) {
			t.Errorf("%v: exit code %d, want %d with %q:\n%s%s", args, got, code, want, out, errs)
		}
		return out
	}
	run(cli.ExitUsage, list+`:4:28: target: "high" is not a share of versions; write for example 0.9`, "seeds", "add", "--from", list)
	run(cli.ExitOK, "nothing was written", "seeds", "add", "--dry-run", "--skip-faulty", "--from", list)
	run(cli.ExitOK, "Repeat with --yes", "seeds", "add", "--skip-faulty", "--from", list)
	if got := readText(t, file); strings.Contains(got, "www.a.example/b") {
		t.Errorf("the file was written without consent:\n%s", got)
	}
	run(cli.ExitOK, "2 seeds new, 0 changed, 0 known, 1 faulty; 2 host files to write, 1 of them new", "seeds", "add", "--yes", "--skip-faulty", "--from", list)
	run(cli.ExitOK, "", "check")
	run(cli.ExitOK, `wait[".*"].capture_target`, "effective", "www.a.example", "https://www.a.example/b", "--set")
	run(cli.ExitOK, "https://www.a.example/b,,,,jan,,0.9,\n", "seeds", "list", "--csv", "--owner", "jan")
	run(cli.ExitOK, "1 host file to write\nwww.a.example.toml\n", "host", "edit", "--label", "papers", "--dry-run", "note=call first")
	run(cli.ExitUsage, "choose hosts", "host", "edit", "note=x")
	run(cli.ExitUsage, "sets no key", "host", "edit", "--label", "papers", "notes=x")
	run(cli.ExitOK, "restored", "seeds", "add", "--undo", "--yes")
	if got := readText(t, file); !strings.HasPrefix(got, "# by maria\n") || strings.Contains(got, "www.a.example/b") || exists(filepath.Join(dir, "hosts.d", "www.b.example.toml")) {
		t.Errorf("after the undo the file is\n%s", got)
	}
	run(cli.ExitFolder, "no import", "seeds", "add", "--undo")
}
