package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/config"
)

// TestGroupsMayNotChangeWhileNodesCrawl offers a node new configurations while it crawls.
func TestGroupsMayNotChangeWhileNodesCrawl(t *testing.T) {
	t.Parallel()
	load := func(host string) *config.Config {
		t.Helper()
		dir := t.TempDir()
		const main = "[operator]\nname = \"Test\"\ncontact = \"https://library.example/\"\n[[wait]]\nmime = \".*\"\n"
		for name, text := range map[string]string{"arcrawl.toml": main, "hosts.d/a.example.toml": host} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := config.Load(filepath.Join(dir, "arcrawl.toml"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const group, other = "[politeness]\ngroup = \"g\"\n", "[politeness]\ngroup = \"h\"\n"
	n := &thisNode{o: nodeOptions{Groups: groupsOf(load(group))}}
	if err := n.acceptGroups(load(group + "min_delay = \"9s\"\n")); err != nil {
		t.Errorf("the groups are the same, and the configuration is refused: %v", err)
	}
	for _, text := range []string{other, ""} {
		if err := n.acceptGroups(load(text)); err == nil || !strings.Contains(err.Error(), "stop all nodes") {
			t.Errorf("a configuration with other groups: %v", err)
		}
	}
	if n.o.Groups == "" || groupsOf(load("")) != "" {
		t.Errorf("the groups are %q and %q", n.o.Groups, groupsOf(load("")))
	}
}
