//go:build unix

package fileio_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

func TestALockIsHeldUntilItsFileIsClosed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	var files [2]*os.File
	for i := range files {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		must(t, err)
		defer f.Close()
		files[i] = f
	}
	must(t, fileio.Lock(files[0]))
	if fileio.TryLock(files[1]) == nil {
		t.Error("two files have the lock")
	}
	must(t, files[0].Close())
	if err := fileio.TryLock(files[1]); err != nil {
		t.Errorf("the lock of a closed file is still held: %v", err)
	}
}
