package offload

import (
	"errors"
	"fmt"
	"io/fs"
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
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the state folder %s does not exist: name the configuration that the daemon uses", state)
	}
	if err != nil {
		return nil, fmt.Errorf("lock finished WARC files: %w", err)
	}
	keepOwner(f, state)
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return f.Close, nil
}

// keepOwner changes the owner of a file of root to the owner of its folder, because a command of root may create the
// file before the daemon needs it. If that fails, the daemon reports that it cannot open the file.
func keepOwner(f *os.File, folder string) {
	if os.Geteuid() != 0 {
		return
	}
	info, err := os.Stat(folder)
	if err != nil {
		return
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}
