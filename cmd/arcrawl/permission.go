package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

// showPermissions prints the hosts whose robots.txt is not obeyed, and why.
func (f *effectiveFlags) showPermissions(cmd *cobra.Command) error {
	c, err := cli.ReadConfig(cmd.ErrOrStderr(), f.config)
	if err != nil {
		return err
	}
	all := c.Permissions(time.Now())
	if f.json {
		return cli.WriteJSON(cmd.OutOrStdout(), append([]config.Permission{}, all...))
	}
	return printPermissions(cmd.OutOrStdout(), all, filepath.Dir(f.config)+string(filepath.Separator))
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
