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

// TestAShadowedEntryOfTheStackIsNoChange compares a configuration with itself. The host file has an entry with the
// pattern of one in the main file, and with another rule.
func TestAShadowedEntryOfTheStackIsNoChange(t *testing.T) {
	t.Parallel()
	read := func(every string) *config.Config {
		return load(t, "[[wait]]\nmime = '.*'\nrule = \"learned\"\n",
			"a.example.toml", "wait = [{ mime = '.*', rule = \"fixed\", every = \""+every+"\" }]\n")
	}
	c := read("1d")
	if got := c.Changes(read("1d"), time.Time{}); len(got) != 0 {
		t.Errorf("the same files differ in %v", got)
	}
	got := c.Changes(read("2d"), time.Time{})
	if len(got) != 1 || got[0].Key != `wait[".*"].every` || got[0].After != `"2d"` {
		t.Errorf("another time is %v, want one change of wait.every", got)
	}
}
