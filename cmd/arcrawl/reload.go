package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newReload() *cobra.Command {
	var d cli.Daemon
	var dry bool
	var staged string
	cmd := &cobra.Command{
		Use:   "reload [--dry-run [HOSTFILE…]]",
		Short: "Reload the configuration of the running daemon, or show the effect before",
		Long: `reload makes the running daemon read its configuration again, and prints the effect: changed keys, added and removed seeds,
URIs that become due now, the load of each affected host compared with what its politeness allows, and known URIs whose names change.

The configuration is applied as a whole or not at all. If it has faults, the last good one stays in force and the exit code is 78.
The daemon applies edits by itself soon after they are saved, unless reload.watch is false.

With --dry-run nothing is changed. To see the effect of an edit before it is in force, edit a copy. --staged names a copy of arcrawl.toml
and of hosts.d in another folder. With HOSTFILE only these host files are compared, as if they were copied into the folder of host
files. Each needs its final name, for example drafts/www.news.example.toml.`,
		Example: `  arcrawl reload --dry-run
  cp -r /etc/arcrawl staged && editor staged/hosts.d/www.news.example.toml
  arcrawl reload --dry-run --staged staged/ --config /etc/arcrawl/arcrawl.toml
  arcrawl reload --dry-run drafts/www.news.example.toml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			other := staged != "" || len(args) > 0
			if other && !dry {
				return cli.Usage(errors.New("a staged configuration cannot be put in force from its place: " +
					"add --dry-run, or copy it to the configuration of the daemon"))
			}
			var texts api.Staged
			var err error
			if other {
				if texts, err = stagedTexts(staged, args); err != nil {
					return err
				}
			}
			c, err := d.Client()
			if err != nil {
				return err
			}
			var r api.Reloaded
			if other {
				r, err = c.Plan(cmd.Context(), texts)
			} else {
				r, err = c.Reload(cmd.Context(), dry)
			}
			return printReloaded(&d, cmd.OutOrStdout(), r, err)
		},
	}
	d.Add(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the effect without applying it")
	cmd.Flags().StringVar(&staged, "staged", "", "with --dry-run: compare this main file, or `DIR` with arcrawl.toml and hosts.d")
	return cmd
}

func showReloaded(out io.Writer, r api.Reloaded) error {
	p := r.Plan
	for _, c := range p.Changes {
		fmt.Fprintf(out, "%s%s: %s → %s  [%s]\n", hostPrefix(c.Host), c.Key, cmp.Or(c.Before, "nothing"),
			cmp.Or(c.After, "nothing"), c.Origin)
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
	}{
		{"seed added", p.SeedsAdded}, {"seed removed", p.SeedsRemoved}, {"host held", p.Held}, {"host released", p.Released},
	} {
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
		verdict = human.Count(len(r.Faults), "fault") + ": the last good configuration stays in force"
	case r.DryRun:
		verdict = "nothing was changed"
	case len(p.Changes)+len(p.AtRestart)+len(p.SeedsAdded)+len(p.SeedsRemoved) == 0:
		verdict = "the configuration is the same as before"
	}
	_, err := fmt.Fprintf(out, "%s; %s become due now\n", verdict, human.Count(p.DueNow, "URI"))
	return err
}

// showNames prints which known URIs get the same name, and which no longer share one.
func showNames(out io.Writer, n *api.Names) {
	if n == nil {
		return
	}
	fmt.Fprintln(out, n.Text)
	for _, m := range n.Merges {
		fmt.Fprintf(out, "  same name: %s and %s, as %s\n", m.A, m.B, m.Name)
	}
	for _, s := range n.Splits {
		fmt.Fprintf(out, "  no longer the same: %s and %s, which were %s\n", s.A, s.B, s.Name)
	}
}

func hostPrefix(host string) string {
	if host == "" {
		return ""
	}
	return host + ": "
}
