package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
)

// addToken adds a token and prints it on a line of its own. No address has the token in it: addresses are kept in
// histories and logs.
func addToken(cmd *cobra.Command, at config.Admin, name string, role access.Role) error {
	t, err := access.Add(at.TokenFile, name, role)
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), t.Secret)
	if at.URL != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "dashboard: %s (no name, and the token as password)\n"+
			"programs:  send the header Authorization: Bearer TOKEN\n", at.URL)
	}
	return nil
}

// recordFiles records a change of the tokens or users in the audit log, if the configuration says where that is.
func recordFiles(path, what, name string) {
	if c, err := config.StorageAt(path); err == nil {
		_ = access.NewAuditLog(c.State).Add(api.AuditEntry{
			Time: time.Now(), Who: access.CurrentUser(), Way: "files", What: what,
			Order: []byte(fmt.Sprintf("%q", name)), Result: access.OrderDone,
		})
	}
}
