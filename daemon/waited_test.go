package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
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
	c, err := LoadConfig(path, zerolog.New(&log))
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
	c := withWorkers(t, "")
	n := &nodeDaemon{
		ctx: t.Context(), c: c, now: c, base: &base{Daemon: Daemon{live: config.NewLive(c)}},
		hangups: map[int]chan os.Signal{1: nil},
	}
	before := n.groups()
	text, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path, append(text, "[politeness]\ngroup = \"all\"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if after := n.groups(); after != before || n.now != c {
		t.Errorf("the next shard has the groups %s, and those in force are %s", after, before)
	}
}
