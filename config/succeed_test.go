package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAReloadKeepsWhatNeedsARestart changes keys of each table that need a restart. The configuration in force after a
// reload has the old value of each.
func TestAReloadKeepsWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	load := func(more string) *Config {
		t.Helper()
		path := filepath.Join(dir, "arcrawl.toml")
		text := "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n" + more
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	began := load("")
	inForce, later := began.Succeed(load(`[crawl]
workers = 7
max_hosts = 9
[warc]
prefix = "other"
collection = "The Press"
sealed_command = "/bin/true"
sealed_url = "http://127.0.0.1:9/"
dns = false
[log]
extra_info = true
[admin]
listen = "127.0.0.1:7999"
[fetch]
allow_networks = ["10.0.0.0/8"]
`))
	if len(later) < 8 {
		t.Errorf("only %d keys wait for a restart: %v", len(later), later)
	}
	before, after := began.fixed(), inForce.fixed()
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("-before the reload +after it\n%s", d)
	}
}
