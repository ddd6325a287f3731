package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/trust"
	"github.com/arcrawl/arcrawl/uri"
)

func newReport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Tell what the crawl has learned",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newReportHeaders(), newReportDedup())
	return cmd
}

func newReportHeaders() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "headers",
		Short: "Tell per host what its ETag and Last-Modified were worth",
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

It reads the store, which the daemon has for itself while it runs: stop the daemon first.`,
		Example: "  arcrawl report headers --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(path)
			if err != nil {
				return err
			}
			return reportHeaders(c, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	return cmd
}

// reportHeaders prints the reputation of each host.
func reportHeaders(c *config.Config, out io.Writer) (err error) {
	f, err := openStopped(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	book, err := trust.Open(f.DB())
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "host\tcontent\tvalidator\tchange right\tchange false\tsame right\tsame false\tmissing\tprecision\tbelieved")
	err = book.Each(func(h uri.Host, r evaluators.Reputation) error { return headerRows(table, c, h, r) })
	return errors.Join(err, table.Flush())
}

// hasStore says when there is no store, which opening it would make.
func hasStore(c *config.Config) error {
	if _, err := os.Stat(filepath.Join(c.Storage.State, "MANIFEST")); err != nil {
		return folderError{fmt.Errorf("there is no store in %s yet: %w", c.Storage.State, err)}
	}
	return nil
}

// exampleTypes stand for the classes of content where a content type is asked for.
var exampleTypes = [evaluators.Classes]string{evaluators.ClassText: "text/html", evaluators.ClassOther: "image/png"}

// headerRows prints the lines of one host.
func headerRows(out io.Writer, c *config.Config, h uri.Host, r evaluators.Reputation) error {
	for class, of := range r {
		doubts := r.Doubts(exampleTypes[class], c.ForHost(h, time.Now()).Midfetch.Bar)
		for w, s := range of {
			if s == (evaluators.Standing{}) {
				continue
			}
			precision, believed := "–", "no"
			if s.Known > 0 {
				precision = fmt.Sprintf("%.1f %%", 100*s.Precision())
			}
			if !doubts[w] {
				believed = "yes"
			}
			_, err := fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", h, evaluators.Class(class), evaluators.Witness(w),
				s.ChangeRight, s.ChangeWrong, s.SameRight, s.SameWrong, s.Missing, precision, believed)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
