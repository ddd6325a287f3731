package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

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
