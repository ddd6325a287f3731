// Package fileutil renames files for gowarc. gowarc uses one function of the package of this name in the module of the
// Prometheus server. arcrawl does not contain that server; its go.mod replaces the module by this folder.
package fileutil

import (
	"errors"
	"os"
	"path/filepath"
)

// Rename renames a file. On return the new name is on disk.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
