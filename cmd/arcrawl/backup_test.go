package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestABackupSurvivesKills takes backups of a busy daemon and kills both at random moments. Then it moves the crawl to
// another machine, kills the restoring too, and looks whether the crawl continues there without a loss.
func TestABackupSurvivesKills(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	binary, site := built.In(t, dir), startKillSite(t)
	conf, to := filepath.Join(dir, "arcrawl.toml"), filepath.Join(dir, "backups")
	daemontest.WriteFile(t, conf, site.toml())
	seed := uint64(time.Now().UnixNano())
	t.Logf("random seed: %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	d := daemontest.StartProcess(t, binary, conf)
	site.waitFor(t, d, 100)
	for round := range 12 {
		cmd := exec.Command(binary, "backup", "create", "--keep", "3", "--config", conf, to)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(random.IntN(300))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		if round%4 == 3 {
			d.Kill(t)
		}
		_ = cmd.Wait()
		if round%4 == 3 {
			d = daemontest.StartProcess(t, binary, conf)
		}
		site.waitFor(t, d, site.asked.Load()+50)
	}
	succeed(t, "backup", "create", "--keep", "3", "--config", conf, to)
	d.Kill(t) // the old machine is gone; its archive was copied up to this moment

	there := filepath.Join(dir, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(there, "arcrawl.toml")
	daemontest.WriteFile(t, moved, site.toml())
	if err := os.CopyFS(filepath.Join(there, "warc"), os.DirFS(filepath.Join(dir, "warc"))); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		cmd := exec.Command(binary, "backup", "restore", "--config", moved, to)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if _, err := os.Stat(filepath.Join(there, "state")); err == nil {
			break // it was faster than the kill
		}
	}
	if _, err := os.Stat(filepath.Join(there, "state")); err != nil {
		succeed(t, "backup", "restore", "--config", moved, to)
	}
	if out := succeed(t, "check", "--store", "--config", moved); !strings.Contains(out, "undamaged") {
		t.Errorf("the check of the restored store says: %s", out)
	}
	all := strings.Fields(succeed(t, "backup", "list", to))
	folders := slices.DeleteFunc(all, func(word string) bool { return !strings.HasPrefix(word, to) })
	if len(folders) == 0 || len(folders) > 3 {
		t.Errorf("%d backups are left, want at most 3: %s", len(folders), all)
	}
	for _, folder := range folders {
		succeed(t, "backup", "list", "--verify", folder)
	}

	next := daemontest.StartProcess(t, binary, moved)
	site.waitFor(t, next, site.asked.Load()+killHosts*killPages)
	next.Terminate(t)
	if log := next.Output(); !strings.Contains(log, `"new_seeds":0`) {
		t.Errorf("the daemon on the other machine does not know its seeds:\n%s", log)
	}
	succeed(t, "verify", filepath.Join(there, "warc"))
	succeed(t, "check", "--store", "--config", moved)
}
