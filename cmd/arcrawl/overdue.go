package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newOverdue() *cobra.Command {
	var (
		d cli.Daemon
		f api.OverdueFilter
	)
	cmd := &cobra.Command{
		Use:   "overdue [HOST]",
		Short: "Show overdue URIs and when the backlog will clear",
		Long: `overdue shows how many URIs are due and for how long, by host, media type or class of waits. With HOST it looks at one host,
and --by path says which of its URIs ask for most visits: by path and names of parameters, or by first folder.

  due         URIs that are due now
  max         longest time that a URI is overdue; p50, p90, p99: half, 10 % and 1 % are overdue for longer
  wanted/h    visits an hour that the wait intervals of all URIs ask for
  possible/h  visits an hour that the host allows, measured from recent visits and rests
              ("~": computed from the settings, because there was no visit yet)
  ends        when the backlog will be gone, or what would let it end

If a host has a capture target, a line below the table says whether it can be met, or what would be needed.

For a million URIs this takes some seconds; the crawl continues meanwhile. An answer that is younger than --max-age is reused.`,
		Example: "  arcrawl overdue\n  arcrawl overdue --by wait\n  arcrawl overdue www.news.example --by path",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.Host = args[0]
			}
			names := d.Names(cmd.Context())
			show := func(out io.Writer, o api.Overdue) error { return showOverdue(out, o, names) }
			return cli.Ask(cmd, &d, show, func(c *api.Client) (api.Overdue, error) {
				return c.Overdue(cmd.Context(), f)
			})
		},
	}
	d.Add(cmd)
	cli.SiteFlags(cmd, &f.Only)
	cmd.Flags().StringVar(&f.By, "by", "host", "one row for each host, mime or wait; with HOST also path")
	cmd.Flags().IntVar(&f.Limit, "limit", 20, "show at most `N` rows")
	cmd.Flags().DurationVar(&f.MaxAge, "max-age", 10*time.Second, "reuse an answer of at most this age")
	return cmd
}

func showOverdue(out io.Writer, o api.Overdue, names api.HostNames) error {
	fmt.Fprintf(out, "%d of %d URIs are due, as of %s ago (counted in %s)\n\n", o.All.Due, o.All.URIs, cli.Span(o.Age),
		cli.Span(o.Took))
	t := cli.NewTable(out)
	hosts := o.By == "host"
	fmt.Fprintf(t, "%s\tURIs\tdue\tmax\tp50\tp90\tp99\twanted/h", o.By)
	if hosts {
		fmt.Fprint(t, "\tpossible/h\tends")
	}
	fmt.Fprintln(t)
	for _, b := range append(o.Rows, o.All) {
		name := b.Name
		if hosts {
			name = names.Label(name)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%.1f", name, b.URIs, b.Due,
			cli.Span(b.Most), cli.Span(b.P50), cli.Span(b.P90), cli.Span(b.P99), b.Demand)
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
			fmt.Fprintf(out, "%s: %s\n", names.Label(b.Name), b.Promise)
		}
		for _, e := range b.Endless {
			fmt.Fprintf(out, "%s: %s may be endless: %s ask for %.1f visits/h, and %s for the first visit; see arcrawl traps %s\n",
				names.Label(b.Name), e.Path, human.Count(e.URIs, "URI"), e.Demand, waits(e.Waiting), b.Name)
		}
		if b.FewerURIs > 0 {
			fmt.Fprintf(out, "%s: URIs that ask for most visits: arcrawl overdue %s --by path\n", b.Name, b.Name)
		}
	}
	if o.More > 0 {
		fmt.Fprintf(out, "%d more rows; --limit shows more\n", o.More)
	}
	return nil
}
