//go:build !linux

package main

import (
	"errors"
	"os"
)

// hideInput reports that this system cannot hide what is typed.
func hideInput(*os.File) (show func(), err error) {
	return nil, errors.New("not supported on this system")
}
