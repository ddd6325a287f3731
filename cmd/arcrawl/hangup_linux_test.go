package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestAHangupWhileTheRoomsAreOpenedIsKept rotates the log while the daemon opens its rooms, as logrotate may after a restart. A pipe in the
// place of the live index holds the opening up.
func TestAHangupWhileTheRoomsAreOpenedIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "arcrawl.toml")
	writeFile(t, config, "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\nstorage.min_free = \"0B\"\n")
	pipe := filepath.Join(dir, "warc", "live.cdxj")
	if err := os.Mkdir(filepath.Dir(pipe), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	d := startDaemon(t, build(t, dir), config)
	for giveUp := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "crawl.log")); err == nil {
			break // the log is opened before the index
		}
		if time.Now().After(giveUp) {
			t.Fatalf("the daemon does not open its rooms:\n%s", d.output())
		}
	}
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until it is read
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d.waitToSay(t, "crawl.log reopened")
	d.terminate(t)
}
