package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin"
)

// The socket of a deep folder is found as well as that of any other, and is gone when it is shut.
func TestASocketMayHaveALongPath(t *testing.T) {
	t.Parallel()
	for _, deep := range []string{"s", strings.Repeat("s", 120)} {
		dir := filepath.Join(t.TempDir(), deep)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "admin.sock")
		at, done, err := listenSocket(path)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := admin.DialSocket(t.Context(), path)
		if err != nil {
			t.Fatalf("a path of %d characters: %v", len(path), err)
		}
		_ = conn.Close()
		if _, _, err := listenSocket(path); err == nil || !strings.Contains(err.Error(), "another process answers") {
			t.Errorf("a second listener: %v", err)
		}
		_ = at.Close()
		done()
		if _, err := admin.DialSocket(t.Context(), path); err == nil {
			t.Error("the socket answers after it was shut")
		}
	}
}
