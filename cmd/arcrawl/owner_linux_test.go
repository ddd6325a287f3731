package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestTheDaemonCanUseWhatRootMade runs commands that write as root, in a crawl that belongs to another user. Then the
// daemon of that user crawls and records orders.
func TestTheDaemonCanUseWhatRootMade(t *testing.T) {
	slow.Test(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const nobody = 65534
	conf, dir := daemontest.Configure(t, daemontest.Settled)
	bin := t.TempDir()
	daemon := filepath.Join(bin, "daemon")
	text := "#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups " + built.In(t, bin) + ` "$@"`
	hosts := filepath.Join(dir, "hosts.d")
	archivetest.Must(t, errors.Join(os.WriteFile(daemon, []byte(text), 0o755), os.Mkdir(hosts, 0o755),
		os.Chmod(filepath.Dir(dir), 0o755), os.Chown(dir, nobody, nobody), os.Chown(conf, nobody, nobody),
		os.Chown(hosts, nobody, nobody)))
	start := func() *daemontest.Process {
		d := daemontest.StartProcess(t, daemon, conf)
		d.WaitFor(t, "an answer", func() bool { code, _, _ := command("status", "--config", conf); return code == cli.ExitOK })
		return d
	}
	start().Terminate(t)
	for _, args := range []string{
		"seeds add https://www.b.example/", "user add maria --no-password", "user add jan --no-password", "user remove jan",
		"user add grafana --token", "frontier list", "hold --all", "release --all", "visit --all",
		"backup create " + filepath.Join(dir, "backup"), "check --store",
	} {
		succeed(t, append(strings.Fields(args), "--config", conf)...)
		archivetest.Must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Lstat(path)
			if err != nil {
				return err
			}
			of, _, _ := strings.Cut(strings.TrimPrefix(path, dir+"/"), "/")
			ours := slices.Contains([]string{"state", "hosts.d", "warc", "crawl.log"}, of)
			if ours && info.Sys().(*syscall.Stat_t).Uid != nobody {
				t.Errorf("arcrawl %s: %s belongs to root", args, path)
			}
			return nil
		}))
	}
	d := start()
	succeed(t, "pause", "--config", conf)
	d.Terminate(t)
	entries, err := access.ReadAudit(filepath.Join(dir, "state"), api.AuditFilter{What: "pause"})
	archivetest.Must(t, err)
	if len(entries) != 1 || strings.Contains(d.Output(), "permission denied") {
		t.Errorf("the audit log has %+v; the daemon says:\n%s", entries, d.Output())
	}
}
