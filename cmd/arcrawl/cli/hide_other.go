//go:build !linux

package cli

import (
	"errors"
	"os"
)

// HideInput reports that this system cannot hide what is typed.
func HideInput(*os.File) (show func(), err error) {
	return nil, errors.New("not supported on this system")
}
