package curator

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
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// addSeeds adds seeds to a host file, which is written if it does not exist. It returns what was done, for people.
func addSeeds(file string, h uri.Host, seeds []string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", daemon.FolderError{Err: err}
		}
		return "wrote " + file, replaceText(file, []byte(config.NewHostFile(h, seeds)))
	}
	if err != nil {
		return "", daemon.FolderError{Err: err}
	}
	edited, err := moreSeeds(text, seeds)
	if err != nil {
		return "", daemon.FolderError{Err: fmt.Errorf("%s was not changed: %w", file, err)}
	}
	n := len(seedsIn(edited)) - len(seedsIn(text))
	if n == 0 {
		return file + " was not changed: it lists these seeds already", nil
	}
	return fmt.Sprintf("added %s to %s", human.Count(n, "seed"), file), replaceText(file, edited)
}

// replaceText replaces a file and keeps its mode. A new one has the mode that its folder asks for.
func replaceText(file string, text []byte) error {
	if err := fileio.Edit(file, text); err != nil {
		return daemon.FolderError{Err: err}
	}
	return nil
}

// hostFilePath returns the path of the file of a host in the folder of host files. A folder without such a file is an
// error.
func hostFilePath(dir, name string) (string, error) {
	h, problem, remedy := schema.ParseHost(name)
	if problem != "" {
		return "", cli.Usage(fmt.Errorf("%q %s; %s", name, problem, remedy))
	}
	for _, candidate := range []string{string(h), config.HostFileName(h)} {
		if path := filepath.Join(dir, candidate+".toml"); fileExists(path) {
			return path, nil
		}
	}
	return "", cli.Usage(fmt.Errorf("there is no file for %s in %s; arcrawl host list --files shows all", h, dir))
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// hostListing holds the flags of arcrawl host list.
type hostListing struct {
	cli.Daemon
	filter api.HostFilter
	files  bool
}

func newHostList() *cobra.Command {
	var l hostListing
	cmd := &cobra.Command{
		Use:   "list [PART]",
		Short: "List the hosts of the running crawl with their states, or the host files",
		Long: `list lists the hosts whose names contain PART, the most overdue first.

  ready     has a URI that can be visited now
  snoozed   rests, or has no URI due yet
  busy      all slots are in use
  idle      has no URI to visit
  paused    paused by an operator

A host whose file was removed is marked. An internationalized name is shown in Unicode, and the name of the network behind it.

With --files it needs no daemon, and lists each host file with its number of seeds, its title, labels, collections and owner, and whether
it has a fault. Removed files are listed too, unless hosts are chosen.`,
		Example: `  arcrawl host list --state overdue
  arcrawl host list news.example --json
  arcrawl host list --files --label newspapers --owner maria`,
		Args: cobra.MaximumNArgs(1),
		RunE: l.run,
	}
	l.Add(cmd)
	cli.SiteFlags(cmd, &l.filter.Only)
	f := cmd.Flags()
	f.StringVar(&l.filter.State, "state", "", "show only hosts in this state: ready, snoozed, busy, idle, paused, overdue or down")
	f.StringVar(&l.filter.Sort, "sort", "overdue", "sort by name, overdue, uris or failures")
	f.IntVar(&l.filter.Limit, "limit", 0, "show at most `N` hosts, up to 1000 (default 100)")
	f.BoolVar(&l.files, "files", false, "list the host files instead, with their seeds, titles and labels")
	return cmd
}

// run asks the daemon for its hosts, or lists the host files.
func (l *hostListing) run(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		l.filter.Part = args[0]
	}
	if !l.files {
		return cli.Ask(cmd, &l.Daemon, showHosts, func(c *api.Client) (api.Hosts, error) {
			return c.Hosts(cmd.Context(), l.filter)
		})
	}
	if l.JSON || l.filter.State != "" || l.Socket != "" {
		return cli.Usage(errors.New("--files reads host files; leave out --json, --state and --socket"))
	}
	s, err := openHostFiles(l.Config)
	if err != nil {
		return err
	}
	return s.list(cmd.OutOrStdout(), l.filter)
}

// showHosts prints hosts with their states.
func showHosts(out io.Writer, h api.Hosts) error {
	t := cli.NewTable(out)
	fmt.Fprintln(t, "host\tstate\tURIs\tqueued\toverdue\tfailures\trests until\tlast error")
	for _, v := range h.Hosts {
		rest := ""
		if v.Rests != nil {
			rest = v.Rests.Local().Format(time.DateTime)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%d\t%s\t%s\n", v.Label(), v.Condition(), v.URIs, v.Queued, cli.Span(v.Overdue),
			v.Failures, rest, v.LastError)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(h.Hosts) < h.Total {
		fmt.Fprintf(out, "%d of %d hosts; --limit shows more\n", len(h.Hosts), h.Total)
	}
	return nil
}

// sites returns what curators wrote about the host of each host file without faults, by file name, and the names of the
// others.
func (s configFiles) sites() (map[string]config.Site, map[string]bool) {
	c, faulty, err := s.load()
	if err != nil {
		return nil, faulty
	}
	return c.Sites().Files, faulty
}

// list prints the host files that a filter selects.
func (s configFiles) list(out io.Writer, filter api.HostFilter) error {
	only := filter.Only
	sites, faulty := s.sites()
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return daemon.FolderError{Err: err}
	}
	table := cli.NewTable(out)
	for _, e := range entries {
		name, removed := e.Name(), filepath.Ext(e.Name()) == api.RemovedSuffix
		if !config.IsHostFile(strings.TrimSuffix(name, api.RemovedSuffix)) {
			continue
		}
		host := strings.TrimSuffix(strings.TrimSuffix(name, api.RemovedSuffix), ".toml")
		var site config.Site
		state := ""
		switch {
		case removed:
			state = "removed"
		case faulty[name]:
			state = "faulty; arcrawl check says why"
		default:
			site = sites[name]
		}
		if !only.Matches(site) || !strings.Contains(host, filter.Part) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil {
			state = err.Error()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t\n", human.Host(host), human.Count(len(seedsIn(text)), "seed"),
			site.Title, strings.Join(site.Names(), ", "), state)
	}
	if c, err := daemon.ReadConfig(s.Path); err == nil && only.Matches(config.Site{}) { // a curator may not read it
		for _, h := range slices.Sorted(maps.Keys(admin.RemovedIn(c))) {
			if !fileExists(filepath.Join(s.Dir, config.HostFileName(h)+".toml"+api.RemovedSuffix)) {
				fmt.Fprintf(table, "%s\t\t\t\tremoved\t\n", human.Host(string(h)))
			}
		}
	}
	return table.Flush()
}

// openHostFile returns the host files of a configuration, and the path of the file of one host.
func openHostFile(path, host string) (s configFiles, file string, err error) {
	if s, err = openHostFiles(path); err != nil {
		return configFiles{}, "", err
	}
	file, err = hostFilePath(s.Dir, host)
	return s, file, err
}

// seedsList holds the flags of arcrawl seeds list.
type seedsList struct {
	path, output string
	csv          bool
	only         config.Filter
}

func newSeedsList() *cobra.Command {
	var l seedsList
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the seeds of the configuration with their files, or write them as CSV",
		Long: `list prints each seed with the file and line that list it. Without permission to read the main file it prints the seeds of the
host files only, and says so.

With --csv it writes a list that seeds add --from reads, with what the files say of each seed: labels, collections, title, owner, note,
capture target and its last day. What the file says of the host as a whole is not part of the list.`,
		Example: "  arcrawl seeds list\n  arcrawl seeds list --csv --label newspapers -o newspapers.csv",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return l.run(cmd) },
	}
	cli.ConfigFlag(cmd, &l.path)
	cli.SiteFlags(cmd, &l.only)
	cmd.Flags().BoolVar(&l.csv, "csv", false, "write CSV")
	cmd.Flags().StringVarP(&l.output, "output", "o", "-", "with --csv: write to this new `FILE` (- = standard output)")
	return cmd
}

func (l *seedsList) run(cmd *cobra.Command) error {
	if l.csv {
		s, err := openHostFiles(l.path)
		if err != nil {
			return err
		}
		return cli.ToFile(cmd, l.output, func(out io.Writer) error { return s.Export(out, l.only) })
	}
	if l.output != "-" {
		return cli.Usage(errors.New("--output needs --csv"))
	}
	seeds, whole, err := configuredSeeds(cmd.ErrOrStderr(), l.path)
	if err != nil {
		return err
	}
	if !whole {
		fmt.Fprintf(cmd.ErrOrStderr(), "only host files: you may not read %s, which may list more seeds\n", l.path)
	}
	sites := map[string]config.Site{}
	if !l.only.IsZero() {
		files, err := openHostFiles(l.path)
		if err != nil {
			return err
		}
		sites, _ = files.sites()
	}
	table := cli.NewTable(cmd.OutOrStdout())
	for _, s := range seeds {
		if l.only.Matches(sites[filepath.Base(s.File)]) {
			fmt.Fprintf(table, "%s\t%s:%d\t%s\t\n", s.URI, s.File, s.Line, human.Unicode(s.URI.Hostname()))
		}
	}
	return table.Flush()
}

func newSeedsRemove() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "remove URI|HOST…",
		Short: "Remove seeds from the files of their hosts, or the whole file of a host",
		Long: `remove takes seeds out of the files that list them. Their history stays in the store. They are out of scope unless another seed
brings them into scope.

An argument without "://" in it is a host. Its file is renamed, so that it is not read any more: its name ends in ` + api.RemovedSuffix + `.
Rename it back to restore it. The history of the host stays in the store. URIs of which it had the only seed are out of scope until then,
and keep their due times.`,
		Example: "  arcrawl seeds remove https://www.news.example/sport/\n  arcrawl seeds remove www.news.example",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			seeds, whole, err := configuredSeeds(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			for _, arg := range args {
				if !strings.Contains(arg, "://") {
					if err := removeHost(cmd.OutOrStdout(), path, arg); err != nil {
						return err
					}
					continue
				}
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

// removeHost renames the file of a host, so that it is not read any more.
func removeHost(out io.Writer, path, host string) error {
	_, file, err := openHostFile(path, host)
	if err != nil {
		return err
	}
	if err := os.Rename(file, file+api.RemovedSuffix); err != nil {
		return daemon.FolderError{Err: err}
	}
	_, err = fmt.Fprintf(out, "renamed %s to %s\n", file, filepath.Base(file)+api.RemovedSuffix)
	return err
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
	for _, written := range seedsIn(text) {
		if w, err := uri.Parse(written); err != nil || w != u {
			continue
		}
		edited, err := withoutSeed(text, written)
		if err != nil {
			return "", daemon.FolderError{Err: fmt.Errorf("%s was not changed: %w", file, err)}
		}
		return file, replaceText(file, edited)
	}
	return "", daemon.FolderError{Err: fmt.Errorf("%s was not changed: %w", file, errByHandSeeds)}
}
