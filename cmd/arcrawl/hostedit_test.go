package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// editor sets an editor that runs sed with these commands, and has an argument itself.
func editor(t *testing.T, sed string) {
	t.Helper()
	t.Setenv("VISUAL", "sed -i -e '"+sed+"'")
}

// The test opens an editor, so it sets the environment and is not parallel.
func TestHostEditPutsOnlyACheckedCopyInPlace(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path, dir := daemontest.Configure(t, daemontest.Settled)
	file := hostFile(t, dir, "www.a.example", "# by maria\n[politeness]\nvalence = 2\n")
	before := readText(t, file)
	edit := func(args ...string) (int, string, string) {
		return command(append([]string{"host", "edit", "www.a.example", "-c", path}, args...)...)
	}
	copies := func() []string {
		found, err := filepath.Glob(filepath.Join(os.TempDir(), "arcrawl-edit-*", "www.a.example.toml"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	editor(t, "s/by maria/by maria/")
	if code, out, errs := edit(); code != cli.ExitOK || !strings.Contains(out, "was not changed") || len(copies()) != 0 {
		t.Errorf("an edit that changes nothing: exit code %d, %s%s, copies %q", code, out, errs, copies())
	}
	editor(t, "s/valence = 2/valenc = 3/")
	code, _, errs := edit("--yes")
	kept := copies()
	if code != cli.ExitConfig || !strings.Contains(errs, "valenc") || len(kept) != 1 || !strings.Contains(errs, kept[0]) {
		t.Fatalf("a faulty edit: exit code %d, %s, copies %q", code, errs, kept)
	}
	if readText(t, file) != before || !strings.Contains(readText(t, kept[0]), "valenc = 3") {
		t.Error("a faulty edit is in place, or its copy is lost")
	}
	daemontest.WriteFile(t, kept[0], strings.Replace(before, "valence = 2", "valence = 3", 1))
	if code, out, errs := edit("--from", kept[0]); code != cli.ExitOK || !strings.Contains(out, "+valence = 3") ||
		!strings.Contains(out, "nobody to ask") || readText(t, file) != before {
		t.Errorf("an edit without an answer: exit code %d, %s%s", code, out, errs)
	}
	if code, out, errs := edit("--from", kept[0], "--yes"); code != cli.ExitOK || !strings.Contains(out, "wrote "+file) ||
		readText(t, file) != readText(t, kept[0]) {
		t.Errorf("a good edit: exit code %d, %s%s", code, out, errs)
	}
	t.Setenv("VISUAL", "false")
	if code, _, errs := edit(); code == cli.ExitOK || !strings.Contains(errs, "set VISUAL or EDITOR") {
		t.Errorf("an editor that fails: exit code %d, %s", code, errs)
	}
	t.Setenv("VISUAL", "echo '# by joan' >>"+file+"; sed -i s/maria/anna/")
	if code, _, errs := edit("--yes"); code == cli.ExitOK || !strings.Contains(errs, "changed by somebody else") ||
		!strings.Contains(readText(t, file), "joan") {
		t.Errorf("an edit at the same time: exit code %d, %s", code, errs)
	}
}

// A fault elsewhere does not prevent an edit, but a new fault that the edit causes in the main file does.
func TestHostEditIsNotStoppedByOtherFaultyFiles(t *testing.T) {
	t.Parallel()
	path, dir := daemontest.Configure(t, daemontest.Settled)
	file := hostFile(t, dir, "www.a.example", "[politeness]\nvalence = 2\n")
	hostFile(t, dir, "www.b.example", "[politeness]\nvalenc = 2\n")
	draft := filepath.Join(t.TempDir(), "draft.toml")
	daemontest.WriteFile(t, draft, "[politeness]\nvalence = 3\n")
	if code, out, errs := command("host", "edit", "www.a.example", "-c", path, "--from", draft, "--yes"); code != cli.ExitOK ||
		!strings.Contains(readText(t, file), "valence = 3") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}

func TestHostRenameMovesTheFileAndItsSeeds(t *testing.T) {
	t.Parallel()
	path, dir := daemontest.Configure(t, daemontest.Settled)
	rename := func(from, to string) (int, string, string) {
		return command("host", "edit", from, "--rename", to, "-c", path)
	}
	text := "# by maria\n[seeds]\nuris = [\"https://www.a.example/\", \"https://www.a.example/sport/\"]\n[scope]\nprefixes = [\"https://www.a.example/\", \"https://www.a.example/live/\"]\n"
	old := hostFile(t, dir, "www.a.example", text)
	other := hostFile(t, dir, "www.b.example", "[politeness]\nvalence = 2\n")
	if code, _, errs := rename("www.a.example", "www.b.example"); code != cli.ExitUsage || !strings.Contains(errs, "has a file already") ||
		readText(t, old) != text || !strings.Contains(readText(t, other), "valence") {
		t.Errorf("a new name that is taken: exit code %d, %s", code, errs)
	}
	if code, _, errs := rename("nobody.example", "www.c.example"); code != cli.ExitUsage {
		t.Errorf("an unknown host: exit code %d, %s", code, errs)
	}
	code, out, errs := rename("www.a.example", "news.example:8080")
	if code != cli.ExitOK || !strings.Contains(out, "still names www.a.example") {
		t.Fatalf("exit code %d, %s%s", code, out, errs)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the old file is still there")
	}
	moved := readText(t, filepath.Join(dir, "hosts.d", "news.example_8080.toml"))
	want := "host = \"news.example:8080\"\n" + strings.NewReplacer(
		"[\"https://www.a.example/\"", "[\"https://news.example:8080/\"", "www.a.example/sport", "news.example:8080/sport").Replace(text)
	if want != moved {
		t.Errorf("the new file:\n%s\nwant:\n%s", moved, want)
	}
}

// A flag that names one host must not silently use the last of several.
func TestARepeatedHostIsHonouredOrRefused(t *testing.T) {
	t.Parallel()
	var walk func(c *cobra.Command)
	n := 0
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		f := c.Flags().Lookup("host")
		if f == nil {
			return
		}
		n++
		_, first := f.Value.Set("a.example"), f.Value.String()
		err := f.Value.Set("b.example")
		if err == nil && !strings.Contains(f.Value.String(), "a.example") {
			t.Errorf("%s --host a.example --host b.example takes %q, after %q", c.CommandPath(), f.Value.String(), first)
		}
	}
	walk(newRoot())
	if n < 5 {
		t.Errorf("only %d commands with --host: this test looks for the wrong flag", n)
	}
}
