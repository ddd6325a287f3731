package curator

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/uri"
)

// seedsAdd holds the flags of arcrawl seeds add.
type seedsAdd struct {
	bulkEdit
	d       cli.Daemon
	dir     string // of host files
	from    string // the list of seeds to import
	running bool
	undo    bool
}

func newSeedsAdd(now func() time.Time) *cobra.Command {
	s := seedsAdd{bulkEdit: bulkEdit{now: now}}
	cmd := &cobra.Command{
		Use:   "add URI…|--from FILE|--undo",
		Short: "Add seeds, or a list of them, to the files of their hosts and to the running crawl",
		Long: `add writes the seeds into the files of their hosts, and a new file for a new host, with the most common settings of a host as
comments. Nothing else in a file changes. Then it checks the configuration, like arcrawl check, and adds the seeds to the running crawl,
due now. If no daemon runs, the next one starts with them. A known URI does not change.

With --running-only no file changes: the URIs are added to the running crawl as URIs that no page links to. They must be on a host that
has a seed in the configuration, and they are lost if the store is rebuilt.

With --json the answer of the daemon is printed as JSON, and what happened to the files on standard error.

With --from it reads a list of seeds, shows which are new, changed, known and faulty, and asks. Then it writes them into the files of
their hosts, each file at once and as a whole; a running daemon applies them. FILE "-" is standard input.

A plain list has one URI on each line. A CSV list (with commas, semicolons or tabs, in UTF-8) begins with the names of its columns, in
any order: uri, label, collection, title, owner, note, target, until. Only uri is needed. Several labels or collections of a seed are
separated by |. target is the share of versions to capture, as 0.9 or 90 %, and until its last day. An empty field leaves what the host
file says. seeds list --csv writes such a list. Nothing is written if a line has a fault, unless --skip-faulty is set.

With --undo it restores the host files that the last list, or host edit with KEY=VALUE, wrote, or removes them if they were new. If
somebody changed one of them since, it restores none. What was captured stays in the archive, and the history of URIs in the store.`,
		Example: `  arcrawl seeds add https://www.news.example/ https://www.news.example/sport/
  arcrawl seeds add --config /etc/arcrawl/arcrawl.toml https://www.news.example/elections/
  arcrawl seeds add --from newspapers.csv --dry-run
  arcrawl seeds add --undo`,
		RunE: func(cmd *cobra.Command, args []string) error {
			listed := s.from != "" || s.undo
			switch {
			case listed == (len(args) > 0):
				return cli.Usage(errors.New("name seeds, or a list of them with --from, or use --undo"))
			case s.undo:
				return s.undoImport(cmd)
			case listed:
				return s.importList(cmd, s.from)
			case s.dry || s.sure || s.skip:
				return cli.Usage(errors.New("--dry-run, --yes and --skip-faulty need --from or --undo"))
			}
			return s.run(cmd, args)
		},
	}
	s.d.Add(cmd)
	s.add(cmd)
	f := cmd.Flags()
	f.StringVar(&s.dir, "dir", "", "write to this folder of host files (default: the one of the configuration)")
	f.BoolVar(&s.running, "running-only", false, "add the URIs to the running crawl only, not to a host file")
	f.StringVar(&s.from, "from", "", "add the seeds of the list in this `FILE`, CSV or plain text")
	f.BoolVar(&s.undo, "undo", false, "restore the host files as they were before the last list")
	f.BoolVar(&s.skip, "skip-faulty", false, "add the other seeds of a list if some lines have faults")
	f.IntVar(&s.show, "show", 20, "list at most `N` new and changed seeds, and faults, of a list")
	cmd.MarkFlagsMutuallyExclusive("from", "undo", "dir")
	cmd.MarkFlagsMutuallyExclusive("from", "undo", "running-only")
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
		dir = files.Dir
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
	hosts, seeds, err := seedsByHost(args)
	if err != nil {
		return nil, cli.Usage(err)
	}
	var written []string
	for _, h := range hosts {
		file := filepath.Join(dir, config.HostFileName(h)+".toml")
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
