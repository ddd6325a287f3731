package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
)

func newOverdue() *cobra.Command {
	var (
		d daemonFlags
		f admin.OverdueFilter
	)
	cmd := &cobra.Command{
		Use:   "overdue [HOST]",
		Short: "Tell what waits though its time has come, and whether that will end",
		Long: `overdue has the running daemon look at every URI it knows, or at those of HOST, and tells for each host, media type or
class of waits how many are due and for how long they have been.

  due         URIs whose time has come
  most        how long the one is overdue that is so for longest; p50, p90, p99: half, a tenth, a hundredth are for longer
  wanted/h    visits in an hour that the waits of all URIs ask for
  possible/h  visits in an hour that the host allows, going by how long a visit and the rest after it took of late
              (a "~" before it: by its settings, for there was no visit yet)
  ends        when the backlog is gone at this pace, or what would let it end

Where a host has a capture target, a line below the table tells whether its pace can keep it, or what would be needed.

The look takes some seconds for a million URIs; the crawl goes on meanwhile. One that is at most --max-age old is told again.`,
		Example: "  arcrawl overdue\n  arcrawl overdue --by wait\n  arcrawl overdue www.news.example --by mime",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.Host = args[0]
			}
			c, err := d.client()
			if err != nil {
				return err
			}
			o, err := c.Overdue(cmd.Context(), f)
			return tell(&d, cmd.OutOrStdout(), o, err, showOverdue)
		},
	}
	d.add(cmd)
	cmd.Flags().StringVar(&f.By, "by", "host", "what the lines are of: host, mime or wait")
	cmd.Flags().IntVar(&f.Limit, "limit", 20, "at most so many lines")
	cmd.Flags().DurationVar(&f.MaxAge, "max-age", 10*time.Second, "how old the last look may be")
	return cmd
}

func showOverdue(out io.Writer, o admin.Overdue) error {
	fmt.Fprintf(out, "%d of %d URIs are due, as of %s ago (looking took %s)\n\n", o.All.Due, o.All.URIs, span(o.Age), span(o.Took))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	hosts := o.By == "host"
	fmt.Fprintf(t, "%s\tURIs\tdue\tmost\tp50\tp90\tp99\twanted/h", o.By)
	if hosts {
		fmt.Fprint(t, "\tpossible/h\tends")
	}
	fmt.Fprintln(t)
	for _, b := range append(o.Rows, o.All) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%.1f", b.Name, b.URIs, b.Due, span(b.Most), span(b.P50), span(b.P90), span(b.P99), b.Demand)
		if hosts && b.Capacity > 0 {
			about := ""
			if !b.Observed {
				about = "~"
			}
			fmt.Fprintf(t, "\t%s%.0f\t%s", about, b.Capacity, b.Ends)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, b := range o.Rows {
		if b.Promise != "" {
			fmt.Fprintf(out, "%s: %s\n", b.Name, b.Promise)
		}
	}
	if o.More > 0 {
		fmt.Fprintf(out, "%d more; see --limit\n", o.More)
	}
	return nil
}
