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

// TestAReloadNamesJustTheKeysThatNeedARestart changes the keys whose values are not single TOML values.
func TestAReloadNamesJustTheKeysThatNeedARestart(t *testing.T) {
	t.Parallel()
	const folders = "[storage]\nstate = \"/state\"\nwarc = \"/warc\"\nlog = \"/log\"\n"
	began := load(t, folders)
	for key, text := range map[string]string{
		"fetch.allow_networks": "[fetch]\nallow_networks = [\"10.0.0.0/8\"]\n",
		"warc.about":           "[warc]\nabout = [{ title = \"The Press\" }]\n",
	} {
		if _, later := began.Succeed(load(t, folders+text)); len(later) != 1 || later[0].Key != key {
			t.Errorf("%s changed; waiting for a restart: %v", key, later)
		}
	}
}

func TestAReloadAppliesCanaries(t *testing.T) {
	t.Parallel()
	inForce, _ := load(t, "").Succeed(load(t, "[crawl]\ncanaries = [\"https://www.provider.example/\"]\n"))
	if got := inForce.Crawl.CanaryAddresses(); len(got) != 1 {
		t.Errorf("the canaries in force are %q; want the one of the new file", got)
	}
}
