package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/hosts/reputation"
)

func newReport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Tell what the crawl has learned",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newReportHeaders(), newReportDedup(), newReportDays())
	return cmd
}

func newReportHeaders() *cobra.Command {
	var d daemonFlags
	cmd := &cobra.Command{
		Use:   "headers",
		Short: "Tell per host what its ETag, Last-Modified and dates of feeds were worth",
		Long: `headers prints, for each host, class of content and validator, how often the header predicted a change and no change, rightly
and falsely, and how often it was missing: the table of Heritrix's DeDuplicator. It counts the visits where both the headers
and the body are known.

  change right   it differed, and so did the content
  change false   it differed, and the content did not
  same right     it was the same, and so was the content
  same false     it was the same, and the content was not: a version that would have been lost
  missing        the answer did not have it
  precision      share of right ones among the last 64 predictions of "same"; "–" if there was none
  believed       whether the settings of the host let it vouch for a page, so that the body need not be read

Below stands, where there is any, what the dates of feeds and sitemaps were worth: those of entries say when the feed changed, those of
pages when a listed page did. Those that are believed tell the rule "learned" when there was a change.

It asks the daemon, and reads the store where none runs.`,
		Example: "  arcrawl report headers --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := d.headers(cmd.Context())
			return tell(&d, cmd.OutOrStdout(), report, err, printHeaders)
		},
	}
	d.add(cmd)
	return cmd
}

// headers asks the daemon, or the store if no daemon answers.
func (d *daemonFlags) headers(ctx context.Context) (admin.HeaderReport, error) {
	client, err := d.client()
	if err == nil {
		var report admin.HeaderReport
		if report, err = client.Headers(ctx); !errors.Is(err, admin.ErrNoDaemon) {
			return report, err
		}
	}
	if d.socket != "" || !errors.Is(err, admin.ErrNoDaemon) {
		return admin.HeaderReport{}, err
	}
	c, err := config.Load(d.config)
	if err != nil {
		return admin.HeaderReport{}, err
	}
	return storedHeaders(c)
}

// storedHeaders reads the store.
func storedHeaders(c *config.Config) (report admin.HeaderReport, err error) {
	f, err := openStopped(c)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	book, err := reputation.Open(f.DB())
	if err != nil {
		return report, err
	}
	return admin.Headers(book, c, time.Now())
}

// hasStore says when there is no store, which opening it would make.
func hasStore(c *config.Config) error {
	if _, err := os.Stat(filepath.Join(c.Storage.State, "MANIFEST")); err != nil {
		return folderError{fmt.Errorf("there is no store in %s yet: %w", c.Storage.State, err)}
	}
	return nil
}

// printHeaders prints the tables of what headers and dates were worth.
func printHeaders(out io.Writer, report admin.HeaderReport) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "host\tcontent\tvalidator\tchange right\tchange false\tsame right\tsame false\tmissing\tprecision\tbelieved")
	for _, r := range report.Rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", r.Host, r.Content, r.Validator,
			r.ChangeRight, r.ChangeFalse, r.SameRight, r.SameFalse, r.Missing, belief(r.Known, r.Precision, r.Believed))
	}
	if len(report.Dates) > 0 {
		if err := table.Flush(); err != nil { // the columns of the next one are its own
			return err
		}
		fmt.Fprintln(table, "\nhost\tdates of\tright\tfalse\tprecision\tbelieved")
	}
	for _, r := range report.Dates {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\n", r.Host, r.Of, r.Right, r.False, belief(r.Known, r.Precision, r.Believed))
	}
	if report.More {
		fmt.Fprintln(table, "… and more")
	}
	return table.Flush()
}

// belief is the last two columns of both tables.
func belief(known int, precision float64, believed bool) string {
	share, answer := "–", "no"
	if known > 0 {
		share = fmt.Sprintf("%.1f %%", 100*precision)
	}
	if believed {
		answer = "yes"
	}
	return share + "\t" + answer
}
