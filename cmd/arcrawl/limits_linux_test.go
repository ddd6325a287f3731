package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// The real program runs as a user of its own that may have few threads. The Go runtime aborts when it cannot have a
// thread, with 200 lines of stacks and a code on which systemd starts it again. Root has no such limit.
func TestFewThreadsAreToldAtTheStart(t *testing.T) {
	slow.Test(t)
	if os.Geteuid() != 0 {
		t.Skip("the program is started as another user; run this test as root")
	}
	prlimit := tool(t, "prlimit", "util-linux")
	user := uint32(50_000 + os.Getpid()%10_000) // one that has no other processes, also if two such tests run
	dir, err := os.MkdirTemp("", "arcrawl-threads-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary := built.In(t, dir)
	conf := filepath.Join(dir, "arcrawl.toml")
	daemontest.WriteFile(t, conf, "[operator]\nname = 'T'\ncontact = 'https://library.example/'\n")
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chown(dir, int(user), int(user)), os.Chmod(conf, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		threads, command, said string
	}{
		{"8", "run", "may have 8 threads, but a command needs "},
		{"6", "check", "may have 6 threads, but a command needs "},
		{"31", "run", "may have 31 threads, but the crawl needs "},
	} {
		var cmd *exec.Cmd
		var text string
		for range 5 { // on a busy machine the runtime of Go may need more threads before the program looks at its limits
			cmd = exec.Command(prlimit, "--nproc="+c.threads, "--", binary, c.command, "--config", conf)
			cmd.Dir, cmd.Env = dir, []string{"GOMAXPROCS=2"}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
			out, _ := cmd.CombinedOutput()
			if text = string(out); !strings.Contains(text, "pthread_create failed") {
				break
			}
		}
		if code := cmd.ProcessState.ExitCode(); code != cli.ExitConfig || !strings.Contains(text, c.said) ||
			!strings.Contains(text, "ulimit -u") || strings.Contains(text, "goroutine") {
			t.Errorf("%s with %s threads: exit code %d, want %d and %q:\n%s", c.command, c.threads, code, cli.ExitConfig, c.said, text)
		}
	}
}
