//go:build !unix

package cli

import "os"

// TerminalWidth reports that the number of columns is not known.
func TerminalWidth(*os.File) int { return 0 }
