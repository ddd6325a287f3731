//go:build !unix

package main

import "os"

// terminalWidth reports that the number of columns is not known.
func terminalWidth(*os.File) int { return 0 }
