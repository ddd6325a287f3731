package reports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// logStats holds the flags of arcrawl report visits.
type logStats struct {
	cli.Daemon
	since, until, beside string
	host                 string
	by                   []string
	top                  int
	status               bool
	follow, dedup        bool
	every                time.Duration
	place                string
	only                 config.Filter

	dimensions []Dimension
	removed    map[uri.Host]bool // hosts whose file was removed, if the log is the one of the configuration
	now        time.Time
	node       string // of a cluster, if the log is the one of the configuration
}

// Help of the flags that choose a period.
const (
	sinceHelp = "use visits from this time on: 24h or 7d ago, or a date such as 2026-11 or 2026-11-21T09:00:00Z"
	untilHelp = "use visits up to the end of this date, or up to this long ago"
)

func newReportVisits() *cobra.Command {
	s := &logStats{now: time.Now()}
	cmd := &cobra.Command{
		Use:   "visits [FILE…]",
		Short: "Summarize crawl logs: visits, versions, savings, delays, deduplication",
		Long: `visits reads crawl logs of arcrawl or Heritrix, compressed (.gz) or not, and summarizes the visits of a period. Without FILE it
reads the log of the configuration and its rotated files; the daemon may run meanwhile.

  failed      no response, 401, 403, 407, 408, 425, 429, 5xx, or another page instead of the requested one
  versions    visits that found a new version; the change rate is their share of all visits that could be compared
  spared      bytes that were not transferred, because the headers proved that nothing changed
  overdue     how late visits were: half at most p50, 99 % at most p99, with an error of up to 6 %

With --follow it asks the daemon, and on a node of a cluster all nodes, for the last lines of the log and prints each line that is
added, by time and behind the name of its node. The clocks of the nodes count. With --until it prints the last lines before, and ends.

With --follow=1m it prints a summary each minute for new lines, across rotation. With --offset it reads only lines added since the last
time, and stores the position in the file; use this for periodic jobs.

With --dedup it shows how many responses repeated an archived payload, and how much space that saved, by host and mime. The figures are
the same as in Heritrix's DeDuplicator and in Browsertrix:

  handled      responses whose payload was looked up; without 304 and without what [dedup] excludes
  new          the payload was not in the archive
  exact        it was in the archive under the same URI
  equivalent   it was in the archive under a URI with the same index key
  other        it was in the archive under another URI
  discarded    duplicates that were not stored again; their size is the space saved

A log line is written only after its record is on disk, so every counted record exists.`,
		Example: `  arcrawl report visits --since 24h --by host
  arcrawl report visits --since 2026-10 --until 2026-10 --beside 2026-11     two months side by side
  arcrawl report visits --by seed,status                                     the statuses of each seed
  arcrawl report visits --since 30d --label newspapers --by day
  arcrawl report visits --dedup --since 30d --by mime
  arcrawl report visits --follow --host www.news.example
  arcrawl report visits --offset /var/lib/arcrawl/stats.offset --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	f := cmd.Flags()
	s.flags(cmd)
	f.BoolVar(&s.dedup, "dedup", false, "show instead what deduplication saved")
	f.StringVar(&s.beside, "beside", "", "compare with this second period: a date, or two dates with .. between them")
	f.DurationVar(&s.every, "follow", 0, "print the log as it grows; --follow=1m: a summary for each minute")
	f.Lookup("follow").NoOptDefVal = "0s"
	f.StringVar(&s.place, "offset", "", "store the position in the log in this `FILE`")
	cmd.MarkFlagsMutuallyExclusive("dedup", "beside")
	cmd.MarkFlagsMutuallyExclusive("dedup", "follow")
	cmd.MarkFlagsMutuallyExclusive("dedup", "offset")
	return cmd
}

// flags adds the flags that say what is read, and how it is grouped.
func (s *logStats) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	s.Add(cmd)
	f.StringVar(&s.since, "since", "", sinceHelp)
	f.StringVar(&s.until, "until", "", untilHelp)
	f.StringSliceVar(&s.by, "by", nil, "group by host, seed, mime, day or hour, and count each status; repeatable")
	f.Var(cli.Once(&s.host), "host", "choose this host, or hosts such as *.example.org")
	f.IntVar(&s.top, "top", 20, "show `N` rows of each table, most visits first (0 = all), or the last N lines")
	cli.SiteFlags(cmd, &s.only)
}

// hosts returns a function that reports whether the flags choose a host; nil if they choose all. Without --label,
// --collection and --owner the configuration is not read.
func (s *logStats) hosts(errs io.Writer) (func(host string) bool, error) {
	if s.only.IsZero() && s.host == "" {
		return nil, nil
	}
	pattern := strings.ToLower(s.host)
	matches := func(host string) bool { return frontier.HostMatches(pattern, uri.Host(host)) }
	if s.only.IsZero() {
		return matches, nil
	}
	c, err := cli.ReadConfig(errs, s.Config)
	if err != nil {
		return nil, err
	}
	if _, err := c.Sites().Choose(s.only); err != nil {
		return nil, cli.Usage(err)
	}
	chosen := c.Chooses(s.only)
	return func(host string) bool { return matches(host) && chosen(uri.Host(host)) }, nil
}

func (s *logStats) run(cmd *cobra.Command, files []string) error {
	if s.follow = cmd.Flags().Changed("follow"); !s.follow {
		s.every = 10 * time.Second
	}
	if s.every > 0 && s.IsNamed() {
		return cli.Usage(errors.New("summaries are made of files, not by a daemon; --socket and --node need --follow"))
	}
	if s.dedup {
		return s.reportDedup(cmd, files)
	}
	if s.follow || s.place != "" {
		periods, err := s.check(files)
		if err != nil {
			return err
		}
		if s.follow && s.every == 0 {
			return s.printLines(cmd, periods[0])
		}
		path, err := s.live(files)
		if err != nil {
			return err
		}
		hosts, err := s.hosts(cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		return s.added(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), path, OfHosts(hosts))
	}
	out, files, err := s.read(cmd, files)
	if err != nil {
		return err
	}
	if err := s.format().Write(cmd.OutOrStdout(), out, len(files)); err != nil {
		return err
	}
	return unread(out)
}

// read summarizes the named logs, or the logs of the configuration, and returns their names.
func (s *logStats) read(cmd *cobra.Command, files []string) (*Outcome, []string, error) {
	periods, err := s.check(files)
	if err == nil && len(files) == 0 {
		files, err = s.rotated()
	}
	if err != nil {
		return nil, nil, err
	}
	hosts, err := s.hosts(cmd.ErrOrStderr())
	if err != nil {
		return nil, nil, err
	}
	var read atomic.Int64
	stop := watchBytes(cmd.ErrOrStderr(), &read, sizeOf(files))
	if s.node != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: this is the log of node %s only; name the logs of all nodes to read them together\n", s.node)
	}
	out, err := Read(cmd.Context(), files, Options{
		Periods: periods, By: s.dimensions, Host: hosts, Progress: &read,
	})
	stop()
	return out, files, err
}

// unread returns an error that lists the logs that could not be read.
func unread(out *Outcome) error {
	if len(out.Faults) == 0 {
		return nil
	}
	return fmt.Errorf("some logs were not read completely; the summary above covers the rest:\n%w", errors.Join(out.Faults...))
}

// check validates the flags. It returns the period of the summary and, if there is one, the period to compare with.
func (s *logStats) check(files []string) ([]Period, error) {
	for _, name := range s.by {
		if name == "status" && !s.dedup {
			s.status = true
			continue
		}
		d, err := ParseDimension(name)
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("--by: %w", err))
		}
		s.dimensions = append(s.dimensions, d)
	}
	var p Period
	var err error
	if p.From, _, err = ParseTime(s.since, s.now); err != nil {
		return nil, cli.Usage(fmt.Errorf("--since: %w", err))
	}
	if _, p.To, err = ParseTime(s.until, s.now); err != nil {
		return nil, cli.Usage(fmt.Errorf("--until: %w", err))
	}
	periods := []Period{p}
	if s.beside != "" {
		var other Period
		from, to, isRange := strings.Cut(s.beside, "..")
		if !isRange {
			to = from
		}
		if other.From, _, err = ParseTime(from, s.now); err == nil {
			_, other.To, err = ParseTime(to, s.now)
		}
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("--beside: %w", err))
		}
		periods = append(periods, other)
	}
	switch {
	case s.follow && s.every == 0 && (len(files) > 0 || len(s.by) > 0 || s.beside != "" || s.place != ""):
		return nil, cli.Usage(errors.New("--follow prints lines that the daemon has; for a FILE, --by or --offset, name an " +
			"interval, as --follow=1m"))
	case s.follow && s.every == 0:
		return periods, nil
	case (s.follow || s.place != "") && len(files) > 1:
		return nil, cli.Usage(errors.New("--follow and --offset read one log; name at most one FILE"))
	case (s.follow || s.place != "") && (s.since != "" || s.until != "" || s.beside != ""):
		return nil, cli.Usage(errors.New("--follow and --offset cannot be used with --since, --until or --beside"))
	case s.every < time.Second:
		return nil, cli.Usage(fmt.Errorf("--follow=%v is too short; the minimum is 1s", s.every))
	}
	return periods, nil
}

// live returns the path of the log that is being written.
func (s *logStats) live(files []string) (string, error) {
	if len(files) == 1 {
		return files[0], nil
	}
	at, err := config.StorageAt(s.Config)
	if err != nil {
		return "", fmt.Errorf("find the crawl log: %w; name its file, or a configuration with --config", err)
	}
	if c, err := daemon.ReadConfig(s.Config); err == nil { // without it no host is marked
		s.removed, s.node = admin.RemovedIn(c), c.Cluster.Node
	}
	return at.Log, nil
}

// rotated returns the paths of the configuration's log and its rotated files.
func (s *logStats) rotated() ([]string, error) {
	path, err := s.live(nil)
	if err != nil {
		return nil, err
	}
	files, err := crawllog.Files(path)
	if err == nil && len(files) == 0 {
		err = daemon.FolderError{Err: fmt.Errorf("no crawl log at %s yet", path)}
	}
	return files, err
}

func sizeOf(files []string) (sum int64) {
	for _, f := range files {
		if stat, err := os.Stat(f); err == nil {
			sum += stat.Size()
		}
	}
	return sum
}

// added summarizes the lines added to a log since the last time, once or repeatedly. chosen says which lines count.
func (s *logStats) added(
	ctx context.Context, out, errs io.Writer, path string, chosen func(*crawllog.RawEntry) bool,
) error {
	f, err := FollowFrom(path, s.place)
	if err != nil {
		return err
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		sum := NewSummary(s.dimensions...)
		err := f.Poll(ctx, func(g *crawllog.RawEntry) {
			if chosen(g) {
				sum.Add(g)
			}
		})
		if errors.Is(err, ErrGap) {
			cli.PrintError(errs, fmt.Sprintf("arcrawl: %v\n", err))
		} else if err != nil && ctx.Err() == nil {
			return err
		}
		if err := s.format().WriteAdded(out, sum, time.Now()); err != nil {
			return err
		}
		if s.place != "" {
			if err := f.Position().Store(s.place); err != nil {
				return err
			}
		}
		if !s.follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// format returns what the flags say about the output.
func (s *logStats) format() TableOptions {
	return TableOptions{
		By: s.dimensions, Top: s.top, Statuses: s.status, JSON: s.JSON,
		Removed: func(host string) bool { return s.removed[uri.Host(host)] },
	}
}

// watchBytes shows the number of bytes read on a terminal until stop is called.
func watchBytes(w io.Writer, read *atomic.Int64, total int64) (stop func()) {
	return cli.ShowLine(w, func() string { return fmt.Sprintf("%s of %s", human.Bytes(read.Load()), human.Bytes(total)) })
}

// reportDedup prints what deduplication saved.
func (s *logStats) reportDedup(cmd *cobra.Command, files []string) error {
	if !cmd.Flags().Changed("by") {
		s.by = []string{"host", "mime"}
	}
	out, files, err := s.read(cmd, files)
	if err != nil {
		return err
	}
	if err := s.format().WriteDedup(cmd.OutOrStdout(), out.Summaries[0], len(files), out.Bytes); err != nil {
		return err
	}
	return unread(out)
}
