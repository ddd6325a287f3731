package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// TestUsersAreManagedOnTheCommandLine adds, changes and removes users, with passwords on standard input.
func TestUsersAreManagedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf := filepath.Join(dir, "arcrawl.toml")
	text := "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(in, want string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		root := newRoot()
		root.SetArgs(append(append([]string{"user"}, args...), "--config", conf))
		root.SetIn(strings.NewReader(in))
		root.SetOut(&out)
		root.SetErr(&out)
		root.SilenceErrors, root.SilenceUsage = true, true
		if err := root.Execute(); err != nil {
			out.WriteString(err.Error())
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%v: %s, want %q", args, out.String(), want)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o750); err != nil {
		t.Fatal(err)
	}
	run("correct horse battery\n", "added maria with the role curate", "add", "maria", "--role", "curate")
	run("correct horse battery\n", "there is a user with the name maria", "add", "maria")
	run("short\n", "fewer than 12 characters", "add", "jan")
	run("", "write it on the first line", "add", "jan")
	run("correct horse battery\n", `unknown role "rule"`, "add", "jan", "--role", "rule")
	run("", "added jan with the role operate", "add", "jan", "--role", "operate", "--no-password")
	run("", "maria  curate   with a password\njan    operate  at the proxy\n", "list")
	run("", "maria has the role read now", "add", "--change", "maria", "--role", "read")
	run("another horse battery", "changed the password of maria", "add", "--change", "maria", "--password")
	run("", "no user with the name nobody", "remove", "nobody")
	run("", "removed jan", "remove", "jan")
	all, err := access.Users(filepath.Join(dir, "state", "admin.users"))
	if err != nil || len(all) != 1 || all[0].Role != access.Read || !all[0].HasPassword() {
		t.Errorf("the users are %+v, %v", all, err)
	}
	entries, err := access.ReadAudit(filepath.Join(dir, "state"), api.AuditFilter{})
	if err != nil || len(entries) != 5 || entries[0].What != "user/remove" || string(entries[0].Order) != `"jan"` {
		t.Errorf("the audit log has %+v, %v", entries, err)
	}
}

// TestAPasswordIsNotShownOnTheTerminal types a password at a terminal.
func TestAPasswordIsNotShownOnTheTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, again, want string }{
		{"correct horse battery\n", "correct horse battery\n", ""},
		{"correct horse battery\n", "correct horse battery.\n", "the two passwords differ"},
	} {
		master, tty := openTerminal(t)
		shown, prompts := &bytes.Buffer{}, &bytes.Buffer{}
		read := make(chan struct{})
		go func() { defer close(read); _, _ = io.Copy(shown, master) }()
		show, err := cli.HideInput(tty) // before anything is typed; askPassword does it again
		if err != nil {
			t.Fatal(err)
		}
		if _, err := master.WriteString(c.first + c.again); err != nil {
			t.Fatal(err)
		}
		password, err := askPassword(tty, prompts, "maria")
		if c.want == "" && (err != nil || password != "correct horse battery") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("typed %q: %q, %v", c.first+c.again, password, err)
		}
		show()
		if _, err := tty.WriteString("the end"); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		select {
		case <-read:
		case <-time.After(daemontest.Patience):
			t.Fatal("the terminal is still open")
		}
		if got := shown.String(); strings.Contains(got, "horse") || !strings.Contains(got, "the end") || !strings.Contains(prompts.String(), "Password of maria: ") {
			t.Errorf("the terminal shows %q, and asks %q", got, prompts)
		}
	}
}
