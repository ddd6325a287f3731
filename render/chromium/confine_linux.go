package chromium

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// namespaces says that the system has network namespaces.
const namespaces = true

// nobody is the user that the browser runs as if the program runs as root.
const nobody = 65534

// userOf returns the credentials of the browser, and makes it the owner of its folder. Nil means the user of this
// process.
func userOf(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	return &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: false}, os.Chown(dir, nobody, nobody)
}

// confine sets the user of a process and, if namespace is set, a network without interfaces. The process ends with the
// thread that starts it.
func confine(c *exec.Cmd, user *syscall.Credential, namespace bool) {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: user}
	if namespace {
		a.Cloneflags = syscall.CLONE_NEWNET
		if user == nil {
			a.Cloneflags |= syscall.CLONE_NEWUSER
			a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
			a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		}
	}
	c.SysProcAttr = a
}

// isDenied reports whether the system denied a namespace.
func isDenied(err error) bool {
	for _, e := range []error{syscall.EPERM, syscall.EINVAL, syscall.ENOSPC, syscall.EACCES, syscall.ENOSYS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
