package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// TestPackageOfHostsAndPeriod packs the hosts of a list in a period, and refuses wrong values of the flags.
func TestPackageOfHostsAndPeriod(t *testing.T) {
	t.Parallel()
	dir, _ := archived(t)
	list := filepath.Join(t.TempDir(), "hosts.txt")
	writeFile(t, list, "www.a.example\n")
	out := filepath.Join(t.TempDir(), "x.wacz")
	code, printed, errs := command("wacz", "-o", out, "--host-list", list, "--since", "2026", "--max-size", "1GB", dir)
	if code != cli.ExitOK || !strings.Contains(printed, "x.json: ") || !strings.Contains(printed, "x-001.wacz (") {
		t.Errorf("exit code %d\n%s%s", code, printed, errs)
	}
	for _, flags := range [][]string{{"--max-size", "0B"}, {"--max-size", "much"}, {"--sign-key", list}, {"--from", filepath.Join(dir, "no.json")}} {
		args := append([]string{"wacz", "-o", filepath.Join(t.TempDir(), "x.wacz")}, append(flags, dir)...)
		if code, _, errs := command(args...); code != cli.ExitUsage {
			t.Errorf("%q ends with %d: %s", flags, code, errs)
		}
	}
}
