package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/names"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/about"
	"github.com/arcrawl/arcrawl/config/patch"
	"github.com/arcrawl/arcrawl/config/reference"
	"github.com/arcrawl/arcrawl/config/value"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/atomicfile"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// addSeeds adds seeds to a host file, which is written if it does not exist. It returns what was done, for people.
func addSeeds(file string, h uri.Host, seeds []string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "wrote " + file, create(file, reference.HostFile(h, seeds))
	}
	if err != nil {
		return "", daemon.FolderError{Err: err}
	}
	edited, err := patch.AddSeeds(text, seeds)
	if err != nil {
		return "", daemon.FolderError{Err: fmt.Errorf("%s was not changed: %w", file, err)}
	}
	n := len(patch.Seeds(edited)) - len(patch.Seeds(text))
	if n == 0 {
		return file + " was not changed: it lists these seeds already", nil
	}
	return fmt.Sprintf("added %s to %s", human.Count(n, "seed"), file), replaceText(file, edited)
}

// replaceText replaces a file and keeps its mode.
func replaceText(file string, text []byte) error {
	if err := atomicfile.Edit(file, text); err != nil {
		return daemon.FolderError{Err: err}
	}
	return nil
}

// hostFilePath returns the path of the file of a host in the folder of host files. A folder without such a file is an
// error.
func hostFilePath(dir, name string) (string, error) {
	h, problem, remedy := value.ParseHost(name)
	if problem != "" {
		return "", cli.Usage(fmt.Errorf("%q %s; %s", name, problem, remedy))
	}
	for _, candidate := range []string{string(h), reference.HostFileName(h)} {
		if path := filepath.Join(dir, candidate+".toml"); fileExists(path) {
			return path, nil
		}
	}
	return "", cli.Usage(fmt.Errorf("there is no file for %s in %s; arcrawl host list shows all", h, dir))
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func newHostList() *cobra.Command {
	var path string
	var only about.Filter
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the host files with the number of their seeds, titles and labels",
		Long: `list prints each host file, its number of seeds, its title, labels, collections and owner, and whether it has a fault. Removed
files are listed too, unless hosts are chosen. Internationalized names are shown in Unicode.`,
		Example: "  arcrawl host list\n  arcrawl host list --label newspapers --owner maria",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := openHostFiles(path)
			if err != nil {
				return err
			}
			return s.list(cmd.OutOrStdout(), only)
		},
	}
	cli.ConfigFlag(cmd, &path)
	cli.SiteFlags(cmd, &only)
	return cmd
}

// sites returns what curators wrote about the host of each host file without faults, by file name, and all faults.
func (s stagedFiles) sites() (map[string]about.Site, config.Faults) {
	c, err := config.LoadTexts(s.path, s.texts)
	if err == nil {
		return c.Sites().Files, nil
	}
	var faults config.Faults
	errors.As(err, &faults)
	good := s
	good.texts = maps.Clone(s.texts)
	for _, f := range faults {
		if name := filepath.Base(f.File); f.File != s.path {
			delete(good.texts, name)
		}
	}
	if c, err = config.LoadTexts(good.path, good.texts); err != nil {
		return nil, faults
	}
	return c.Sites().Files, faults
}

// list prints the host files that a filter selects.
func (s stagedFiles) list(out io.Writer, only about.Filter) error {
	sites, faults := s.sites()
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return daemon.FolderError{Err: err}
	}
	table := cli.NewTable(out)
	for _, e := range entries {
		name, removed := e.Name(), filepath.Ext(e.Name()) == api.RemovedSuffix
		if filepath.Ext(name) != ".toml" && !removed {
			continue
		}
		host := strings.TrimSuffix(strings.TrimSuffix(name, api.RemovedSuffix), ".toml")
		var site about.Site
		state := ""
		isOf := func(f config.Fault) bool { return filepath.Base(f.File) == name }
		switch {
		case removed:
			state = "removed"
		case slices.ContainsFunc(faults, isOf):
			state = "faulty; arcrawl check says why"
		default:
			site = sites[name]
		}
		if !only.Matches(site) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			state = err.Error()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t\n", human.Host(host), human.Count(len(patch.Seeds(text)), "seed"),
			site.Title, strings.Join(site.Names(), ", "), state)
	}
	if c, err := daemon.ReadConfig(s.path); err == nil && only.Matches(about.Site{}) { // a curator may not read it
		for _, h := range slices.Sorted(maps.Keys(names.RemovedIn(c))) {
			if !fileExists(filepath.Join(s.dir, reference.HostFileName(h)+".toml"+api.RemovedSuffix)) {
				fmt.Fprintf(table, "%s\t\t\t\tremoved\t\n", human.Host(string(h)))
			}
		}
	}
	return table.Flush()
}

// openHostFile returns the host files of a configuration, and the path of the file of one host.
func openHostFile(path, host string) (s stagedFiles, file string, err error) {
	if s, err = openHostFiles(path); err != nil {
		return stagedFiles{}, "", err
	}
	file, err = hostFilePath(s.dir, host)
	return s, file, err
}

func newHostShow() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:     "show HOST",
		Short:   "Print the file of a host",
		Example: "  arcrawl host show www.news.example > drafts/www.news.example.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, file, err := openHostFile(path, args[0])
			if err != nil {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return daemon.FolderError{Err: err}
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

func newHostRemove() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "remove HOST",
		Short: "Take the file of a host out of the configuration",
		Long: `remove renames the file of a host, so that it is not read any more: its name ends in ` + api.RemovedSuffix + `. Rename it back to restore it.
The history of the host stays in the store. URIs of which it had the only seed are out of scope until then, and keep their due times.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, file, err := openHostFile(path, args[0])
			if err != nil {
				return err
			}
			if err := os.Rename(file, file+api.RemovedSuffix); err != nil {
				return daemon.FolderError{Err: err}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "renamed %s to %s\n", file, filepath.Base(file)+api.RemovedSuffix)
			return err
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

func newSeedsList() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the seeds of the configuration with their files",
		Long: `list prints each seed with the file and line that list it. Without permission to read the main file it prints the seeds of the
host files only, and says so.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			seeds, whole, err := configuredSeeds(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			if !whole {
				fmt.Fprintf(cmd.ErrOrStderr(), "only host files: you may not read %s, which may list more seeds\n", path)
			}
			table := cli.NewTable(cmd.OutOrStdout())
			for _, s := range seeds {
				fmt.Fprintf(table, "%s\t%s:%d\t%s\t\n", s.URI, s.File, s.Line, human.Unicode(s.URI.Hostname()))
			}
			return table.Flush()
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

func newSeedsRemove() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "remove URI…",
		Short: "Remove seeds from the files of their hosts",
		Long: `remove takes seeds out of the files that list them. Their history stays in the store. They are out of scope unless another seed
brings them into scope.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			seeds, whole, err := configuredSeeds(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			for _, arg := range args {
				file, err := removeSeed(seeds, arg)
				if errors.Is(err, errNoSeed) && !whole {
					err = fmt.Errorf("%w in a host file; ask somebody who may write %s, which may list it", err, path)
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "removed %s from %s\n", arg, file)
			}
			return nil
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

// errNoSeed says that a URI is no seed.
var errNoSeed = errors.New("it is no seed")

// removeSeed removes a seed from the file that lists it, and returns the file.
func removeSeed(seeds []config.Seed, address string) (string, error) {
	u, err := uri.Parse(address)
	if err != nil {
		return "", cli.Usage(err)
	}
	i := slices.IndexFunc(seeds, func(s config.Seed) bool { return s.URI == u })
	if i < 0 {
		return "", cli.Usage(fmt.Errorf("%s cannot be removed, arcrawl seeds list shows all seeds: %w", u, errNoSeed))
	}
	file := seeds[i].File
	text, err := os.ReadFile(file)
	if err != nil {
		return "", daemon.FolderError{Err: err}
	}
	for _, written := range patch.Seeds(text) {
		if w, err := uri.Parse(written); err != nil || w != u {
			continue
		}
		edited, err := patch.RemoveSeed(text, written)
		if err != nil {
			return "", daemon.FolderError{Err: fmt.Errorf("%s was not changed: %w", file, err)}
		}
		return file, replaceText(file, edited)
	}
	return "", daemon.FolderError{Err: fmt.Errorf("%s was not changed: %w", file, patch.ErrByHandSeeds)}
}
