package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// TestFilesCanBeLockedOverNFS asks for the lock that NFS asks its server for in place of flock. Only a file that is
// open for writing can have it.
func TestFilesCanBeLockedOverNFS(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users")
	archivetest.Must(t, os.WriteFile(path, nil, 0o600))
	f, err := openLocked(path)
	archivetest.Must(t, err)
	defer func() { _ = f.Close() }()
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		t.Errorf("NFS cannot lock the file: %v", err)
	}
	if err := lockFault(path, unix.ENOLCK); !strings.Contains(err.Error(), "local disk") {
		t.Errorf("without locks the error is %v, with no remedy", err)
	}
}
