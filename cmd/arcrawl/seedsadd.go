package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config/reference"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/uri"
)

// seedsAdd holds the flags of arcrawl seeds add.
type seedsAdd struct {
	d       cli.Daemon
	dir     string // of host files
	running bool
}

func newSeedsAdd() *cobra.Command {
	var s seedsAdd
	cmd := &cobra.Command{
		Use:   "add URI…",
		Short: "Add seeds to the files of their hosts and to the running crawl",
		Long: `add writes the seeds into the files of their hosts, and a new file for a new host, with the most common settings of a host as
comments. Nothing else in a file changes. Then it checks the configuration, like arcrawl check, and adds the seeds to the running crawl,
due now. If no daemon runs, the next one starts with them. A known URI does not change.

With --running-only no file changes: the URIs are added to the running crawl as URIs that no page links to. They must be on a host that
has a seed in the configuration, and they are lost if the store is rebuilt.

With --json the answer of the daemon is printed as JSON, and what happened to the files on standard error.`,
		Example: `  arcrawl seeds add https://www.news.example/ https://www.news.example/sport/
  arcrawl seeds add --config /etc/arcrawl/arcrawl.toml https://www.news.example/elections/`,
		Args: cobra.MinimumNArgs(1),
		RunE: s.run,
	}
	s.d.Add(cmd)
	cmd.Flags().StringVar(&s.dir, "dir", "", "write to this folder of host files (default: the one of the configuration)")
	cmd.Flags().BoolVar(&s.running, "running-only", false, "add the URIs to the running crawl only, not to a host file")
	return cmd
}

// run adds seeds to files and to the running crawl.
func (s *seedsAdd) run(cmd *cobra.Command, args []string) error {
	request := func(c *api.Client) (api.Added, error) { return c.AddSeeds(cmd.Context(), args) }
	if s.running {
		return cli.Ask(cmd, &s.d, showAdded, request)
	}
	told := cmd.OutOrStdout()
	if s.d.JSON {
		told = cmd.ErrOrStderr()
	}
	if err := s.toFiles(cmd, told, args); err != nil {
		return err
	}
	client, err := s.d.Client()
	if err != nil && s.d.Socket == "" {
		_, err = fmt.Fprintf(told, "the running crawl was not told: %v\n", err)
		return err
	}
	added, err := request(client)
	if errors.Is(err, api.ErrNoDaemon) && s.d.Socket == "" {
		_, err = fmt.Fprintln(told, "no daemon runs; the next one starts with these seeds")
		return err
	}
	return cli.Print(&s.d, cmd.OutOrStdout(), added, err, showSeedsAdded)
}

// toFiles writes seeds into the files of their hosts.
func (s *seedsAdd) toFiles(cmd *cobra.Command, out io.Writer, args []string) error {
	path, dir := s.d.Config, s.dir
	if _, err := os.Stat(path); err != nil {
		return daemon.FolderError{Err: fmt.Errorf("cannot find the main file: %w; name it with --config, or write one with arcrawl init", err)}
	}
	if dir == "" {
		files, err := openHostFiles(path)
		if err != nil {
			return fmt.Errorf("%w\nto add the URIs to the running crawl only, use --running-only", err)
		}
		dir = files.dir
	}
	fresh, err := writeSeeds(out, path, dir, args)
	if err != nil || len(fresh) == 0 {
		return err
	}
	return suggestPrime(cmd, out, path, fresh)
}

// writeSeeds writes seeds into the files of their hosts, and checks the configuration. It returns the hosts that had no
// file.
func writeSeeds(out io.Writer, path, dir string, args []string) (fresh []uri.Host, err error) {
	hosts, seeds, err := reference.SeedsByHost(args)
	if err != nil {
		return nil, cli.Usage(err)
	}
	var written []string
	for _, h := range hosts {
		file := filepath.Join(dir, reference.HostFileName(h)+".toml")
		if !fileExists(file) {
			fresh = append(fresh, h)
		}
		done, err := addSeeds(file, h, seeds[h])
		if err != nil {
			return nil, err
		}
		if _, err := fmt.Fprintln(out, done); err != nil {
			return nil, err
		}
		written = append(written, file)
	}
	return fresh, taken(path, written)
}

// showSeedsAdded prints what the running crawl did with seeds that are in the configuration.
func showSeedsAdded(out io.Writer, a api.Added) error {
	for _, u := range a.Outside {
		fmt.Fprintf(out, "%s is on a new host: the running crawl visits it when it has read the new file; see arcrawl reload\n", u)
	}
	_, err := fmt.Fprintf(out, "in the running crawl: %d added, %d already known, %d refused because their host is full%s\n",
		a.New, a.Known, a.Refused, posted(a.Posted))
	return err
}
