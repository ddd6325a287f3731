package faultdisk

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// call is a system call that can be made to fail.
type call struct {
	name string
	path func(n notice) string // of its file; "" if it is on no file
}

// calls are the calls by which Go programs open, write, sync, name and remove files.
var calls = map[uintptr]call{
	unix.SYS_OPENAT:          {"openat", named(0, 1)},
	unix.SYS_MKDIRAT:         {"mkdirat", named(0, 1)},
	unix.SYS_UNLINKAT:        {"unlinkat", named(0, 1)},
	unix.SYS_FCHMODAT:        {"fchmodat", named(0, 1)},
	unix.SYS_FCHOWNAT:        {"fchownat", named(0, 1)},
	unix.SYS_RENAMEAT:        {"renameat", named(2, 3)}, // the new name
	unix.SYS_RENAMEAT2:       {"renameat", named(2, 3)},
	unix.SYS_LINKAT:          {"linkat", named(2, 3)},
	unix.SYS_WRITE:           {"write", open(0)},
	unix.SYS_PWRITE64:        {"pwrite64", open(0)},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", open(2)},
	unix.SYS_FSYNC:           {"fsync", open(0)},
	unix.SYS_FDATASYNC:       {"fdatasync", open(0)},
	unix.SYS_FTRUNCATE:       {"ftruncate", open(0)},
	unix.SYS_FALLOCATE:       {"fallocate", open(0)},
	unix.SYS_FCHMOD:          {"fchmod", open(0)},
	unix.SYS_CLOSE:           {"close", open(0)},
	unix.SYS_MSYNC:           {"msync", mapped},
}

// open returns the path of the open file that an argument of a call is.
func open(arg int) func(notice) string {
	return func(n notice) string { return link(n, strconv.Itoa(int(int32(n.args[arg])))) }
}

// link returns the path of an open file of a process.
func link(n notice, fd string) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", n.pid, fd))
	return strings.TrimSuffix(path, " (deleted)")
}

// named returns the path that an argument of a call points to. It may be relative to a folder that is another argument.
func named(folder, arg int) func(notice) string {
	return func(n notice) string {
		var buffer [unix.PathMax]byte
		end := bytes.IndexByte(buffer[:read(n.pid, n.args[arg], buffer[:])], 0)
		if end < 0 {
			return ""
		}
		path := string(buffer[:end])
		if filepath.IsAbs(path) {
			return filepath.Clean(path)
		}
		base := ""
		if at := int32(n.args[folder]); at == unix.AT_FDCWD {
			base, _ = os.Readlink(fmt.Sprintf("/proc/%d/cwd", n.pid))
		} else {
			base = link(n, strconv.Itoa(int(at)))
		}
		return filepath.Join(base, path)
	}
}

// mapped returns the path of the file that is mapped at the first argument.
func mapped(n notice) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", n.pid))
	for line := range strings.Lines(string(text)) {
		bounds, _, _ := strings.Cut(line, " ")
		low, high, _ := strings.Cut(bounds, "-")
		from, _ := strconv.ParseUint(low, 16, 64)
		to, _ := strconv.ParseUint(high, 16, 64)
		if slash := strings.IndexByte(line, '/'); slash > 0 && from <= n.args[0] && n.args[0] < to {
			return strings.TrimSuffix(strings.TrimSpace(line[slash:]), " (deleted)")
		}
	}
	return ""
}

// read reads memory of a process, and returns how many bytes it could.
func read(pid uint32, at uint64, into []byte) int {
	// A page that is not there ends the read, so each page is a part of its own.
	var remote []unix.RemoteIovec
	const page = 4096
	for done := uint64(0); done < uint64(len(into)); {
		n := min(page-(at+done)%page, uint64(len(into))-done)
		remote = append(remote, unix.RemoteIovec{Base: uintptr(at + done), Len: int(n)})
		done += n
	}
	iov := unix.Iovec{Base: &into[0]}
	iov.SetLen(len(into))
	n, _ := unix.ProcessVMReadv(int(pid), []unix.Iovec{iov}, remote, 0)
	return max(n, 0)
}
