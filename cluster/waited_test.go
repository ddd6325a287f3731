package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
)

// TestANodeThatHasWaitedReadsItsConfigurationAgain changes a configuration while a node waits, then breaks it.
func TestANodeThatHasWaitedReadsItsConfigurationAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	write := func(text string) {
		t.Helper()
		const rest = "[operator]\nname = \"Test\"\ncontact = \"https://library.example/\"\n"
		if err := os.WriteFile(path, []byte(text+rest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	var log strings.Builder
	c, err := daemon.LoadConfig(path, zerolog.New(&log))
	if err != nil {
		t.Fatal(err)
	}
	write("[politeness]\nmin_delay = \"7s\"\n[storage]\nstate = \"elsewhere\"\n")
	next, _ := configOfNow(c, zerolog.New(&log))
	if next.ForHost("a.example", time.Time{}).Politeness.MinDelay != 7*time.Second || next.Storage.State != c.Storage.State || !strings.Contains(log.String(), "after a restart") {
		t.Errorf("the state folder is %s; the log:\n%s", next.Storage.State, &log)
	}
	write("[politeness]\nmin_delay = 77\n")
	if same, _ := configOfNow(c, zerolog.New(&log)); same != c || !strings.Contains(log.String(), "has a fault") {
		t.Errorf("a broken configuration is in force; the log:\n%s", &log)
	}
}

// TestAFurtherShardHasTheConfigurationInForce edits the groups of a node that crawls a shard. The reload is refused, so
// the next shard begins with the old groups: with the new ones the cluster would refuse it, and the node would end.
func TestAFurtherShardHasTheConfigurationInForce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	const main = "[operator]\nname = \"Test\"\ncontact = \"https://library.example/\"\n"
	if err := os.WriteFile(path, []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := daemon.LoadConfig(path, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	n := &process{
		ctx: t.Context(), c: c, now: c, inForce: func() *config.Config { return c }, hangups: map[int]chan os.Signal{1: nil},
	}
	before := n.groups()
	if err := os.WriteFile(path, []byte(main+"[politeness]\ngroup = \"all\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if after := n.groups(); after != before || n.now != c {
		t.Errorf("the next shard has the groups %s, and those in force are %s", after, before)
	}
}

// TestANodeIsAliveWhileItOpensItsStore counts the signs of life in a minute, and after it.
func TestANodeIsAliveWhileItOpensItsStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var states []string
		stop := stayAlive(func(state string) { states = append(states, state) })
		time.Sleep(time.Minute + time.Second)
		stop()
		time.Sleep(time.Minute)
		if strings.Join(states, " ") != strings.TrimSpace(strings.Repeat("WATCHDOG=1 ", 6)) {
			t.Errorf("%q, want six signs of life", states)
		}
	})
}
