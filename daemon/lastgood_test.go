package daemon

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	archivetest.Must(t, os.WriteFile(path, []byte(text), 0o640))
}

func TestLastGoodCopiesFollowWhatIsInForce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "arcrawl.toml")
	hosts := filepath.Join(dir, "hosts.d")
	archivetest.Must(t, os.Mkdir(hosts, 0o750))
	writeFile(t, path, "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\n")
	a, b := filepath.Join(hosts, "a.example.toml"), filepath.Join(hosts, "b.example.toml")
	writeFile(t, a, "scope.max_hops = 3\n")
	writeFile(t, b, "scope.max_hops = 4\n")
	start := func() *config.Config {
		t.Helper()
		c, err := config.LoadKept(path, lastGood)
		if err == nil {
			err = saveLastGood(c)
		}
		archivetest.Must(t, err)
		return c
	}
	hops := func(c *config.Config, h uri.Host) int { return c.ForHost(h, time.Time{}).Scope.MaxHops }
	start()
	writeFile(t, a, "scope.max_hops = broken\n")
	archivetest.Must(t, os.Remove(b))
	for range 2 { // the copy remains after several starts
		if c := start(); hops(c, "a.example") != 3 || hops(c, "b.example") != 20 || len(c.Broken) != 1 {
			t.Errorf("a.example has %d hops, b.example %d, broken %v; want the copy, the default, one fault", hops(c, "a.example"), hops(c, "b.example"), c.Broken)
		}
	}
	writeFile(t, b, "scope.max_hops = broken\n")
	if c := start(); len(c.HeldHosts()) != 1 {
		t.Errorf("held: %v; want the host whose file went away before it was broken", c.HeldHosts())
	}
}
