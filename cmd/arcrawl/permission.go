package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

func newReportPermission() *cobra.Command {
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "permission",
		Short: "List the hosts whose robots.txt is not obeyed, and why",
		Long: `permission lists each host, and each part of a host, with robots.obey = false or "html-only": the reason, until when, and
the file and line. Visits that needed the permission have "permission:" in crawl.log, and robotsPermission in their metadata record.

It reads the files as they are now and needs no daemon.`,
		Example: "  arcrawl report permission --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cli.ReadConfig(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			all := c.Permissions(time.Now())
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(append([]config.Permission{}, all...))
			}
			return printPermissions(cmd.OutOrStdout(), all, filepath.Dir(path)+string(filepath.Separator))
		},
	}
	cli.ConfigFlag(cmd, &path)
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// printPermissions prints a table of permissions. Files below dir are shown without it.
func printPermissions(out io.Writer, all []config.Permission, dir string) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "robots.txt is obeyed on all hosts")
		return err
	}
	table := cli.NewTable(out)
	fmt.Fprintln(table, "host\twhere\trobots.obey\tuntil\treason\tfile")
	for _, p := range all {
		where, until := p.Where, "–"
		if where == "" {
			where = "everywhere"
		}
		if !p.Until.IsZero() {
			until = p.Until.UTC().Format(time.RFC3339)
		}
		if !p.InForce {
			until += ", expired"
		}
		origin := strings.TrimPrefix(p.Origin, dir)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", p.Host, where, p.Obey, until, p.Reason, origin)
	}
	return table.Flush()
}
