package faultdisk

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These variables make the test binary the start of the watched program.
const (
	programEnv = "FAULTDISK_PROGRAM"
	socketEnv  = "FAULTDISK_SOCKET"
)

// Disk watches the calls on the files of a folder.
type Disk struct {
	// Decide returns the error of a call; 0 lets it happen. It is called by several goroutines if several programs run.
	Decide func(Call) unix.Errno

	dir   string
	lines *lines
}

// Watch returns a path that starts a program. Its calls on the files of the folder dir are decided by decide until the
// test ends. The main function of the test, TestMain, must begin with [Start]. A program that the kernel does
// not allow to be watched ends with [Unsupported].
func Watch(t testing.TB, program, dir string, decide func(Call) unix.Errno) (path string) {
	t.Helper()
	own, err := os.MkdirTemp("", "faultdisk-") // its path is short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(own) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	d := &Disk{Decide: decide, dir: dir + "/"}
	if d.lines, err = linesOf(program); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(own, "socket")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go d.accept(l)
	path = filepath.Join(own, "program")
	text := fmt.Sprintf("#!/bin/sh\nexport %s=%q %s=%q\nexec %q \"$@\"\n",
		programEnv, program, socketEnv, socket, os.Args[0])
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// Start becomes the watched program, if the process was started for that. Otherwise it does nothing.
func Start() {
	program := os.Getenv(programEnv)
	if program == "" {
		return
	}
	runtime.LockOSThread() // the filter is of this thread, which becomes the program
	err := handOver(os.Getenv(socketEnv))
	if err == nil {
		_ = os.Unsetenv(programEnv)
		err = syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "faultdisk:", err)
	os.Exit(Unsupported)
}

// handOver has the calls of this thread decided by the process that listens on a socket.
func handOver(socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	fd, err := listen()
	if err != nil {
		return fmt.Errorf("seccomp: %w; run this test outside of a container", err)
	}
	rights := unix.UnixRights(fd)
	_, _, err = conn.(*net.UnixConn).WriteMsgUnix([]byte{0}, rights, nil)
	return errors.Join(err, unix.Close(fd))
}

// listen makes the kernel ask before each call of this thread that is in calls.
func listen() (fd int, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the call
	for nr := range calls {
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(nr)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// Without the second flag, each signal of the runtime would interrupt a call and have it decided twice.
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	got, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return 0, errno
	}
	return int(got), nil
}

// accept serves the programs that are started, until the listener is closed.
func (d *Disk) accept(l *net.UnixListener) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return
		}
		var one [1]byte
		rights := make([]byte, unix.CmsgSpace(4))
		_, n, _, _, err := conn.ReadMsgUnix(one[:], rights)
		_ = conn.Close()
		if err != nil {
			continue
		}
		messages, err := unix.ParseSocketControlMessage(rights[:n])
		if err != nil || len(messages) == 0 {
			continue
		}
		if fds, err := unix.ParseUnixRights(&messages[0]); err == nil {
			go d.serve(fds[0])
		}
	}
}

// notice and answer are struct seccomp_notif and struct seccomp_notif_resp.
type notice struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type answer struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// serve decides the calls of a program until it has ended.
func (d *Disk) serve(fd int) {
	defer unix.Close(fd)
	for {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err == unix.EINTR {
			continue
		}
		if ready[0].Revents&unix.POLLIN == 0 {
			return // all threads have ended
		}
		var n notice
		if ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)) != 0 {
			continue // the thread was killed
		}
		a := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if errno := d.decide(n); errno != 0 {
			a.flags, a.errno = 0, -int32(errno)
		}
		// A signal of the runtime interrupts this on a busy machine. Another error means that the thread was killed.
		for ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) == unix.EINTR {
		}
	}
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument))
	return errno
}

func (d *Disk) decide(n notice) unix.Errno {
	kind := calls[uintptr(n.nr)]
	name := kind.path(n)
	rel, ok := strings.CutPrefix(name, d.dir)
	if name+"/" == d.dir {
		rel, ok = ".", true
	}
	if !ok {
		return 0
	}
	c := Call{Name: kind.name, Path: rel, Write: n.nr == unix.SYS_OPENAT && n.args[2]&(unix.O_ACCMODE|unix.O_CREAT) != 0}
	c.Stack = d.lines.stack(int(n.pid))
	return d.Decide(c)
}
