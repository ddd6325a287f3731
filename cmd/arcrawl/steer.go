package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

func newPause() *cobra.Command {
	var (
		d      cli.Daemon
		reason string
		length time.Duration
	)
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Pause the running crawl, optionally for a given time",
		Long: `pause stops the crawl but not the daemon: no new visit starts, visits in progress end normally, and every URI keeps its place
in the queue. The crawl resumes with arcrawl resume, or automatically after --for. A restarted daemon stays paused.`,
		Example: "  arcrawl pause --reason 'works on the network' --for 2h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if length < 0 {
				return cli.Usage(fmt.Errorf("--for %s is negative; write a duration such as 2h", length))
			}
			return cli.Ask(cmd, &d, showStand, func(c *api.Client) (api.Condition, error) {
				return c.Pause(cmd.Context(), api.Reason{Reason: reason, For: api.Seconds(length)})
			})
		},
	}
	d.Add(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "show this reason in the status")
	cmd.Flags().DurationVar(&length, "for", 0, "resume automatically after this time (default: until arcrawl resume)")
	return cmd
}

func newResume() *cobra.Command {
	var d cli.Daemon
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Resume the paused crawl",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Ask(cmd, &d, showStand, func(c *api.Client) (api.Condition, error) {
				return c.Resume(cmd.Context())
			})
		},
	}
	d.Add(cmd)
	return cmd
}

func showStand(out io.Writer, s api.Condition) error {
	_, err := fmt.Fprintln(out, standLine(s, time.Now()))
	return err
}

func newSeeds() *cobra.Command {
	return cli.Group("seeds", "List, add, import and remove seeds", newSeedsList(), newSeedsAdd(),
		newSeedsRemove())
}

func showAdded(out io.Writer, a api.Added) error {
	for _, f := range a.Faults {
		fmt.Fprintf(out, "not a URI: %s\n", f)
	}
	for _, u := range a.Outside {
		fmt.Fprintf(out, "not added: %s is on a host without a seed in the configuration; run: arcrawl seeds add %s\n", u, u)
	}
	_, err := fmt.Fprintf(out, "%d added, %d already known, %d refused because their host is full%s\n",
		a.New, a.Known, a.Refused, posted(a.Posted))
	return err
}

// posted says how many URIs go to other nodes of a cluster.
func posted(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d sent to the nodes of their hosts", n)
}

func showHosts(out io.Writer, h api.Hosts) error {
	t := cli.NewTable(out)
	fmt.Fprintln(t, "host\tstate\tURIs\tqueued\toverdue\tfailures\trests until\tlast error")
	for _, v := range h.Hosts {
		rest := ""
		if v.Rests != nil {
			rest = v.Rests.Local().Format(time.DateTime)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%d\t%s\t%s\n", v.Label(), v.Condition(), v.URIs, v.Queued, cli.Span(v.Overdue),
			v.Failures, rest, v.LastError)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(h.Hosts) < h.Total {
		fmt.Fprintf(out, "%d of %d hosts; --limit shows more\n", len(h.Hosts), h.Total)
	}
	return nil
}
