package main

import (
	"fmt"
	"io"
	"os"
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
