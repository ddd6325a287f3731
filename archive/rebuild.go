package archive

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/rebuild"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

// rebuildHelp says what a rebuilt store has, and what it lacks.
const rebuildHelp = `--rebuild makes a new store when the old one is lost: from all lines of the crawl logs, and from the records of the
archive that they refer to. Without LOG, it reads the log of the configuration and its rotated files (.gz too). It sorts
logs by their first lines. The state folder must not hold a store: move a damaged one away first. If the archive
has an index (arcrawl index -o), finding the records takes less time.

Rebuilt are: every URI that was ever visited, with its due time, interval, counts, failures, digests, validators, the
record of its payload, when it became known, when it was published (articles that are followed up), and what the rule
"learned" knew of it; how reliable the headers of each host are; what similar URIs have in common; and the daily counts.
The first visit of each host waits as after a crash. Faulty lines are counted and skipped.

--links then reads all pages in the archive again, and adds the URIs that they link to and that the crawl does not know:
those that were found but never visited. It also adds URIs that were forgotten, and links of pages that were archived
before the scope became narrower count as the present scope says. It takes as long as reading the archive.

Learned again while the crawl runs:

  URIs found but never visited   without --links: when the page that links to them changes; entries of a feed or sitemap,
                                 sitemaps that a robots.txt names, and links of a page with the same content as another
                                 page: when it is read again
  worth of dates in feeds        after 3 dates that were right
  entries of feeds               with the next reading; entries do not count as news
  traps                          from the pages visited; traps that were released are found again
  robots.txt                     before the next visit of each host

Lines without log.extra_info do not say when a URI became known, or when an article was published. The first is
when the page that links to it was archived. Such articles are no longer followed up.

Lost are: holds and pauses, the versions between which a page alternates, and the dedup index. Fill the index from the
archive with arcrawl dedup import before the crawl resumes. Otherwise a known payload under another URI is archived once
more.

--missing adds to an existing store only the last visits that it does not know: after its newest entries were lost, or
after a backup was restored. It reads crawl.log and its rotated files backwards (.gz too, unpacked next to the log), until
the store knows 10,000 visits in a row. It can be repeated. What these visits found but nobody visited is found again as
above. Otherwise the daemon makes these visits again. A URI that was forgotten since its last visit comes back.
If log.extra_info was off, the archive has the records, and due times can be some seconds later than they were.`

// rebuilding holds the flags of backup restore that make a store from logs and archive.
type rebuilding struct{ whole, missing, links bool }

func (r *rebuilding) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.whole, "rebuild", false, "rebuild a lost store from the crawl logs and the archive")
	cmd.Flags().BoolVar(&r.links, "links", false, "then also add the URIs that archived pages link to and nobody visited")
	cmd.Flags().BoolVar(&r.missing, "missing", false, "add only the last visits that the existing store does not know")
	cmd.MarkFlagsMutuallyExclusive("rebuild", "missing")
}

// run makes a new store, or adds to an existing one.
func (r *rebuilding) run(cmd *cobra.Command, c *config.Config, logs []string) (err error) {
	if r.missing {
		return rebuildMissing(cmd, c, logs, r.links)
	}
	if len(logs) == 0 {
		if logs, err = crawllog.Files(c.Storage.Log); err != nil {
			return err
		}
		if len(logs) == 0 {
			return daemon.FolderError{Err: fmt.Errorf("no crawl log at %s yet", c.Storage.Log)}
		}
	}
	return rebuildStore(cmd, c, logs, r.links)
}

// rebuildMissing adds to the store of a stopped daemon the visits that it lost, and prints them.
func rebuildMissing(cmd *cobra.Command, c *config.Config, logs []string, links bool) (err error) {
	if len(logs) > 0 {
		return errors.New("--missing reads the log of the configuration: remove the names of logs")
	}
	now := time.Now()
	f, err := daemon.OpenStopped(cmd.Context(), c, now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	m, r, err := rebuild.AddMissing(cmd.Context(), f, c, now)
	if err != nil {
		return err
	}
	if m.Visits == 0 {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "0 visits missing: the store knows the last visits of the crawl log")
		return errors.Join(err, rebuildLinks(cmd, f, c, links))
	}
	nameUnread(cmd, r.Unread)
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s missing since %s\n%s added: %s on %s\n%s found in the archive, %d missing\n",
		human.Count(m.Visits, "visit"), m.Since.UTC().Format(time.RFC3339), human.Count(r.Lines, "visit"),
		human.Count(r.URIs, "URI"), human.Count(r.Hosts, "host"), human.Count(r.Payloads, "last payload"), r.Missing)
	if err == nil && m.Bare > 0 {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s logged without log.extra_info: due times may be some seconds late\n",
			human.Count(m.Bare, "visit"))
	}
	return errors.Join(err, rebuildLinks(cmd, f, c, links))
}

// nameUnread prints what could not be read.
func nameUnread(cmd *cobra.Command, u rebuild.Unread) {
	for _, what := range u.Named {
		_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "not read:", what)
	}
}

// rebuildLinks adds the URIs that archived pages link to, and prints how many are new.
func rebuildLinks(cmd *cobra.Command, f *frontier.Frontier, c *config.Config, links bool) error {
	if !links {
		return nil
	}
	progress := new(warc.Progress)
	stop := cli.ShowProgress(cmd.ErrOrStderr(), progress)
	r, err := rebuild.Links(cmd.Context(), f, c, progress)
	stop()
	if err != nil {
		return err
	}
	nameUnread(cmd, r.Unread)
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s found in %s of %s; %d beyond the limits of their hosts; %s not readable\n",
		human.Count(r.New, "unvisited URI"), human.Count(r.Pages, "page"), human.Count(int64(r.Files), "file"), r.Refused,
		human.Count(r.Damaged, "record"))
	return err
}

// rebuildStore makes a new store from logs and archive, and prints what it holds.
func rebuildStore(cmd *cobra.Command, c *config.Config, logs []string, links bool) (err error) {
	tables, err := filepath.Glob(filepath.Join(c.Storage.State, "*.sst"))
	if err != nil {
		return err
	}
	if len(tables) > 0 || daemon.CheckStore(c) == nil {
		return daemon.FolderError{Err: fmt.Errorf("there is a store in %s: stop the daemon, move the content of that folder away, and try again", c.Storage.State)}
	}
	now := time.Now()
	f, err := daemon.MakeStore(cmd.Context(), c, now, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := rebuild.Store(cmd.Context(), f, c, logs, now)
	if err != nil {
		return err
	}
	nameUnread(cmd, r.Unread)
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s in %s: %s on %s; %s skipped\n%s found in the archive, %d missing\n",
		human.Count(r.Lines, "visit"), human.Count(r.Logs, "log"), human.Count(r.URIs, "URI"), human.Count(r.Hosts, "host"),
		human.Count(r.BadLines, "faulty line"), human.Count(r.Payloads, "last payload"), r.Missing)
	return errors.Join(err, rebuildLinks(cmd, f, c, links))
}
