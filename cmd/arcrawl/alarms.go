package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
)

// shownOfKind is the maximum number of alarms of one kind that the status shows.
const shownOfKind = 3

func newAlarms() *cobra.Command {
	d, f := cli.Daemon{}, config.Filter{}
	cmd := &cobra.Command{
		Use:     "alarms",
		Short:   "List the raised alarms, or acknowledge them",
		Example: "  arcrawl alarms --label newspapers\n  arcrawl alarms ack host www.news.example --note 'moves on Monday'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Ask(cmd, &d, showAlarms, func(c *api.Client) (api.Alarms, error) { return c.Alarms(cmd.Context(), f) })
		},
	}
	d.Add(cmd)
	cli.SiteFlags(cmd, &f)
	cmd.AddCommand(newAlarmsAck())
	return cmd
}

func newAlarmsAck() *cobra.Command {
	var d cli.Daemon
	var o api.Acknowledge
	cmd := &cobra.Command{
		Use:   "ack KIND [ABOUT]",
		Short: "Record that somebody knows of an alarm",
		Long: `ack acknowledges a raised alarm, or all raised alarms of a kind. An acknowledged alarm is no longer shown at the top of the
status and the dashboard, nor counted by arcrawl_alarms. The acknowledgement ends with the alarm.`,
		Example: "  arcrawl alarms ack host www.news.example --note 'moves on Monday'\n  arcrawl alarms ack feed-gap",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Kind = args[0]; len(args) > 1 {
				o.About = args[1]
			}
			show := func(out io.Writer, a api.Acknowledged) error {
				_, err := fmt.Fprintf(out, "changed %s\n", human.Count(a.Changed, "alarm"))
				return err
			}
			return cli.Ask(cmd, &d, show, func(c *api.Client) (api.Acknowledged, error) {
				return c.Acknowledge(cmd.Context(), o)
			})
		},
	}
	d.Add(cmd)
	cmd.Flags().StringVar(&o.Note, "note", "", "show this note with the alarm")
	cmd.Flags().BoolVar(&o.Undo, "undo", false, "take the acknowledgement back")
	return cmd
}

func showAlarms(out io.Writer, a api.Alarms) error {
	if len(a.Alarms) == 0 {
		_, err := fmt.Fprintln(out, "no alarms are raised")
		return err
	}
	for _, x := range a.Alarms {
		fmt.Fprintf(out, "%s  %s %s: %s\n", x.Since.UTC().Format("2006-01-02 15:04:05 MST"), x.Kind, x.About, x.Text)
		if k := x.Acknowledged; k != nil {
			who := cmp.Or(k.Who, "somebody")
			fmt.Fprintf(out, "    acknowledged by %s at %s %s\n", who, k.At.UTC().Format("2006-01-02 15:04:05 MST"), k.Note)
		}
	}
	return nil
}

// showOpenAlarms prints the alarms that nobody has acknowledged, only a few of each kind.
func showOpenAlarms(out io.Writer, all []api.Alarm) {
	counts := map[string]int{}
	for _, a := range all {
		if a.Acknowledged != nil {
			continue
		}
		if counts[a.Kind]++; counts[a.Kind] <= shownOfKind {
			fmt.Fprintf(out, "ALARM since %s: %s\n", a.Since.Local().Format(time.DateTime), a.Text)
		}
	}
	for _, kind := range alarm.Kinds() {
		if more := counts[kind] - shownOfKind; more > 0 {
			fmt.Fprintf(out, "ALARM     %d more of kind %s: arcrawl alarms\n", more, kind)
		}
	}
	if n := alarm.Acknowledged(all); n > 0 {
		fmt.Fprintf(out, "%s acknowledged: arcrawl alarms\n", human.Count(n, "alarm"))
	}
}
