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
