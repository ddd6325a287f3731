//go:build !linux

package frontier

import (
	"errors"
	"os"
)

// reserveBlocks returns an error: this system has no call for it.
func reserveBlocks(*os.File, int64, int64) error { return errors.ErrUnsupported }

func allocated(string) (int64, error) { return 0, errors.ErrUnsupported }

func freeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }

// CheckQuota does nothing on this system.
func CheckQuota(string) error { return nil }
