package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

func TestUnusedScrubbingRulesAreWarnedOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, toml, want string }{
		{"rules without a mode", "[change]\nscrub = ['x\\d']\n", "change.scrub"},
		{"a mode without rules", "[change]\nmode = \"scrubbed\"\n", "change.mode"},
		{"text needs no rules", "[change]\nmode = \"text\"\n", ""},
		{"a rendered text without renderings", "[change]\nof = \"rendered\"\n", "change.of"},
		{"a rendered text", "[change]\nof = \"rendered\"\n[render]\npages = \"changed\"\n", ""},
		{"a tolerance needs no rules", "[change]\nmode = \"scrubbed\"\ntolerance = 3\n", ""},
	} {
		var got []string
		for _, w := range load(t, row.toml+"[seeds]\nuris = [\"http://a.example/\"]\n").Warnings {
			got = append(got, w.Key)
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s: warnings about %q, want %q", row.name, got, row.want)
		}
	}
}

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
