package curator

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/uri"
)

// Commands returns the commands that edit files of the configuration, and the one that lists changes.
func Commands(now func() time.Time) []*cobra.Command {
	return cli.In(cli.Curator, newSeeds(now), newHost(now), newChanges(now))
}

func newSeeds(now func() time.Time) *cobra.Command {
	return cli.Group("seeds", "List, add, import and remove seeds", newSeedsList(), newSeedsAdd(now),
		newSeedsRemove())
}

func newHost(now func() time.Time) *cobra.Command {
	return cli.Group("host", "List hosts with their states, and edit their configuration files",
		newHostList(), newHostEdit(now))
}

// configuredSeeds returns the seeds of the configuration. A curator who may not read the main file sees only the seeds
// of the host files, and whole is false. A broken file is named on errs.
func configuredSeeds(errs io.Writer, path string) (seeds []config.Seed, whole bool, err error) {
	if cli.MayRead(path) {
		c, err := cli.ReadConfig(errs, path)
		if err != nil {
			return nil, true, err
		}
		return c.Seeds, true, nil
	}
	s, err := openHostFiles(path)
	if err != nil {
		return nil, false, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Texts)) {
		if name == "" {
			continue
		}
		c, err := config.LoadTexts(path, map[string][]byte{"": s.Texts[""], name: s.Texts[name]})
		if err != nil {
			fmt.Fprintf(errs, "warning: the seeds of this file are not known: %v\n", err)
			continue
		}
		for _, seed := range c.Seeds {
			seed.File = filepath.Join(s.Dir, name)
			seeds = append(seeds, seed)
		}
	}
	return seeds, false, nil
}

// taken returns an error unless the configuration is valid and includes the new host files.
func taken(path string, files []string) error {
	if !cli.MayRead(path) {
		return hostFaults(path, files) // a curator
	}
	c, err := config.Load(path)
	if err != nil {
		return fmt.Errorf("the configuration has other faults; fix them:\n%w", err)
	}
	for _, file := range files {
		ours := func(name string) bool { return filepath.Base(name) == filepath.Base(file) }
		// A seed that another file lists already is reported as a warning.
		if !slices.ContainsFunc(c.Seeds, func(s config.Seed) bool { return ours(s.File) }) &&
			!slices.ContainsFunc(c.Warnings, func(w config.Fault) bool { return ours(w.File) }) {
			return daemon.FolderError{Err: fmt.Errorf("%s is not read: %s names another folder in storage.hosts; move the file there, and use --dir next time", file, path)}
		}
	}
	return nil
}

// hostFaults returns the faults of host files if the main file cannot be read.
func hostFaults(path string, files []string) error {
	s, err := openHostFiles(path)
	if err != nil {
		return err
	}
	ours := func(f config.Fault) bool {
		return slices.ContainsFunc(files, func(file string) bool { return filepath.Base(file) == filepath.Base(f.File) })
	}
	if faults := slices.DeleteFunc(s.faults(), func(f config.Fault) bool { return !ours(f) }); len(faults) > 0 {
		return faults
	}
	return nil
}

// suggestPrime prints the command that teaches the crawl what earlier crawls saw of hosts. It prints
// nothing for users who cannot read the main file, because prime needs it.
func suggestPrime(cmd *cobra.Command, out io.Writer, path string, hosts []uri.Host) error {
	if !cli.HasPrime(cmd) || !cli.MayRead(path) {
		return nil
	}
	c, err := config.Load(path)
	if err != nil {
		return err
	}
	source := "FILE…"
	if u, err := url.Parse(c.Index.OutbackCDX); err == nil && u.Host != "" {
		source = "--from " + u.Redacted()
	}
	flags := ""
	for _, h := range hosts {
		flags += " --host " + string(h)
	}
	_, err = fmt.Fprintf(out, "if crawled before: arcrawl prime -c %s --add%s %s\n", path, flags, source)
	return err
}

func showAdded(out io.Writer, a api.Added) error {
	for _, f := range a.Faults {
		fmt.Fprintf(out, "not a URI: %s\n", f)
	}
	for _, u := range a.Outside {
		fmt.Fprintf(out, "not added: %s is on a host without a seed in the configuration; run: arcrawl seeds add %s\n", u, u)
	}
	_, err := fmt.Fprintf(out, "%d added, %d already known, %d refused because their host is full%s\n",
		a.New, a.Known, a.Refused, posted(a.Posted))
	return err
}

// posted says how many URIs go to other nodes of a cluster.
func posted(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d sent to the nodes of their hosts", n)
}
