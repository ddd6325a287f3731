package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/terminal"
	"github.com/arcrawl/arcrawl/config"
)

func newUser() *cobra.Command {
	return cli.Group("user", "Manage the users of the dashboard",
		newUserAdd(), newUserList(), newUserRole(), newUserPassword(), newUserRemove())
}

func newUserAdd() *cobra.Command {
	var role string
	var fromProxy bool
	cmd := userCommand("add NAME", "Add a user", `add writes a user into the file of users (admin.user_file), with a hash of the password (argon2id). It asks for the password on
the terminal, or reads it from the first line of standard input. The name appears in the audit log. With the role "read" a user sees
everything and changes nothing; "curate" also decides what is collected: seeds, host files, captures, scrubbing rules, alarms and traps;
"operate" may do everything. A running daemon accepts the user at once. Run the command as the user of the daemon, or as root.`,
		"add", func(cmd *cobra.Command, file, name string) (string, error) {
			r, err := access.ParseRole(role)
			if err != nil {
				return "", cli.Usage(err)
			}
			password := ""
			if !fromProxy {
				if password, err = askPassword(cmd.InOrStdin(), cmd.ErrOrStderr(), name); err != nil {
					return "", err
				}
			}
			return "added " + name + " with the role " + r.String(), access.AddUser(file, name, r, password)
		})
	cmd.Example = `  arcrawl user add maria --role curate
  arcrawl user add jan --role operate --no-password   # signs in at the reverse proxy`
	cmd.Flags().StringVar(&role, "role", access.Read.String(), "what the user may do: "+access.RoleNames())
	cmd.Flags().BoolVar(&fromProxy, "no-password", false, "the user cannot sign in here: a trusted proxy names the user (admin.user_header)")
	return cmd
}

func newUserRole() *cobra.Command {
	var role string
	cmd := userCommand("role NAME", "Change the role of a user",
		`role changes what a user may do. It holds from the next request of the user.`,
		"role", func(_ *cobra.Command, file, name string) (string, error) {
			r, err := access.ParseRole(role)
			if err != nil {
				return "", cli.Usage(err)
			}
			return name + " has the role " + r.String() + " now", access.SetRole(file, name, r)
		})
	cmd.Flags().StringVar(&role, "role", access.Read.String(), "what the user may do: "+access.RoleNames())
	return cmd
}

func newUserPassword() *cobra.Command {
	return userCommand("password NAME", "Change the password of a user",
		`password asks for a new password, or reads it from the first line of standard input. All sessions of the user end.`,
		"password", func(cmd *cobra.Command, file, name string) (string, error) {
			password, err := askPassword(cmd.InOrStdin(), cmd.ErrOrStderr(), name)
			if err != nil {
				return "", err
			}
			return "changed the password of " + name, access.SetPassword(file, name, password)
		})
}

func newUserRemove() *cobra.Command {
	return userCommand("remove NAME", "Remove a user", `remove removes a user from the file of users. The user's sessions end at once.`,
		"remove", func(_ *cobra.Command, file, name string) (string, error) {
			return "removed " + name, access.RemoveUser(file, name)
		})
}

// userCommand returns a command that changes a user. do returns what it did, for people.
func userCommand(
	use, short, long, what string, do func(cmd *cobra.Command, file, name string) (string, error),
) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := config.Where(path)
			if err != nil {
				return err
			}
			done, err := do(cmd, at.UserFile, args[0])
			if err != nil {
				return err
			}
			recordFiles(path, "user/"+what, args[0])
			_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
			return err
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

func newUserList() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the names and roles of the users",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := config.Where(path)
			if err != nil {
				return err
			}
			all, err := access.Users(at.UserFile)
			if err != nil {
				return err
			}
			t := cli.NewTable(cmd.OutOrStdout())
			fmt.Fprintln(t, "name\trole\tsigns in")
			for _, u := range all {
				where := "with a password"
				if !u.HasPassword() {
					where = "at the proxy"
				}
				fmt.Fprintf(t, "%s\t%s\t%s\n", u.Name, u.Role, where)
			}
			return t.Flush()
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

// askPassword asks twice for a new password on a terminal, which does not show it. From a file or pipe it reads the
// first line.
func askPassword(in io.Reader, prompt io.Writer, name string) (string, error) {
	lines := bufio.NewReader(in)
	line := func() (string, error) {
		text, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) && text != "" {
			err = nil
		}
		if err != nil {
			return "", fmt.Errorf("read the password from standard input: %w; write it on the first line", err)
		}
		return strings.TrimRight(text, "\r\n"), nil
	}
	f, ok := in.(*os.File)
	if !ok || !terminal.Is(f) {
		password, err := line()
		if err != nil {
			return "", err
		}
		return password, access.CheckPassword(password)
	}
	show, err := terminal.HideInput(f)
	if err != nil {
		return "", fmt.Errorf("hide the password on the terminal: %w; write it to standard input from a file", err)
	}
	defer show()
	fmt.Fprintf(prompt, "Password of %s: ", name)
	password, err := line()
	fmt.Fprintln(prompt)
	if err == nil {
		err = access.CheckPassword(password)
	}
	if err != nil {
		return "", err
	}
	fmt.Fprint(prompt, "The same again: ")
	again, err := line()
	fmt.Fprintln(prompt)
	if err == nil && again != password {
		err = errors.New("the two passwords differ; nothing was changed")
	}
	return password, err
}
