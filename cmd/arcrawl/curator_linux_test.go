package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// asNobody calls f as a user who may do only what everybody may do.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // and never unlock it: the thread ends with this goroutine
			if err := syscall.Setfsuid(65534); err != nil {
				done <- err
				return
			}
		}
		f()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A curator who may write host files, but not read the main file, lists, adds, checks and removes hosts and seeds.
func TestCuratorsNeedNoMainFile(t *testing.T) {
	t.Parallel()
	path, dir := daemontest.Configure(t, daemontest.Settled)
	hosts := filepath.Join(dir, "hosts.d")
	if err := os.Mkdir(hosts, 0o777); err != nil {
		t.Fatal(err)
	}
	for file, mode := range map[string]os.FileMode{path: 0, hosts: 0o777, dir: 0o755, filepath.Dir(dir): 0o755} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	asNobody(t, func() {
		if cli.MayRead(path) {
			t.Error("nobody may read the main file")
			return
		}
		for _, c := range []struct {
			args      []string
			code      int
			out, errs string
		}{
			{[]string{"seeds", "add", "https://www.news.example/"}, cli.ExitOK, "www.news.example.toml", ""},
			{[]string{"seeds", "list"}, cli.ExitOK, "https://www.news.example/  " + hosts, "you may not read " + path},
			{[]string{"check"}, cli.ExitOK, hosts + " is valid: 1 seed", "only host files: you may not read " + path},
			{[]string{"seeds", "remove", "https://other.example/"}, cli.ExitUsage, "", "ask somebody who may write " + path},
			{[]string{"seeds", "remove", "https://www.news.example/"}, cli.ExitOK, "removed https://www.news.example/", ""},
			{[]string{"status"}, cli.ExitConfig, "", "is not readable; permit the user"},
		} {
			code, out, errs := command(append(c.args, "-c", path)...)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
				t.Errorf("arcrawl %q: exit code %d\n%s%s\nwant %d, %q, %q", c.args, code, out, errs, c.code, c.out, c.errs)
			}
		}
		daemontest.WriteFile(t, filepath.Join(hosts, "bad.example.toml"), "seeds = 3\n")
		if code, _, errs := command("check", "-c", path); code != cli.ExitConfig || !strings.Contains(errs, "bad.example.toml:1:9") {
			t.Errorf("check with a faulty host file: exit code %d, %s", code, errs)
		}
		if code, _, errs := command("seeds", "list", "-c", path); code != cli.ExitOK || !strings.Contains(errs, "bad.example.toml") {
			t.Errorf("seeds list with a faulty host file: exit code %d, %s", code, errs)
		}
	})
}
