package config_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

func TestHostsHaveTheirOwnScrubbingRules(t *testing.T) {
	t.Parallel()
	c := load(t, "[change]\nmode = \"scrubbed\"\nscrub = ['x\\d']\n", "a.example.toml", "[change]\nscrub = ['y\\d']\n",
		"b.example.toml", "[change]\nmode = \"strict\"\n", "c.example.toml", "[politeness]\nvalence = 2\n")
	main, a, b, other := c.ForHost("else.example", time.Time{}), c.ForHost("a.example", time.Time{}), c.ForHost("b.example", time.Time{}), c.ForHost("c.example", time.Time{})
	if main.Change.Rules.Fingerprint() == a.Change.Rules.Fingerprint() || b.Change.Rules.Fingerprint() != 0 {
		t.Error("a host's rules are not its own")
	}
	if main.Change.Rules.Fingerprint() != other.Change.Rules.Fingerprint() {
		t.Error("a host file without rules re-bases its host")
	}
	if got := string(a.Change.Rules.Scrub([]byte("x1 y2"), "text/plain")); got != "x1  " {
		t.Errorf("scrubbed to %q", got)
	}
	if c.ForHost("b.example", time.Time{}).Change.KeepScrubbed != (config.KeepScrubbed{}) {
		t.Error("something is kept by default")
	}
}
