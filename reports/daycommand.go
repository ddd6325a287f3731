package reports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// reportDays holds the flags of arcrawl report days.
type reportDays struct {
	cli.Daemon
	host string
	only config.Filter
	days int
	top  int
	logs logStats

	shown api.HostNames // how hosts are shown
}

func newReportDays() *cobra.Command {
	r := &reportDays{logs: logStats{now: time.Now(), every: time.Minute}}
	cmd := &cobra.Command{
		Use:   "days [FILE…]",
		Short: "Show captured and estimated changes by host and day",
		Long: `days shows for each day the requests, the changes captured, the estimated number of all changes, and the requests for each
captured change. First captures do not count: nobody knows what was there before. It asks the daemon, which keeps 92 days of each host, or else reads the store. With FILE, --since or --until it reads
crawl logs of any period; without FILE the log of the configuration and its rotated files.

The number of all changes is an estimate. The learned rule derives it from the result and the interval of each visit; for other rules it
follows from the share of visits that found a change. A change counts on the day of the visit that found it. robots.txt is requested
but has no changes. Days are in UTC.

Under the learned rule the estimate knows of each page whether its changes come regularly, at random or in bursts. After the share are
its bounds: for nine hosts of ten the true share is between them. For all hosts together the bounds are closer. Of a page that changed at
every visit so far nobody knows how often it changes. If most changes are of such pages, or the bounds are more than 65 points apart, the
report says that the share is not known yet, and no capture target counts as met. Feeds and sitemaps have no changes here, because the
next reading has their entries too.

Lines below the table name hosts that cannot meet their capture target, and what they would need. Only the daemon knows this.`,
		Example: `  arcrawl report days
  arcrawl report days --host www.news.example --days 30
  arcrawl report days --since 2026-10 --until 2026-10
  arcrawl report days /var/log/arcrawl/crawl.log-202609*.gz --json`,
		RunE: func(cmd *cobra.Command, files []string) error { return r.run(cmd, files) },
	}
	r.Daemon.Add(cmd)
	f := cmd.Flags()
	f.Var(cli.Once(&r.host), "host", "show this host only, day by day")
	cli.SiteFlags(cmd, &r.only)
	f.IntVar(&r.days, "days", 7, fmt.Sprintf("show the last `N` days, at most %d", hosts.MaxDays))
	f.StringVar(&r.logs.since, "since", "", "read logs; "+sinceHelp)
	f.StringVar(&r.logs.until, "until", "", "read logs; "+untilHelp)
	f.IntVar(&r.top, "top", 20, "show `N` hosts, most missed changes first (0 = all)")
	return cmd
}

func (r *reportDays) run(cmd *cobra.Command, files []string) error {
	if len(files) > 0 || r.logs.since != "" || r.logs.until != "" {
		return r.fromLogs(cmd, files)
	}
	if r.days < 1 || r.days > hosts.MaxDays {
		return cli.Usage(fmt.Errorf("--days %d is out of range; the range is 1 to %d; for older days use --since", r.days, hosts.MaxDays))
	}
	report, err := r.ask(cmd.Context())
	r.shown = r.Names(cmd.Context())
	return cli.Print(&r.Daemon, cmd.OutOrStdout(), report, err, r.print)
}

// ask asks the daemon. If no daemon answers, it reads the store.
func (r *reportDays) ask(ctx context.Context) (api.DayReport, error) {
	return cli.AskOr(&r.Daemon, func(client *api.Client) (api.DayReport, error) {
		return client.Days(ctx, r.host, r.only, r.days)
	}, func(c *config.Config) (api.DayReport, error) {
		return cli.FromStore(ctx, c, func(f *frontier.Frontier) (api.DayReport, error) {
			store := hosts.OpenDaily(f.DB())
			today := time.Now().UTC().Truncate(24 * time.Hour)
			return dayReport(store, uri.Host(r.host), c.Chooses(r.only), today.AddDate(0, 0, 1-r.days), time.Time{})
		})
	})
}

// chosen returns a function that reports whether the flags choose a host; nil if they choose all. Without --label,
// --collection and --owner the configuration is not read.
func (r *reportDays) chosen(cmd *cobra.Command) (func(uri.Host) bool, error) {
	if r.only.IsZero() {
		return nil, nil
	}
	c, err := cli.ReadConfig(cmd.ErrOrStderr(), r.Config)
	if err != nil {
		return nil, err
	}
	return c.Chooses(r.only), nil
}

// fromLogs summarizes crawl logs.
func (r *reportDays) fromLogs(cmd *cobra.Command, files []string) error {
	r.logs.Config = r.Config
	r.logs.dimensions = []Dimension{ByHostDay}
	read, _, err := r.logs.read(cmd, files)
	if err != nil {
		return err
	}
	chosen, err := r.chosen(cmd)
	if err != nil {
		return err
	}
	var t dayTally
	for _, row := range read.Summaries[0].Rows(ByHostDay) {
		host, day, _ := strings.Cut(row.Key, " ")
		if row.Daily.Requests > 0 && (r.host == "" || host == r.host) && (chosen == nil || chosen(uri.Host(host))) {
			t.Add(host, day, row.Daily)
		}
	}
	report := t.Report()
	admin.SortDayRows(report.Rows)
	return errors.Join(cli.Print(&r.Daemon, cmd.OutOrStdout(), report, nil, r.print), unread(read))
}

func (r *reportDays) print(out io.Writer, report api.DayReport) error {
	table := cli.NewTable(out)
	rows := func(name string, list []api.DayRow, key func(api.DayRow) string) {
		fmt.Fprintf(table, "%s\trequests\tchanges captured\tof about\tshare\trequests per change\n", name)
		for _, d := range list {
			fmt.Fprintln(table, key(d)+"\t"+cellsOf(d))
		}
	}
	rows("day", report.Days, func(d api.DayRow) string { return d.Day })
	if len(report.Days) > 1 {
		fmt.Fprintln(table, "all\t"+cellsOf(report.All))
	}
	if r.host == "" && len(report.Hosts) > 0 {
		hosts := report.Hosts
		if r.top > 0 {
			hosts = hosts[:min(len(hosts), r.top)]
		}
		fmt.Fprintln(table)
		rows("host", hosts, func(d api.DayRow) string { return r.shown.Label(d.Host) })
		if more := len(report.Hosts) - len(hosts); more > 0 {
			fmt.Fprintf(table, "… %d more; --top 0 shows all\n", more)
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
			fmt.Fprintf(out, "… and %d more hosts\n", len(report.Pace)-i)
			break
		}
		fmt.Fprintf(out, "%s: %s\n", r.shown.Label(b.Host), b.Promise)
	}
	return nil
}

// cellsOf returns the numbers of a row.
func cellsOf(d api.DayRow) string {
	each, share, all := "–", "–", fmt.Sprintf("%.0f", d.Versions)
	if d.Seen > 0 {
		each = fmt.Sprintf("%.1f", d.Each)
		share = fmt.Sprintf("%.0f %% (%.0f–%.0f)", 100*d.Share, 100*d.Low, 100*d.High)
	}
	if d.Unknown != "" {
		all, share = "–", d.Unknown
	}
	return fmt.Sprintf("%d\t%d\t%s\t%s\t%s", d.Requests, d.Seen, all, share, each)
}
