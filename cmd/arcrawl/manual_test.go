package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

// tool returns the path of a foreign program that a test needs.
func tool(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") == "1" {
		t.Fatalf("%s is not installed and ARCRAWL_REQUIRE_FOREIGN=1 demands it; try: apt-get install %s", name, debian)
	}
	t.Skipf("%s is not installed; try: apt-get install %s", name, debian)
	return ""
}

var manualDir = flag.String("manual", "", "write the manual pages and shell completions to this folder; see scripts/package")

// TestWriteManual writes the manual and the OpenAPI document for a package. Without the flag -manual it is skipped.
func TestWriteManual(t *testing.T) {
	if *manualDir == "" {
		t.Skip("this writes the manual for a package; set a folder with -manual, as scripts/package does")
	}
	m := manual{Root: newRoot, Version: os.Getenv("VERSION"), Date: time.Now().UTC()}
	if epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		m.Date = time.Unix(epoch, 0).UTC()
	}
	if err := m.Write(*manualDir); err != nil {
		t.Fatal(err)
	}
	api := filepath.Join(*manualDir, "openapi.json")
	if err := os.WriteFile(api, append(wholeOpenAPI(t), '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writtenManual writes manual pages and completions and returns their folder.
func writtenManual(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := (manual{Root: newRoot, Version: "1.2.3", Date: time.Unix(1790000000, 0).UTC()}).Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEveryCommandHasAPageAndACompletion(t *testing.T) {
	dir := writtenManual(t)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		page := readText(t, filepath.Join(dir, "man/man1", name+".1"))
		head := `.TH "` + strings.ToUpper(name) + `" "1" "2026-09-21" "arcrawl `
		for _, want := range []string{head, ".SH NAME", ".SH DESCRIPTION", ".SH OPTIONS"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page of %s lacks %s:\n%s", name, want, page)
			}
		}
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				walk(sub)
			}
		}
	}
	walk(newRoot())
	page := strings.NewReplacer(`\-`, "-", `\&`, "").Replace(readText(t, filepath.Join(dir, "man/man5/arcrawl.toml.5")))
	for _, k := range config.Keys() {
		_, name, inTable := strings.Cut(k.Name, ".")
		if !inTable {
			name = k.Name
		}
		if !strings.Contains(page, `\fB`+name+`\fP (`) {
			t.Errorf("the page of arcrawl.toml lacks %s", k.Name)
		}
	}
	for _, file := range []string{"arcrawl.bash", "_arcrawl", "arcrawl.fish"} {
		if text := readText(t, filepath.Join(dir, "completions", file)); !strings.Contains(text, "__complete") {
			t.Errorf("%s completes nothing", file)
		}
	}
}

func TestThePagesAreCleanForMandoc(t *testing.T) {
	mandoc := tool(t, "mandoc", "mandoc")
	pages, err := filepath.Glob(filepath.Join(writtenManual(t), "man/man?/*"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	if out, err := exec.Command(mandoc, append([]string{"-Tlint", "-W", "warning"}, pages...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("mandoc: %v\n%s", err, out)
	}
}

func TestBashCompletesCommands(t *testing.T) {
	bash := tool(t, "bash", "bash")
	script := filepath.Join(writtenManual(t), "completions/arcrawl.bash")
	if out, err := exec.Command(bash, "-n", script).CombinedOutput(); err != nil {
		t.Errorf("bash does not read the completion: %v\n%s", err, out)
	}
	if code, out, _ := command("__complete", "seeds", "a"); code != cli.ExitOK || !strings.HasPrefix(out, "add\t") {
		t.Errorf("what completes \"seeds a\": exit code %d, %s", code, out)
	}
}

// TestTheUnitIsHardened runs systemd-analyze. An exposure below 2 of 10 means that the service may do little.
func TestTheUnitIsHardened(t *testing.T) {
	analyze := tool(t, "systemd-analyze", "systemd")
	const unit = "../../packaging/systemd/arcrawl.service"
	if out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=20", unit).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
	// The program and its manual are not installed on this machine.
	out, err := exec.Command(analyze, "verify", "--man=no", unit).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "/usr/bin/arcrawl is not executable") {
			t.Errorf("systemd-analyze verify: %v\n%s", err, line)
		}
	}
}

// TestTheGuideKnowsTheExitCodes compares the operator's guide and the unit with the program.
func TestTheGuideKnowsTheExitCodes(t *testing.T) {
	t.Parallel()
	guide, unit := readText(t, "../../docs/operating.md"), readText(t, "../../packaging/systemd/arcrawl.service")
	_, prevented, _ := strings.Cut(unit, "\nRestartPreventExitStatus=")
	prevented, _, _ = strings.Cut(prevented, "\n")
	for _, code := range []int{
		cli.ExitOK, cli.ExitFailure, cli.ExitUsage, cli.ExitDamaged, cli.ExitBusy, cli.ExitFolder, cli.ExitDisk,
		cli.ExitConfig, cli.ExitInterrupted,
	} {
		_, row, found := strings.Cut(guide, fmt.Sprintf("\n| %d | ", code))
		cells := strings.Split(row, " | ")
		if !found || len(cells) < 3 {
			t.Errorf("the guide does not explain %d", code)
			continue
		}
		if final := slices.Contains(strings.Fields(prevented), strconv.Itoa(code)); final != (cells[1] == "no") {
			t.Errorf("tried again after %d: the guide says %q, the unit prevents it: %t", code, cells[1], final)
		}
	}
}
