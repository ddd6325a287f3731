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
	"github.com/arcrawl/arcrawl/config"
)

func newUser() *cobra.Command {
	return cli.Group("user", "Manage the users of the dashboard, and the tokens of programs",
		newUserAdd(), newUserList(), newUserRemove())
}

const whatRoles = `With the role "read" it shows everything and changes nothing; "curate" also decides what is collected: seeds, host
files, captures, scrubbing rules, alarms and traps; "operate" may do everything.`

// userAdd holds the flags of arcrawl user add.
type userAdd struct {
	role             string
	fromProxy, token bool
	change, password bool
}

func newUserAdd() *cobra.Command {
	var u userAdd
	cmd := userCommand("add NAME", "Add a user, or a token for a program, or change a user",
		`add writes a user into the file of users (admin.user_file), with a hash of the password (argon2id). It asks for the password on
the terminal, or reads it from the first line of standard input. With --token it writes a new random token into the token file
(admin.token_file) instead, and prints it. The name appears in the audit log. A running daemon accepts it at once. Run the command
as the user of the daemon, or as root.

With --change it changes what a user may do, from the next request on, or with --password the password; then all sessions of the user end.

`+whatRoles,
		func(cmd *cobra.Command, at config.Admin, name string) (what, done string, err error) {
			if u.change {
				return u.changeUser(cmd, at, name)
			}
			return u.addUser(cmd, at, name)
		})
	cmd.Example = `  arcrawl user add maria --role curate
  arcrawl user add jan --role operate --no-password   # signs in at the reverse proxy
  arcrawl user add grafana --token --role read
  arcrawl user add maria --change --role operate
  arcrawl user add maria --change --password`
	f := cmd.Flags()
	f.StringVar(&u.role, "role", access.Read.String(), "what it may do: "+access.RoleNames())
	f.BoolVar(&u.fromProxy, "no-password", false, "the user cannot sign in here: a trusted proxy names the user (admin.user_header)")
	f.BoolVar(&u.token, "token", false, "add a token for a program instead of a user")
	f.BoolVar(&u.change, "change", false, "change the role or the password of a user")
	f.BoolVar(&u.password, "password", false, "with --change: ask for a new password")
	cmd.MarkFlagsMutuallyExclusive("change", "token", "no-password")
	cmd.MarkFlagsMutuallyExclusive("password", "role")
	return cmd
}

// addUser adds a user or a token.
func (u *userAdd) addUser(cmd *cobra.Command, at config.Admin, name string) (what, done string, err error) {
	if u.password {
		return "", "", cli.Usage(errors.New("--password needs --change: add asks for a password anyway"))
	}
	role, err := access.ParseRole(u.role)
	if err != nil {
		return "", "", cli.Usage(err)
	}
	if u.token {
		return "token/add", "", addToken(cmd, at, name, role)
	}
	password := ""
	if !u.fromProxy {
		if password, err = askPassword(cmd.InOrStdin(), cmd.ErrOrStderr(), name); err != nil {
			return "", "", err
		}
	}
	done = "added " + name + " with the role " + role.String() + "\n"
	return "user/add", done, access.AddUser(at.UserFile, name, role, password)
}

// changeUser changes the role or the password of a user.
func (u *userAdd) changeUser(cmd *cobra.Command, at config.Admin, name string) (what, done string, err error) {
	if u.password {
		text, err := askPassword(cmd.InOrStdin(), cmd.ErrOrStderr(), name)
		if err != nil {
			return "", "", err
		}
		return "user/password", "changed the password of " + name + "\n", access.SetPassword(at.UserFile, name, text)
	}
	if !cmd.Flags().Changed("role") {
		return "", "", cli.Usage(errors.New("--change needs --role or --password"))
	}
	role, err := access.ParseRole(u.role)
	if err != nil {
		return "", "", cli.Usage(err)
	}
	return "user/role", name + " has the role " + role.String() + " now\n", access.SetRole(at.UserFile, name, role)
}

func newUserRemove() *cobra.Command {
	var token bool
	cmd := userCommand("remove NAME", "Remove a user or token",
		`remove removes a user from the file of users, or with --token a token from the token file. Sessions end, and tokens are refused, at
once.`,
		func(_ *cobra.Command, at config.Admin, name string) (what, done string, err error) {
			if token {
				return "token/remove", "removed " + name + "\n", access.Remove(at.TokenFile, name)
			}
			return "user/remove", "removed " + name + "\n", access.RemoveUser(at.UserFile, name)
		})
	cmd.Flags().BoolVar(&token, "token", false, "remove a token instead of a user")
	return cmd
}

// userCommand returns a command that changes a user or token. do returns what it did, for the audit log and for people.
func userCommand(
	use, short, long string, do func(cmd *cobra.Command, at config.Admin, name string) (what, done string, err error),
) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := config.Where(path)
			if err != nil {
				return err
			}
			what, done, err := do(cmd, at, args[0])
			if err != nil {
				return err
			}
			recordFiles(path, what, args[0])
			_, err = io.WriteString(cmd.OutOrStdout(), done)
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
		Short: "List the names and roles of the users and tokens",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := config.Where(path)
			if err != nil {
				return err
			}
			return listUsers(cmd.OutOrStdout(), at)
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

// listUsers prints the users and the tokens.
func listUsers(out io.Writer, at config.Admin) error {
	t := cli.NewTable(out)
	fmt.Fprintln(t, "name\trole\tsigns in")
	users, err := access.Users(at.UserFile)
	if err != nil {
		return err
	}
	for _, u := range users {
		where := "with a password"
		if !u.HasPassword() {
			where = "at the proxy"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", u.Name, u.Role, where)
	}
	tokens, err := access.List(at.TokenFile)
	if err != nil {
		return err
	}
	for _, token := range tokens {
		fmt.Fprintf(t, "%s\t%s\twith a token\n", token.Name, token.Role)
	}
	return t.Flush()
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
	if !ok || !cli.IsTerminal(f) {
		password, err := line()
		if err != nil {
			return "", err
		}
		return password, access.CheckPassword(password)
	}
	show, err := cli.HideInput(f)
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
