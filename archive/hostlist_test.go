package archive

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

func TestHostListReadsHosts(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "hosts.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	hosts := []string{"first.example"}
	if err := (hostList{&hosts}).Set(write("# news\n\n a.example # the first\n.b.example\n")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"first.example", "a.example", ".b.example"}; !slices.Equal(hosts, want) {
		t.Errorf("the hosts are %q, want %q", hosts, want)
	}
	for text, want := range map[string]string{
		"# nothing\n": "names no host", "a.example b.example\n": "one host on a line", "https://a.example/\n": "one host on a line",
	} {
		if err := (hostList{&hosts}).Set(write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q returns %v, want %q", text, err, want)
		}
	}
}

// TestPackageOfHostsAndPeriod packs the hosts of a list in a period, and refuses wrong values of the flags.
func TestPackageOfHostsAndPeriod(t *testing.T) {
	t.Parallel()
	dir, _ := archivetest.TwoFiles(t)
	list := filepath.Join(t.TempDir(), "hosts.txt")
	daemontest.WriteFile(t, list, "www.a.example\n")
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
