package reports

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Commands returns what the wing adds to the command line.
func Commands() []*cobra.Command {
	return cli.In(cli.Curator, cli.Group("report", "Report on visits, days or headers",
		newReportVisits(), newReportDays(), newReportHeaders()))
}

func newReportHeaders() *cobra.Command {
	var d cli.Daemon
	var only config.Filter
	cmd := &cobra.Command{
		Use:   "headers",
		Short: "Show by host how reliable ETag, Last-Modified, feeds and sitemaps are",
		Long: `headers prints for each host, class of content and validator how often the validator predicted a change or no change, and
how often it was right: the table of Heritrix's DeDuplicator. It counts visits where both the headers and the body are known.

  change right   the validator differed, and so did the content
  change false   the validator differed, but the content did not
  same right     the validator was the same, and so was the content
  same false     the validator was the same, but the content differed: this version would have been lost
  missing        the response did not have the validator
  precision      share of right ones among the last 64 predictions of "same"; "–" if there were none
  believed       whether the validator may prove that a page did not change, so that its body is not read

A second table shows the same for the dates of feeds and sitemaps. Dates of entries say when the feed changed, dates of pages when a
listed page changed. The rule "learned" uses believed dates.

A third table shows what sitemaps, feeds, front pages and sections were worth that say when the pages of their host changed: pages that they said had changed, rightly
and falsely; changes that visits found and they said, or left out; how late they were; how many requests and bytes
their readings took. While one is followed, its pages are visited when it says so. Their own waits are eight times
longer then, and audit it.

It asks the daemon. If no daemon answers, it reads the store.`,
		Example: "  arcrawl report headers --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := askHeaders(cmd.Context(), &d, only)
			names := d.Names(cmd.Context())
			show := func(out io.Writer, report api.HeaderReport) error { return printHeaders(out, report, names) }
			return cli.Print(&d, cmd.OutOrStdout(), report, err, show)
		},
	}
	d.Add(cmd)
	cli.SiteFlags(cmd, &only)
	return cmd
}

// askHeaders asks the daemon. If no daemon answers, it reads the store.
func askHeaders(ctx context.Context, d *cli.Daemon, only config.Filter) (api.HeaderReport, error) {
	return cli.AskOr(d, func(client *api.Client) (api.HeaderReport, error) {
		return client.Headers(ctx, only)
	}, func(c *config.Config) (api.HeaderReport, error) {
		return cli.FromStore(ctx, c, func(f *frontier.Frontier) (api.HeaderReport, error) {
			return headerReport(hosts.OpenReputation(f.DB()), c, c.Chooses(only), time.Now())
		})
	})
}

// printHeaders prints the tables of validators and dates.
func printHeaders(out io.Writer, report api.HeaderReport, names api.HostNames) error {
	table := cli.NewTable(out)
	fmt.Fprintln(table, "host\tcontent\tvalidator\tchange right\tchange false\tsame right\tsame false\tmissing\tprecision\tbelieved")
	for _, r := range report.Rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", names.Label(r.Host), r.Content, r.Validator,
			r.ChangeRight, r.ChangeFalse, r.SameRight, r.SameFalse, r.Missing, belief(r.Known, r.Precision, r.Believed))
	}
	if len(report.Dates) > 0 {
		if err := table.Flush(); err != nil { // the next table has columns of its own
			return err
		}
		fmt.Fprintln(table, "\nhost\tdates of\tright\tfalse\tprecision\tbelieved")
	}
	for _, r := range report.Dates {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\n", names.Label(r.Host), r.Of, r.Right, r.False,
			belief(r.Known, r.Precision, r.Believed))
	}
	if len(report.Indexes) > 0 {
		if err := table.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(table, "\nsitemap, feed or front page\tsaid right\tsaid false\tfound and said\tleft out\tlate\tread every\trequests\treceived\tfollowed")
	}
	for _, r := range report.Indexes {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%d\t%s\t%s\n", r.URI, r.Right, r.False, r.Heard, r.LeftOut,
			time.Duration(r.Late)*time.Second, time.Duration(r.Every)*time.Second, r.Requests, human.Bytes(r.Received),
			yesOrNo(r.Followed))
	}
	if report.More {
		fmt.Fprintln(table, "… and more")
	}
	return table.Flush()
}

// belief returns the last two columns of the tables of validators and dates.
func belief(known int, precision float64, believed bool) string {
	share := "–"
	if known > 0 {
		share = fmt.Sprintf("%.1f %%", 100*precision)
	}
	return share + "\t" + yesOrNo(believed)
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
