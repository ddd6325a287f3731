package clusterdemo

import (
	"os"
	"syscall"
)

// nobody is the user and group that run the database for root, which PostgreSQL refuses.
const nobody = 65534

// ofOurOwn lets a process be in a group of its own, which Ctrl-C does not reach, and get a signal when this process is
// killed.
func ofOurOwn(atDeath syscall.Signal, unprivileged bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: atDeath}
	if unprivileged && os.Getuid() == 0 {
		a.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return a
}

// give makes a folder the folder of the user that runs the database.
func give(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	return os.Chown(dir, nobody, nobody)
}
