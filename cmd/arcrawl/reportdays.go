package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/uri"
)

// reportDays is the command line of arcrawl report days.
type reportDays struct {
	daemonFlags
	host string
	days int
	top  int
	logs logStats
}

func newReportDays() *cobra.Command {
	r := &reportDays{logs: logStats{now: time.Now(), every: time.Minute}}
	cmd := &cobra.Command{
		Use:   "days [FILE…]",
		Short: "Tell per host and day how many versions were seen, of how many",
		Long: `days tells what each day brought: requests, versions seen, how many versions are thought to have come into being, and how many
requests one of those that were seen took. It asks the daemon, which keeps 92 days of each host, or reads the store where none
runs. With FILE, or with --since or --until, it reads crawl logs, of any period; without FILE that of the configuration and what
was rotated away beside it.

How many came into being is an estimate: by the learned rule from what each visit found at which interval, and under other rules
from how many visits of a URI found a change. A version is counted on the day of the visit that tells of it. robots.txt is
requested but has no versions. Days are those of UTC.

Below the table stands which hosts cannot keep their capture target at their pace, and what they would need; only the daemon
knows that.`,
		Example: `  arcrawl report days
  arcrawl report days --host www.news.example --days 30
  arcrawl report days --since 2026-10 --until 2026-10
  arcrawl report days /var/log/arcrawl/crawl.log-202609*.gz --json`,
		RunE: func(cmd *cobra.Command, files []string) error { return r.run(cmd, files) },
	}
	r.daemonFlags.add(cmd)
	f := cmd.Flags()
	f.StringVar(&r.host, "host", "", "this host only, day by day")
	f.IntVar(&r.days, "days", 7, fmt.Sprintf("so many days up to today, at most %d", daily.MaxDays))
	f.StringVar(&r.logs.since, "since", "", "read logs from this time on: 24h or 7d ago, or 2026, 2026-11, 2026-11-21, 2026-11-21T09:00:00Z")
	f.StringVar(&r.logs.until, "until", "", "read logs up to the end of this date, or so long ago")
	f.IntVar(&r.top, "top", 20, "so many hosts, those first of which most versions were missed; 0 = all")
	return cmd
}

func (r *reportDays) run(cmd *cobra.Command, files []string) error {
	if len(files) > 0 || r.logs.since != "" || r.logs.until != "" {
		return r.fromLogs(cmd, files)
	}
	if r.days < 1 || r.days > daily.MaxDays {
		return usageError{fmt.Errorf("--days %d: want 1 to %d; for what is older name a period with --since", r.days, daily.MaxDays)}
	}
	report, err := r.ask(cmd.Context())
	return tell(&r.daemonFlags, cmd.OutOrStdout(), report, err, r.print)
}

// ask asks the daemon, or the store if no daemon answers.
func (r *reportDays) ask(ctx context.Context) (admin.DayReport, error) {
	client, err := r.client()
	if err == nil {
		var report admin.DayReport
		if report, err = client.Days(ctx, r.host, r.days); !errors.Is(err, admin.ErrNoDaemon) {
			return report, err
		}
	}
	if r.socket != "" || !errors.Is(err, admin.ErrNoDaemon) {
		return admin.DayReport{}, err
	}
	c, err := config.Load(r.config)
	if err != nil {
		return admin.DayReport{}, err
	}
	return r.stored(c)
}

// stored reads the store.
func (r *reportDays) stored(c *config.Config) (report admin.DayReport, err error) {
	f, err := openStopped(c)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	book, err := daily.Open(f.DB())
	if err != nil {
		return report, err
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	return admin.Days(book, uri.Host(r.host), today.AddDate(0, 0, 1-r.days), time.Time{})
}

// fromLogs sums up crawl logs.
func (r *reportDays) fromLogs(cmd *cobra.Command, files []string) error {
	r.logs.config = r.config
	r.logs.dimensions = []stats.Dimension{stats.ByHostDay}
	read, _, err := r.logs.read(cmd, files)
	if err != nil {
		return err
	}
	var t admin.DayTally
	for _, row := range read.Summaries[0].Rows(stats.ByHostDay) {
		host, day, _ := strings.Cut(row.Key, " ")
		if row.Account.Requests > 0 && (r.host == "" || host == r.host) {
			t.Add(host, day, row.Account)
		}
	}
	report := t.Report()
	admin.ByHostAndDay(report.Rows)
	return errors.Join(tell(&r.daemonFlags, cmd.OutOrStdout(), report, nil, r.print), unread(read))
}

func (r *reportDays) print(out io.Writer, report admin.DayReport) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := func(name string, list []admin.DayRow, key func(admin.DayRow) string) {
		fmt.Fprintf(table, "%s\trequests\tversions seen\tof some\tshare\trequests each\n", name)
		for _, d := range list {
			fmt.Fprintln(table, key(d)+"\t"+cellsOf(d))
		}
	}
	rows("day", report.Days, func(d admin.DayRow) string { return d.Day })
	if len(report.Days) > 1 {
		fmt.Fprintln(table, "all\t"+cellsOf(report.All))
	}
	if r.host == "" && len(report.Hosts) > 0 {
		hosts := report.Hosts
		if r.top > 0 {
			hosts = hosts[:min(len(hosts), r.top)]
		}
		fmt.Fprintln(table)
		rows("host", hosts, func(d admin.DayRow) string { return d.Host })
		if more := len(report.Hosts) - len(hosts); more > 0 {
			fmt.Fprintf(table, "… %d more; --top 0 prints all\n", more)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(report.Pace) > 0 {
		fmt.Fprintln(out)
	}
	for i, b := range report.Pace {
		if r.top > 0 && i == r.top {
			fmt.Fprintf(out, "… and %d hosts more\n", len(report.Pace)-i)
			break
		}
		fmt.Fprintf(out, "%s: %s\n", b.Host, b.Promise)
	}
	return nil
}

// cellsOf are the numbers of a row.
func cellsOf(d admin.DayRow) string {
	each, share := "–", "–"
	if d.Seen > 0 {
		each, share = fmt.Sprintf("%.1f", d.Each), fmt.Sprintf("%.0f %%", 100*d.Share)
	}
	return fmt.Sprintf("%d\t%d\t%.0f\t%s\t%s", d.Requests, d.Seen, d.Versions, share, each)
}
