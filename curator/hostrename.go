package curator

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/uri"
)

// renameHost moves the file of a host and its seeds to another host, and prints the lines that still name the old one.
func renameHost(out io.Writer, path, from, to string) error {
	s, err := openHostFiles(path)
	if err != nil {
		return err
	}
	file, text, err := renamed(s, from, to)
	if err != nil {
		return err
	}
	old, err := hostFilePath(s.Dir, from)
	if err != nil {
		return err
	}
	if err := moveText(old, file, text); err != nil {
		return err
	}
	fmt.Fprintf(out, "renamed %s to %s\n", old, file)
	for i, line := range strings.Split(string(text), "\n") {
		if strings.Contains(strings.ReplaceAll(line, to, ""), from) {
			fmt.Fprintf(out, "%s:%d still names %s: %s\n", file, i+1, from, strings.TrimSpace(line))
		}
	}
	return nil
}

// renamed returns the path and the text of a host file under another host. A host that has a file already, and a
// configuration that would get faults, are errors.
func renamed(s configFiles, from, to string) (file string, text []byte, err error) {
	old, err := hostFilePath(s.Dir, from)
	if err != nil {
		return "", nil, err
	}
	var hosts [2]uri.Host
	for i, name := range []string{from, to} {
		h, problem, remedy := schema.ParseHost(name)
		if problem != "" {
			return "", nil, cli.Usage(fmt.Errorf("%q %s; %s", name, problem, remedy))
		}
		hosts[i] = h
	}
	if taken, err := hostFilePath(s.Dir, to); err == nil {
		return "", nil, cli.Usage(fmt.Errorf("%s has a file already, %s, which was not changed; edit it, or remove it with arcrawl seeds remove", to, taken))
	}
	name := config.HostFileName(hosts[1]) + ".toml"
	text, err = replaceHost(s.Texts[filepath.Base(old)], hosts[0], hosts[1], name == string(hosts[1])+".toml")
	if err != nil {
		return "", nil, daemon.FolderError{Err: fmt.Errorf("%s was not renamed: %w", old, err)}
	}
	next := s.with(filepath.Base(old), nil).with(name, text)
	if faults := next.newFaults(s); len(faults) > 0 {
		return "", nil, fmt.Errorf("%w\n%s was not renamed: the configuration would have these faults", faults, old)
	}
	return filepath.Join(s.Dir, name), text, nil
}

// moveText writes a text to a new file and removes the old one. An existing file of the new name is an error.
func moveText(old, file string, text []byte) error {
	info, err := os.Stat(old)
	if err != nil {
		return daemon.FolderError{Err: err}
	}
	f, err := fileio.Create(file, info.Mode().Perm())
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
