package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
)

func newReload() *cobra.Command {
	var d daemonFlags
	var dry bool
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Have the running daemon read its configuration again",
		Long: `reload has the running daemon read its configuration again and says what that does: the keys that change, the seeds that come
and go, how many URIs become due now, what touched hosts have to do against what their politeness carries, and which known URIs become
one or part when rules of names change. It is taken whole or not at all; with faults the last good configuration stays in force, and the exit code is 78.`,
		Example: "  arcrawl reload --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := d.client()
			if err != nil {
				return err
			}
			r, err := c.Reload(cmd.Context(), dry)
			if err := tell(&d, cmd.OutOrStdout(), r, err, showReloaded); err != nil {
				return err
			}
			if len(r.Faults) == 0 {
				return nil
			}
			faults := make(config.Faults, len(r.Faults))
			for i, f := range r.Faults {
				faults[i] = config.Fault(f)
			}
			return faults
		},
	}
	d.add(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would happen")
	return cmd
}

func showReloaded(out io.Writer, r admin.Reloaded) error {
	p := r.Plan
	for _, c := range p.Changes {
		fmt.Fprintf(out, "%s%s: %s → %s  [%s]\n", hostPrefix(c.Host), c.Key, cmp.Or(c.Before, "nothing"), cmp.Or(c.After, "nothing"), c.Origin)
	}
	if p.More > 0 {
		fmt.Fprintf(out, "%d more keys change\n", p.More)
	}
	for _, c := range p.AtRestart {
		fmt.Fprintf(out, "at the next start: %s: %s → %s\n", c.Key, cmp.Or(c.Before, "nothing"), cmp.Or(c.After, "nothing"))
	}
	for _, of := range []struct {
		what string
		list []string
	}{{"seed added", p.SeedsAdded}, {"seed removed", p.SeedsRemoved}, {"host held", p.Held}, {"host released", p.Released}} {
		for _, x := range of.list {
			fmt.Fprintf(out, "%s: %s\n", of.what, x)
		}
	}
	for _, l := range p.Load {
		fmt.Fprintln(out, l.Text)
	}
	showNames(out, p.Names)
	for _, f := range p.Warnings {
		fmt.Fprintf(out, "warning: %s\n", config.Fault(f))
	}
	verdict := "the new configuration is in force"
	switch {
	case len(r.Faults) > 0:
		verdict = fmt.Sprintf("%d faults: the last good configuration stays in force", len(r.Faults))
	case r.DryRun:
		verdict = "nothing was changed"
	case len(p.Changes)+len(p.AtRestart)+len(p.SeedsAdded)+len(p.SeedsRemoved) == 0:
		verdict = "nothing has changed"
	}
	_, err := fmt.Fprintf(out, "%s; %d URIs are due now that were not before\n", verdict, p.DueNow)
	return err
}

// showNames says which known URIs become one, and which part.
func showNames(out io.Writer, n *admin.Names) {
	if n == nil {
		return
	}
	fmt.Fprintln(out, n.Text)
	for _, m := range n.Merges {
		fmt.Fprintf(out, "  one: %s and %s, as %s\n", m.A, m.B, m.Name)
	}
	for _, s := range n.Splits {
		fmt.Fprintf(out, "  part: %s and %s, which were %s\n", s.A, s.B, s.Name)
	}
}

func hostPrefix(host string) string {
	if host == "" {
		return ""
	}
	return host + ": "
}
