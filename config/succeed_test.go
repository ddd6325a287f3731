package config_test

import "testing"

// TestAReloadKeepsWhatNeedsARestart changes keys of each table that need a restart. The configuration in force after a
// reload has the old value of each.
func TestAReloadKeepsWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	began := load(t, "[storage]\nstate = \"/state\"\nwarc = \"/warc\"\nlog = \"/log\"\n[admin]\nsocket = \"off\"\n")
	next := load(t, `[crawl]
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
`)
	inForce, later := began.Succeed(next)
	if len(later) < 12 {
		t.Errorf("only %d keys wait for a restart: %v", len(later), later)
	}
	if _, differ := began.Succeed(inForce); len(differ) > 0 {
		t.Errorf("after the reload these differ from what was in force before: %v", differ)
	}
}
