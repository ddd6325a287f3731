package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

// defaultOrders is the default number of orders that are shown.
const defaultOrders = 50

func newAudit() *cobra.Command {
	var d cli.Daemon
	var f api.AuditFilter
	var days int
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show who changed what in the crawl",
		Long: `audit lists the orders that the daemon received, newest first: when, who, what, and the result. Who is the user of the process at
the other end of the socket, or the name of the token. Orders through the store of a stopped daemon are listed too, and each configuration
that came into force, with the owners of the edited files.

The list is kept in audit.jsonl in the state folder. It is read from there if no daemon answers.`,
		Example: `  arcrawl audit --days 7
  arcrawl audit --who maria --json
  arcrawl audit --what pause`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 0 || f.Limit < 1 {
				return cli.Usage(fmt.Errorf("--days and --limit must be positive numbers"))
			}
			answer, err := cli.AskOr(&d, func(c *api.Client) (api.Audit, error) {
				return c.Audit(cmd.Context(), f, days)
			}, func(c *config.Config) (api.Audit, error) {
				if days > 0 {
					f.Since = time.Now().AddDate(0, 0, -days)
				}
				entries, err := access.ReadAudit(c.Storage.State, f)
				return api.Audit{Entries: entries}, err
			})
			return cli.Print(&d, cmd.OutOrStdout(), answer, err, showAudit)
		},
	}
	d.Add(cmd)
	cmd.Flags().StringVar(&f.Who, "who", "", "show only orders of this user or token")
	cmd.Flags().StringVar(&f.What, "what", "", "show only this kind of order, for example pause or frontier/steer")
	cmd.Flags().IntVar(&days, "days", 0, "show only the last `N` days (default: all)")
	cmd.Flags().IntVar(&f.Limit, "limit", defaultOrders, "show at most `N` orders")
	return cmd
}

// showAudit prints one line for each entry. The order and the answer are shown as the API has them.
func showAudit(out io.Writer, a api.Audit) error {
	if len(a.Entries) == 0 {
		_, err := fmt.Fprintln(out, "no orders recorded")
		return err
	}
	t := cli.NewTable(out)
	fmt.Fprintln(t, "time (UTC)\twho\tway\twhat\tresult\torder")
	for _, e := range a.Entries {
		who := e.Who
		if who == "" {
			who = "–"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Time.Format(time.DateTime), who, e.Way, e.What, e.Result, e.Order)
	}
	return t.Flush()
}
