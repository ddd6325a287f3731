package admin_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// run runs git in a folder.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v, %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// needGit skips a test if git is not installed. It returns an empty folder.
func needGit(t *testing.T) string {
	t.Helper()
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	return t.TempDir()
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	archivetest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// TestChangesAreCommittedUnderTheNameOfTheirAuthor commits a new, a changed and a removed file. A hook, a file that
// somebody else has staged, and a name that is a pattern have no effect.
func TestChangesAreCommittedUnderTheNameOfTheirAuthor(t *testing.T) {
	dir := needGit(t)
	hosts := filepath.Join(dir, "hosts.d")
	archivetest.Must(t, os.Mkdir(hosts, 0o750))
	run(t, dir, "init", "-q")
	hook := filepath.Join(dir, ".git", "hooks", "post-commit")
	archivetest.Must(t, os.MkdirAll(filepath.Dir(hook), 0o750))
	archivetest.Must(t, os.WriteFile(hook, []byte("#!/bin/sh\ntouch hooked\n"), 0o700))
	write(t, hosts, "other.toml", "staged by somebody else")
	run(t, hosts, "add", "other.toml")
	commits := func(who, what string, files ...string) string {
		t.Helper()
		name, err := admin.MakeCommit(t.Context(), admin.Commit{Dir: hosts, Files: files, Who: who, What: what})
		archivetest.Must(t, err)
		return name
	}
	write(t, hosts, "a.toml", "one")
	first := commits("maria", "a.toml: saved\nin the dashboard", "a.toml", "never-existed.toml")
	write(t, hosts, "a.toml", "two")
	write(t, hosts, "[ab].toml", "a pattern")
	commits("ja<n>\n", "second", filepath.Join(hosts, "[ab].toml"))
	if name := commits("maria", "nothing new", "[ab].toml"); name != "" {
		t.Errorf("an unchanged file is committed as %s", name)
	}
	archivetest.Must(t, os.Remove(filepath.Join(hosts, "a.toml")))
	last := commits("", "removed", "a.toml")
	got := run(t, dir, "log", "--reverse", "--name-status", "--pretty=%an <%ae>, %cn: %s")
	want := "maria <maria@arcrawl>, arcrawl: a.toml: saved in the dashboard\n\nA\thosts.d/a.toml\n" +
		"jan <jan@arcrawl>, arcrawl: second\n\nA\thosts.d/[ab].toml\n" +
		"somebody <somebody@arcrawl>, arcrawl: removed\n\nD\thosts.d/a.toml"
	if got != want || first == "" || last != run(t, dir, "rev-parse", "--short", "HEAD") {
		t.Errorf("the log is\n%s\nwant\n%s\nfirst %q, last %q", got, want, first, last)
	}
	if staged := run(t, dir, "diff", "--cached", "--name-only"); staged != "hosts.d/other.toml" {
		t.Errorf("staged is %q", staged)
	}
	if _, err := os.Stat(filepath.Join(hosts, "hooked")); err == nil {
		t.Error("the hook was run")
	}
}

// TestARequestThatEndsLeavesNoFileWithoutCommit commits after the browser was closed.
func TestARequestThatEndsLeavesNoFileWithoutCommit(t *testing.T) {
	dir := needGit(t)
	run(t, dir, "init", "-q")
	write(t, dir, "a.toml", "one")
	closed, cancel := context.WithCancel(t.Context())
	cancel()
	name, err := admin.MakeCommit(closed, admin.Commit{Dir: dir, Files: []string{"a.toml"}, Who: "-maria", What: "-x"})
	if err != nil || name == "" {
		t.Errorf("the commit is %q, %v", name, err)
	}
}

// TestAFolderWithoutRepositoryIsNamed makes a commit where there is no repository.
func TestAFolderWithoutRepositoryIsNamed(t *testing.T) {
	dir := needGit(t)
	_, err := admin.MakeCommit(t.Context(), admin.Commit{Dir: dir, Files: []string{"a"}, Who: "maria", What: "x"})
	if err == nil || !strings.Contains(err.Error(), dir+" is not a git repository") || !strings.Contains(err.Error(), "git init") {
		t.Errorf("the error is %v", err)
	}
}

// TestAHugeImportIsOneCommit commits more files than the names of which fit into the arguments of a program.
func TestAHugeImportIsOneCommit(t *testing.T) {
	dir := needGit(t)
	run(t, dir, "init", "-q")
	write(t, dir, "new.toml", "one")
	files := []string{"new.toml"}
	for i := range 20_000 { // 4 MB of names; Linux takes 2 MB at most
		files = append(files, fmt.Sprintf("%0200d.toml", i)) // was never there: git need not write 20,000 files
	}
	c := admin.Commit{Dir: dir, Files: files, Who: "maria", What: "20,000 seeds imported"}
	if name, err := admin.MakeCommit(t.Context(), c); err != nil || name == "" {
		t.Fatalf("the commit is %q: %v", name, err)
	}
	if name, err := admin.MakeCommit(t.Context(), c); err != nil || name != "" {
		t.Errorf("the same again is the commit %q: %v", name, err)
	}
}
