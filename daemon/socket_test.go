package daemon

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// A socket in a folder with a long path works too. It is removed when it is closed.
func TestSocketsMayHaveLongPaths(t *testing.T) {
	t.Parallel()
	for _, deep := range []string{"s", strings.Repeat("s", 120)} {
		dir := filepath.Join(t.TempDir(), deep)
		archivetest.Must(t, os.Mkdir(dir, 0o755))
		path := filepath.Join(dir, "admin.sock")
		l, err := listenSocket(path)
		archivetest.Must(t, err)
		conn, err := api.DialSocket(t.Context(), path)
		if err != nil {
			t.Fatalf("a path of %d characters: %v", len(path), err)
		}
		_ = conn.Close()
		if _, err := listenSocket(path); err == nil || !strings.Contains(err.Error(), "another process answers") {
			t.Errorf("a second listener: %v", err)
		}
		_ = l.Close()
		removeSocket(path)
		if _, err := api.DialSocket(t.Context(), path); err == nil {
			t.Error("the socket accepts connections after it was closed")
		}
	}
}

// An operator names a file, a folder or a link as admin.socket. The daemon neither starts nor deletes it.
func TestASocketReplacesNothingButASocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(path("seeds.txt"), []byte("years of work"), 0o600),
		os.Mkdir(path("folder"), 0o700),
		os.Symlink(path("seeds.txt"), path("link")),
	} {
		archivetest.Must(t, err)
	}
	for _, name := range []string{"seeds.txt", "folder", "link"} {
		if l, err := listenSocket(path(name)); err == nil || !strings.Contains(err.Error(), "not a socket") {
			t.Errorf("listen on %s: %v, %v, want an error that says why", name, l, err)
		}
		if err := removeSocket(path(name)); err == nil {
			t.Errorf("%s was removed", name)
		}
		if _, err := os.Lstat(path(name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
	if got, err := os.ReadFile(path("seeds.txt")); string(got) != "years of work" {
		t.Errorf("the file holds %q: %v", got, err)
	}
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path("left"), Net: "unix"})
	archivetest.Must(t, err)
	left.SetUnlinkOnClose(false)
	left.Close() // as a crash leaves it
	l, err := listenSocket(path("left"))
	if err != nil {
		t.Fatalf("a socket that a crash has left is not replaced: %v", err)
	}
	l.Close()
}
