package keep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// lockName is the name of the lock file, in the state folder.
const lockName = "offload.lock"

// lock keeps other processes from deleting or replacing finished files until unlock is called. It waits without a
// context, because it is held only for moments: no file is copied or compared meanwhile.
func lock(state string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(state, lockName), os.O_CREATE|os.O_RDWR, 0o640)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the state folder %s does not exist: name the configuration that the daemon uses", state)
	}
	if err != nil {
		return nil, fmt.Errorf("lock finished WARC files: %w", err)
	}
	if folder, err := os.Stat(state); err == nil {
		_ = fileio.KeepOwner(f.Name(), folder) // if it fails, the daemon reports that it cannot open the file
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return f.Close, nil
}
