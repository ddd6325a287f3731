package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// Commands write to a real terminal, and the text of a stranger is in their answer.
func TestCommandsEscapeOnATerminal(t *testing.T) {
	master, tty := openTerminal(t)
	const evil = "\x1b[2J\u202eevil\u009b"
	if code := realMain([]string{evil}, cli.Terminal(tty), cli.Terminal(tty)); code != cli.ExitUsage {
		t.Errorf("exit code %d, want %d", code, cli.ExitUsage)
	}
	if code := realMain([]string{"verify", "/no/such/" + evil}, cli.Terminal(tty), cli.Terminal(tty)); code == cli.ExitOK {
		t.Error("the command did not fail")
	}
	tty.Close()
	all, _ := io.ReadAll(master)                                     // ends with an error, as the terminal is closed
	shown := strings.ReplaceAll(string(all), "\r"+cli.ClearLine, "") // the program's own, to clear the line of progress
	if strings.ContainsAny(shown, "\x1b\u202e\u009b") {
		t.Errorf("the terminal was sent %q", shown)
	}
	if strings.Count(shown, "evil") < 2 || !strings.Contains(shown, `\x1b`) {
		t.Errorf("the terminal was sent %q, want the names with escapes", shown)
	}
}

// openTerminal opens both ends of a terminal.
func openTerminal(t *testing.T) (master, tty *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine has no terminals: %v; mount devpts at /dev/pts", err)
	}
	t.Cleanup(func() { master.Close() })
	var unlock, number int32
	for request, arg := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(arg))); e != 0 {
			t.Fatal(e)
		}
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no terminals: %v; mount devpts at /dev/pts", err)
	}
	t.Cleanup(func() { tty.Close() })
	return master, tty
}

// A newcomer answers the questions of init on a terminal, some wrong at first, and has a valid file and a user.
func TestInitAsksOnATerminal(t *testing.T) {
	master, tty := openTerminal(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	path := filepath.Join(dir, "arcrawl.toml")
	asked := make(chan string)
	go func() {
		var all strings.Builder
		part := make([]byte, 1024)
		for n, err := 0, error(nil); err == nil; n, err = master.Read(part) {
			all.Write(part[:n])
			for question, answers := range map[string][]string{
				"WARC files and webmasters: ": {"National Library"}, "e-mail address for webmasters: ": {"the library", "crawl@library.example"},
				"(empty: no dashboard): ": {"anna b", "anna"}, "Password of anna: ": {"horse", "correct horse", "correct horse"},
				"The same again: ": {"correct hose", "correct horse"},
			} {
				if strings.HasSuffix(all.String(), question) {
					_, _ = master.WriteString(answers[min(strings.Count(all.String(), question), len(answers))-1] + "\n")
				}
			}
		}
		asked <- all.String()
	}()
	root := newRoot()
	root.SetArgs([]string{"init", dir})
	root.SetIn(tty)
	root.SetErr(tty)
	var out strings.Builder
	root.SetOut(&out)
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	shown := <-asked
	if strings.Contains(shown, "horse") || !strings.Contains(out.String(), "http://127.0.0.1:8471/ is the dashboard then; sign in as anna") ||
		strings.Contains(out.String(), "set operator.name") {
		t.Errorf("the terminal showed %q, and init printed %s", shown, out.String())
	}
	if code, checked, errs := command("check", "-c", path); code != cli.ExitOK {
		t.Errorf("check: exit code %d, %s%s", code, checked, errs)
	}
	if _, users, _ := command("user", "list", "-c", path); !strings.Contains(users, "anna  operate  with a password") {
		t.Errorf("the users are %s", users)
	}
}
