package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
)

// unreadMain stands for a main file that a curator may not read.
const unreadMain = `[operator]
name = "unknown"
contact = "https://unknown.example/"
`

// MayRead reports whether this user may read a file. A file that does not exist counts as readable.
func MayRead(path string) bool {
	f, err := os.Open(path)
	if err == nil {
		_ = f.Close()
	}
	return !errors.Is(err, fs.ErrPermission)
}

// HostFiles reads the configuration as it is on disk: the folder of the host files, and their texts by name, with the
// main file as "". A curator may not be allowed to read the main file: then another text stands for it, and the
// host files are in hosts.d next to it.
func HostFiles(path string) (dir string, texts map[string][]byte, err error) {
	dir, texts = filepath.Join(filepath.Dir(path), "hosts.d"), map[string][]byte{"": []byte(unreadMain)}
	if MayRead(path) {
		c, err := daemon.ReadConfig(path)
		if err != nil {
			return dir, texts, err
		}
		main, err := os.ReadFile(path)
		if err != nil {
			return dir, texts, daemon.FolderError{Err: err}
		}
		dir, texts[""] = c.HostsDir, main
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dir, texts, daemon.FolderError{Err: err}
	}
	for _, e := range entries {
		name := e.Name()
		if !config.IsHostFile(name) {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			texts[name] = text
		}
	}
	return dir, texts, nil
}

// CreateFile writes a new file and its folder. An existing file is an error and stays unchanged.
func CreateFile(path, text string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return daemon.FolderError{Err: err}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return daemon.FolderError{Err: fmt.Errorf("%s exists already and was not changed; remove it first if you do not need it", path)}
	case err != nil:
		return daemon.FolderError{Err: err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(text)
	return err
}

// ToFile calls write with a new file, or with the standard output if the name is "-".
func ToFile(cmd *cobra.Command, name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(cmd.OutOrStdout())
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return daemon.FolderError{Err: fmt.Errorf("write %s: %w", name, err)}
	}
	return errors.Join(write(file), file.Sync(), file.Close())
}

// HasPrime reports whether the program has the command prime, which is in a wing.
func HasPrime(cmd *cobra.Command) bool {
	_, _, err := cmd.Root().Find([]string{"prime"})
	return err == nil
}
