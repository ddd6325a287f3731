package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config/patch"
	"github.com/arcrawl/arcrawl/config/reference"
	"github.com/arcrawl/arcrawl/config/value"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/atomicfile"
	"github.com/arcrawl/arcrawl/uri"
)

func newHostRename() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "rename OLD NEW",
		Short: "Move the file of a host and its seeds to another host",
		Long: `rename writes the file of the host NEW with the settings of OLD and removes the file of OLD. Seeds on OLD become seeds on NEW,
also where another setting repeats them; everything else stays unchanged, and lines that still name OLD are printed. The configuration is
checked before. An existing file of NEW
is never changed.

The history of OLD stays in the store. Its URIs are out of scope, unless another seed brings them into scope, and keep their due times.
NEW begins without a history.`,
		Example: "  arcrawl host rename www.news.example news.example",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := openHostFiles(path)
			if err != nil {
				return err
			}
			file, text, err := renamed(s, args[0], args[1])
			if err != nil {
				return err
			}
			old, err := hostFilePath(s.dir, args[0])
			if err != nil {
				return err
			}
			if err := moveText(old, file, text); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "renamed %s to %s\n", old, file)
			for i, line := range strings.Split(string(text), "\n") {
				if strings.Contains(strings.ReplaceAll(line, args[1], ""), args[0]) {
					fmt.Fprintf(out, "%s:%d still names %s: %s\n", file, i+1, args[0], strings.TrimSpace(line))
				}
			}
			return nil
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

// renamed returns the path and the text of a host file under another host. A host that has a file already, and a
// configuration that would get faults, are errors.
func renamed(s stagedFiles, from, to string) (file string, text []byte, err error) {
	old, err := hostFilePath(s.dir, from)
	if err != nil {
		return "", nil, err
	}
	var hosts [2]uri.Host
	for i, name := range []string{from, to} {
		h, problem, remedy := value.ParseHost(name)
		if problem != "" {
			return "", nil, cli.Usage(fmt.Errorf("%q %s; %s", name, problem, remedy))
		}
		hosts[i] = h
	}
	if taken, err := hostFilePath(s.dir, to); err == nil {
		return "", nil, cli.Usage(fmt.Errorf("%s has a file already, %s, which was not changed; edit it, or remove it with arcrawl seeds remove", to, taken))
	}
	name := reference.HostFileName(hosts[1]) + ".toml"
	text, err = patch.RenameHost(s.texts[filepath.Base(old)], hosts[0], hosts[1], name == string(hosts[1])+".toml")
	if err != nil {
		return "", nil, daemon.FolderError{Err: fmt.Errorf("%s was not renamed: %w", old, err)}
	}
	next := s.with(filepath.Base(old), nil).with(name, text)
	if faults := next.newFaults(s); len(faults) > 0 {
		return "", nil, fmt.Errorf("%w\n%s was not renamed: the configuration would have these faults", faults, old)
	}
	return filepath.Join(s.dir, name), text, nil
}

// moveText writes a text to a new file and removes the old one. An existing file of the new name is an error.
func moveText(old, file string, text []byte) error {
	info, err := os.Stat(old)
	if err != nil {
		return daemon.FolderError{Err: err}
	}
	f, err := atomicfile.Create(file, info.Mode().Perm())
	if err != nil {
		return daemon.FolderError{Err: err}
	}
	defer f.Discard()
	if _, err = f.Write(text); err == nil {
		err = f.New()
	}
	if errors.Is(err, fs.ErrExist) {
		return daemon.FolderError{Err: fmt.Errorf("%s exists already; neither file was changed", file)}
	}
	if err == nil {
		err = os.Remove(old)
	}
	if err != nil {
		return daemon.FolderError{Err: err}
	}
	return nil
}
