package config_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

func TestHostsHaveTheirOwnScrubbingRules(t *testing.T) {
	t.Parallel()
	c := load(t, "[change]\nmode = \"scrubbed\"\nscrub = ['x\\d']\n", "a.example.toml", "[change]\nscrub = ['y\\d']\n",
		"b.example.toml", "[change]\nmode = \"strict\"\n", "c.example.toml", "[politeness]\nvalence = 2\n")
	of := func(h uri.Host) *noise.Options {
		s := c.ForHost(h, time.Time{})
		return config.Own[noise.Options](&s)
	}
	main, a, b, other := of("else.example"), of("a.example"), of("b.example"), of("c.example")
	if main.Rules.Fingerprint() == a.Rules.Fingerprint() || b.Rules.Fingerprint() != 0 {
		t.Error("a host's rules are not its own")
	}
	if main.Rules.Fingerprint() != other.Rules.Fingerprint() {
		t.Error("a host file without rules re-bases its host")
	}
	if got := string(a.Rules.Scrub([]byte("x1 y2"), "text/plain")); got != "x1  " {
		t.Errorf("scrubbed to %q", got)
	}
	if b.KeepScrubbed != (noise.KeepScrubbed{}) {
		t.Error("something is kept by default")
	}
}
