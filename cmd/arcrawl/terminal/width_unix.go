//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Width returns the number of columns of a terminal. It returns 0 if f is another file.
func Width(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
