package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
)

func newPause() *cobra.Command {
	var (
		d      daemonFlags
		reason string
		length time.Duration
	)
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Have the running daemon claim nothing more, until it is resumed or for a while",
		Long: `pause stops the crawl without stopping the daemon: nothing more is claimed, visits in progress go on to their end, every
URI keeps its place in the queue. It goes on with arcrawl resume, or by itself after --for.

A pause outlives the daemon. One that is restarted, by hand or by systemd, is still paused.`,
		Example: "  arcrawl pause --reason 'works on the network' --for 2h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if length < 0 {
				return usageError{fmt.Errorf("--for %s: want a positive duration such as 2h", length)}
			}
			c, err := d.client()
			if err != nil {
				return err
			}
			s, err := c.Pause(cmd.Context(), admin.Reason{Reason: reason, For: admin.Seconds(length)})
			return tell(&d, cmd.OutOrStdout(), s, err, showStand)
		},
	}
	d.add(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who ask for the status")
	cmd.Flags().DurationVar(&length, "for", 0, "how long; without it until arcrawl resume")
	return cmd
}

func newResume() *cobra.Command {
	var d daemonFlags
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "End a pause of the running daemon",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := d.client()
			if err != nil {
				return err
			}
			s, err := c.Resume(cmd.Context())
			return tell(&d, cmd.OutOrStdout(), s, err, showStand)
		},
	}
	d.add(cmd)
	return cmd
}

func showStand(out io.Writer, s admin.Stand) error {
	_, err := fmt.Fprintln(out, standLine(s, time.Now()))
	return err
}

func newSeeds() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "seeds",
		Short: "Give the running daemon more to crawl",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSeedsAdd())
	return cmd
}

func newSeedsAdd() *cobra.Command {
	var d daemonFlags
	cmd := &cobra.Command{
		Use:   "add URI…",
		Short: "Make URIs known to the running daemon and due at once",
		Long: `add makes URIs known that nothing links to. They must be on a host that the configuration has a seed on; a new host begins
with a file of its own, see arcrawl host add. A URI that is known already stays as it is.`,
		Example: "  arcrawl seeds add https://www.news.example/elections/",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := d.client()
			if err != nil {
				return err
			}
			a, err := c.AddSeeds(cmd.Context(), args)
			return tell(&d, cmd.OutOrStdout(), a, err, showAdded)
		},
	}
	d.add(cmd)
	return cmd
}

func showAdded(out io.Writer, a admin.Added) error {
	for _, f := range a.Faults {
		fmt.Fprintf(out, "not a URI: %s\n", f)
	}
	for _, u := range a.Outside {
		fmt.Fprintf(out, "not taken: %s is on a host without a seed in the configuration; begin with: arcrawl host add %s\n", u, u)
	}
	_, err := fmt.Fprintf(out, "%d new, %d known already, %d refused because their host is full\n", a.New, a.Known, a.Refused)
	return err
}

func newHosts() *cobra.Command {
	var (
		d daemonFlags
		f admin.HostFilter
	)
	cmd := &cobra.Command{
		Use:   "hosts [PART]",
		Short: "List the hosts of the running daemon and how they stand",
		Long: `hosts lists the hosts whose names have PART in them, the most overdue first.

  ready     would hand out a URI now       busy  is being visited
  snoozed   rests, or has nothing due yet  idle  has nothing to visit`,
		Example: "  arcrawl hosts --state overdue\n  arcrawl hosts news.example --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := d.client()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				f.Part = args[0]
			}
			h, err := c.Hosts(cmd.Context(), f)
			return tell(&d, cmd.OutOrStdout(), h, err, showHosts)
		},
	}
	d.add(cmd)
	cmd.Flags().StringVar(&f.State, "state", "", "only those: ready, snoozed, busy, idle, overdue or down")
	cmd.Flags().StringVar(&f.Sort, "sort", "overdue", "name, overdue, uris or failures")
	cmd.Flags().IntVar(&f.Limit, "limit", 0, "at most so many, up to 1000 (default 100)")
	return cmd
}

func showHosts(out io.Writer, h admin.Hosts) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "host\tstate\tURIs\tqueued\toverdue\tfailures\trests until")
	for _, v := range h.Hosts {
		rest := ""
		if v.Rests != nil {
			rest = v.Rests.Local().Format(time.DateTime)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%d\t%s\n", v.Host, v.State, v.URIs, v.Queued, span(v.Overdue), v.Failures, rest)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(h.Hosts) < h.Total {
		fmt.Fprintf(out, "%d of %d; see --limit\n", len(h.Hosts), h.Total)
	}
	return nil
}
