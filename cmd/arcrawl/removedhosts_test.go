package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// A curator deletes a host file with rm. The list of host files and the reports of crawl.log mark the host.
func TestHostsWhoseFileWasDeletedAreMarked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	main, state := filepath.Join(dir, "arcrawl.toml"), filepath.Join(dir, "state")
	daemontest.WriteFile(t, main, daemontest.Settled)
	kept := hostFile(t, dir, "www.a.example", "[politeness]\nvalence = 2\n")
	if err := os.MkdirAll(state, 0o750); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, filepath.Join(state, "hostfiles.json"), `["www.a.example","www.b.example"]`)
	line := "2026-01-02T06:00:00.000Z   200       4000 http://HOST/ - - text/html #001 20260102055959960+40 " +
		"sha1:KA64BYVGVNNI5NHPC5SEGJGDTFLRKZ54 - -\n"
	daemontest.WriteFile(t, filepath.Join(dir, "crawl.log"),
		strings.ReplaceAll(line, "HOST", "www.a.example")+strings.ReplaceAll(line, "HOST", "www.b.example"))
	for _, args := range [][]string{
		{"host", "list", "--files"}, {"report", "visits", "--by", "host"}, {"report", "visits", "--dedup", "--by", "host"},
	} {
		out, errs := ending(t, cli.ExitOK, append(args, "--config", main)...)
		for _, row := range strings.Split(out, "\n") {
			marked := strings.Contains(row, "removed")
			if strings.Contains(row, "www.b.example") && !marked || strings.Contains(row, "www.a.example") && marked {
				t.Errorf("%s: %q", args, row)
			}
		}
		if !strings.Contains(out, "www.a.example") || !strings.Contains(out, "www.b.example") {
			t.Errorf("%s does not list both hosts:\n%s%s", args, out, errs)
		}
	}
	if err := os.Remove(kept); err != nil {
		t.Fatal(err)
	}
	if out, _ := ending(t, cli.ExitOK, "host", "list", "--files", "--config", main); strings.Count(out, "removed") != 2 {
		t.Errorf("after both files were deleted:\n%s", out)
	}
}
