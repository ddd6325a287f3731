package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
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
			return cli.PrintReloaded(&d, cmd.OutOrStdout(), r, err)
		},
	}
	d.Add(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the effect without applying it")
	cmd.Flags().StringVar(&staged, "staged", "", "with --dry-run: compare this main file, or `DIR` with arcrawl.toml and hosts.d")
	return cmd
}
