package cluster

import (
	"fmt"
	"testing"
)

// TestAllShardsSpeakAsOneProcess lets two shards report to systemd. The process is alive only if both are.
func TestAllShardsSpeakAsOneProcess(t *testing.T) {
	t.Parallel()
	var heard []string
	v := newVoices(func(state string) { heard = append(heard, state) })
	one, endOne := v.Of(1)
	two, _ := v.Of(2)
	expect := func(want ...string) {
		t.Helper()
		if fmt.Sprintf("%q", heard) != fmt.Sprintf("%q", want) {
			t.Errorf("systemd received %q, want %q", heard, want)
		}
		heard = nil
	}
	one("READY=1\nSTATUS=crawling")
	expect("READY=1", "STATUS=shard 1 crawling")
	two("STATUS=opening")
	expect("STATUS=shard 1 crawling; shard 2 opening")
	one("WATCHDOG=1")
	one("WATCHDOG=1")
	expect()
	two("WATCHDOG=1")
	expect("WATCHDOG=1")
	two("STOPPING=1\nSTATUS=closing\nEXTEND_TIMEOUT_USEC=5")
	expect("STATUS=shard 1 crawling", "EXTEND_TIMEOUT_USEC=5")
	one("WATCHDOG=1")
	expect("WATCHDOG=1")
	two("WATCHDOG=1") // it is not counted any more
	expect()
	endOne()
	one("STATUS=late")
	expect("STATUS=late")
}
