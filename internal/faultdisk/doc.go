// Package faultdisk runs a program whose system calls on the files of a folder can be made to fail, one by one, for
// tests. The program is the real one, without a change. It works on Linux only.
//
// The kernel asks the test before each such call (seccomp, SECCOMP_RET_USER_NOTIF). The test sees which call it is, on
// which file, and where in the program it is made. It answers with an error, or lets the call happen.
//
// Pages of mapped files are written without a system call, so a test cannot make that fail in this way. It sees msync,
// fallocate and ftruncate of such files.
package faultdisk

import "fmt"

// module begins the names of the files of our own code.
const module = "github.com/arcrawl/arcrawl/"

// Unsupported is the exit code of a program that cannot be watched. It has said why.
const Unsupported = 99

// Call is a system call that is about to happen.
type Call struct {
	Name  string   // as in its manual page, such as "fsync"
	Path  string   // of the file, without the watched folder
	Write bool     // of an open: the file may be made or changed
	Stack []string // where it is made, as "warcout/life.go:25", the innermost line of this module first
}

// String returns the call with the innermost line that makes it.
func (c Call) String() string {
	at := "?"
	if len(c.Stack) > 0 {
		at = c.Stack[0]
	}
	return fmt.Sprintf("%s %s at %s", c.Name, c.Path, at)
}
