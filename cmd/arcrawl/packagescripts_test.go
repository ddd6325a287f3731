package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runScript runs a script of the package with programs that only write down how they are called, and returns that.
// answers are what some programs print.
func runScript(t *testing.T, script string, answers map[string]string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	for _, name := range []string{"getent", "groupadd", "useradd", "usermod", "id", "stat", "chgrp", "chmod", "systemctl"} {
		text := "#!/bin/sh\necho " + name + " \"$@\" >>" + calls + "\n" + answers[name] + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil { //nolint:gosec // it is a program
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", append([]string{"../../packaging/scripts/" + script}, args...)...)
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return readText(t, calls)
}

// The folder of host files belongs to the group of the curators, after a new installation and after an upgrade. What an
// operator chose stays.
func TestThePackageLetsCuratorsWriteHostFiles(t *testing.T) {
	t.Parallel()
	fresh := runScript(t, "preinst", map[string]string{"getent": "exit 2", "id": "echo arcrawl"}, "install")
	for _, call := range []string{
		"groupadd --system arcrawl\n", "groupadd --system arcrawl-curators\n",
		"usermod --append --groups arcrawl-curators arcrawl\n",
	} {
		if !strings.Contains(fresh, call) {
			t.Errorf("a new installation does not call %q:\n%s", call, fresh)
		}
	}
	again := runScript(t, "preinst", map[string]string{"id": "echo arcrawl arcrawl-curators"}, "upgrade")
	if strings.Contains(again, "add") || strings.Contains(again, "usermod") {
		t.Errorf("an upgrade creates again what exists:\n%s", again)
	}
	for _, c := range []struct {
		name, folder, parent string
		opens, passes        bool
	}{
		{"a new installation", "770 arcrawl-curators", "751 arcrawl", true, false},
		{"an upgrade", "750 arcrawl", "750 arcrawl", true, true},
		{"a choice of the operator", "2770 editors", "755 root", false, false},
	} {
		stat := `case "$*" in *hosts.d) echo ` + c.folder + `;; *) echo ` + c.parent + `;; esac`
		calls := runScript(t, "postinst", map[string]string{"stat": stat}, "configure", "1.0.0")
		opens := strings.Contains(calls, "chgrp arcrawl-curators /etc/arcrawl/hosts.d\nchmod 2770 /etc/arcrawl/hosts.d\n")
		passes := strings.Contains(calls, "chmod 0751 /etc/arcrawl\n")
		if opens != c.opens || passes != c.passes {
			t.Errorf("%s: folder opened %v, want %v; way to it opened %v, want %v:\n%s",
				c.name, opens, c.opens, passes, c.passes, calls)
		}
	}
	if text := readText(t, "../../packaging/nfpm.yaml"); !strings.Contains(text, "dst: /etc/arcrawl/hosts.d, type: dir, file_info: {mode: 0770, group: arcrawl-curators}") {
		t.Error("the package does not give the folder of host files to the group arcrawl-curators")
	}
}

// A file that is renamed must not break the next package, which is made long after.
func TestAllThatThePackageCopiesExists(t *testing.T) {
	t.Parallel()
	copied := 0
	for line := range strings.Lines(readText(t, "../../scripts/package")) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "cp" {
			continue
		}
		for _, source := range words[1 : len(words)-1] {
			if strings.HasPrefix(source, "-") {
				continue
			}
			copied++
			if found, err := filepath.Glob("../../" + source); err != nil || len(found) == 0 {
				t.Errorf("scripts/package copies %s, which does not exist", source)
			}
		}
	}
	if copied < 5 {
		t.Errorf("found %d files that scripts/package copies, want 5 or more: this test does not understand the script", copied)
	}
}

// A command that is renamed must not break the next package either.
func TestAllCommandsOfThePackageExist(t *testing.T) {
	t.Parallel()
	const call = `"$arcrawl" `
	called := 0
	for line := range strings.Lines(readText(t, "../../scripts/package")) {
		args, found := strings.CutPrefix(line, call)
		if !found {
			continue
		}
		called++
		words := strings.Fields(strings.ReplaceAll(args, "\"", ""))
		if end := slices.IndexFunc(words, func(w string) bool { return w[0] == '>' }); end >= 0 {
			words = words[:end]
		}
		if err := replaced(words); err != nil {
			t.Error("scripts/package:", err)
			continue
		}
		command, rest, err := newRoot().Find(words)
		if err == nil {
			err = command.ParseFlags(rest)
		}
		if err != nil || !command.HasParent() {
			t.Errorf("scripts/package calls arcrawl %s, which does not exist: %v", strings.Join(words, " "), err)
		}
	}
	if called < 4 {
		t.Errorf("found %d calls of arcrawl, want 4 or more: this test does not understand the script", called)
	}
}
