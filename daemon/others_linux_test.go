package daemon_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// nobody is a user who owns no file, and its group.
const nobody = 65534

// Another user of the machine, who is not in the group of the daemon, can neither read nor change what is in its
// folders, and cannot open its socket, also where the socket is in a folder that everybody may read.
func TestAnotherLocalUserReachesNothing(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	open := t.TempDir()
	socket := filepath.Join(open, "admin.sock")
	l := daemontest.Start(t, func(_, main string) string {
		return strings.NewReplacer("[admin]", fmt.Sprintf("[admin]\nsocket = %q", socket),
			"[storage]", "[storage]\nlog = \"log/crawl.log\"").Replace(main)
	})
	l.Visited(t)
	for _, dir := range []string{open, filepath.Dir(open), l.Dir, filepath.Dir(l.Dir)} {
		archivetest.Must(t, os.Chmod(dir, 0o755)) // what is below must be closed by itself
	}
	archivetest.Must(t, os.WriteFile(filepath.Join(l.Dir, "state", "open"), nil, 0o644)) // its folder is closed
	var files []string
	archivetest.Must(t, filepath.WalkDir(l.Dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && path != l.Path {
			files = append(files, path)
		}
		return err
	}))
	if len(files) < 6 {
		t.Fatalf("the daemon has written only %q", files)
	}
	if err := connect(socket); err != nil {
		t.Fatalf("root cannot open the socket: %v", err)
	}
	for _, problem := range as(nobody, func() (problems []string) {
		if _, err := os.ReadFile("/proc/self/cmdline"); err != nil {
			problems = append(problems, fmt.Sprintf("another user can read nothing at all: %v", err))
		}
		for _, file := range files {
			for _, flag := range []int{os.O_RDONLY, os.O_WRONLY} {
				f, err := os.OpenFile(file, flag, 0)
				if !errors.Is(err, fs.ErrPermission) {
					problems = append(problems, fmt.Sprintf("another user can open %s: %v", file, err))
				}
				_ = f.Close() // of nil, an error
			}
		}
		if err := connect(socket); !errors.Is(err, unix.EACCES) {
			problems = append(problems, fmt.Sprintf("another user opens the socket: %v", err))
		}
		return problems
	}) {
		t.Error(problem)
	}
}

// as calls a function on a thread of another user, and returns what it returns.
func as(id uintptr, run func() []string) []string {
	problems := make(chan []string)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for _, call := range [][4]uintptr{
			{unix.SYS_SETGROUPS, 0, 0, 0}, {unix.SYS_SETRESGID, id, id, id}, {unix.SYS_SETRESUID, id, id, id},
		} {
			if _, _, errno := syscall.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
				problems <- []string{errno.Error()}
				return
			}
		}
		problems <- run()
	}()
	return <-problems
}

// connect opens a unix socket.
func connect(path string) error {
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	return unix.Connect(s, &unix.SockaddrUnix{Name: path})
}
