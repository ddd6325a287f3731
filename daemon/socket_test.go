package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
)

// A socket in a folder with a long path works too. It is removed when it is closed.
func TestSocketsMayHaveLongPaths(t *testing.T) {
	t.Parallel()
	for _, deep := range []string{"s", strings.Repeat("s", 120)} {
		dir := filepath.Join(t.TempDir(), deep)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "admin.sock")
		l, err := listenSocket(path)
		if err != nil {
			t.Fatal(err)
		}
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
