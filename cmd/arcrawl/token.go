package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/audit"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

func newToken() *cobra.Command {
	return cli.Group("token", "Manage the tokens for the dashboard and the API",
		newTokenAdd(), newTokenList(), newTokenRemove())
}

func newTokenAdd() *cobra.Command {
	var path, role string
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a token and print it",
		Long: `add writes a new random token into the token file (admin.token_file) and prints it. Its name appears in the audit log. With the
role "read" it shows everything and changes nothing; "curate" also decides what is collected: seeds, host files, captures, scrubbing rules,
alarms and traps; "operate" may do everything. For people, arcrawl user has names and passwords; tokens are for programs.
A running daemon accepts it at once. Run the command as the user of the daemon, or as root.`,
		Example: `  arcrawl token add maria --role operate
  arcrawl token add grafana --role read`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := access.ParseRole(role)
			if err != nil {
				return cli.Usage(err)
			}
			at, err := config.Where(path)
			if err != nil {
				return err
			}
			t, err := access.Add(at.TokenFile, args[0], r)
			if err != nil {
				return err
			}
			recordFiles(path, "token/add", t.Name)
			fmt.Fprintln(cmd.OutOrStdout(), t.Secret)
			if at.URL != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "dashboard: %s?token=%s\n", at.URL, t.Secret)
			}
			return nil
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().StringVar(&role, "role", access.Read.String(), "what the token may do: "+access.RoleNames())
	return cmd
}

func newTokenList() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the names and roles of the tokens",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := config.Where(path)
			if err != nil {
				return err
			}
			all, err := access.List(at.TokenFile)
			if err != nil {
				return err
			}
			t := cli.NewTable(cmd.OutOrStdout())
			fmt.Fprintln(t, "name\trole")
			for _, token := range all {
				fmt.Fprintf(t, "%s\t%s\n", token.Name, token.Role)
			}
			return t.Flush()
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

func newTokenRemove() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a token",
		Long:  `remove removes a token from the token file. A running daemon refuses it at once.`,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := config.Where(path)
			if err != nil {
				return err
			}
			if err := access.Remove(at.TokenFile, args[0]); err != nil {
				return err
			}
			recordFiles(path, "token/remove", args[0])
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", args[0])
			return err
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

// recordFiles records a change of the tokens or users in the audit log, if the configuration says where that is.
func recordFiles(path, what, name string) {
	if c, err := config.StorageAt(path); err == nil {
		_ = audit.New(c.State).Add(audit.Entry{
			Time: time.Now(), Who: audit.CurrentUser(), Way: "files", What: what,
			Order: []byte(fmt.Sprintf("%q", name)), Result: audit.Done,
		})
	}
}
