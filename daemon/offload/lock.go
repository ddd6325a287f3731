package offload

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockName is the name of the lock file, in the state folder.
const lockName = "offload.lock"

// lock keeps other processes from deleting or replacing finished files until unlock is called. It is held only for
// moments: no file is copied or compared meanwhile.
func lock(state string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(state, lockName), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, fmt.Errorf("lock finished WARC files: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return f.Close, nil
}
