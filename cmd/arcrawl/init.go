package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
)

func newInit() *cobra.Command {
	var set []string
	var schema string
	var all bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a new configuration, or print the JSON Schema of its files",
		Long: `init writes arcrawl.toml and the empty folder hosts.d into DIR (default: the current folder). The file has the
few keys that nearly every crawl sets; with --all it lists every key with its meaning and default, as comments. On a terminal it asks
who operates the crawl, and for a first user of the dashboard. Otherwise set operator.name and operator.contact in the file or with --set.

One [[wait]] entry is active: the rule "learned", which captures the most versions of recorded histories
(docs/completeness.md). It also decides without the entry. An existing file is never changed.

With --schema it prints a JSON Schema (draft 7) of the main file or of the host files instead. Editors use it to complete and explain
keys, for example taplo with this first line of the file:

  #:schema ./arcrawl.schema.json

It describes each key, its type and its bounds. Only arcrawl check finds contradictions between keys and between files.`,
		Example: `  arcrawl init
  arcrawl init crawl --set operator.name="National Library" --set operator.contact=https://library.example/crawler
  arcrawl init /etc/arcrawl --set storage.warc=/srv/warc --set crawl.workers=200
  arcrawl init --schema main > arcrawl.schema.json
  arcrawl init --schema host > hosts.d/host.schema.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if schema != "" {
				return printSchema(cmd.OutOrStdout(), schema)
			}
			return writeConfig(cmd, args, set, all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list every key with its meaning and default")
	cmd.Flags().StringVar(&schema, "schema", "", "print the JSON Schema of this kind of file, main or host, and write nothing")
	cmd.Flags().StringArrayVar(&set, "set", nil, "write KEY=VALUE into the file, for example storage.warc=/srv/warc; repeatable")
	return cmd
}

// writeConfig writes a new configuration.
func writeConfig(cmd *cobra.Command, args, set []string, all bool) error {
	dir := "."
	if len(args) == 1 {
		dir = args[0]
	}
	path := filepath.Join(dir, "arcrawl.toml")
	var first firstUser
	if cli.IsTerminal(cmd.InOrStdin()) && cli.IsTerminal(cmd.ErrOrStderr()) {
		if _, err := os.Lstat(path); os.IsNotExist(err) { // otherwise the answers would be lost
			if set, first, err = ask(cmd, set); err != nil {
				return err
			}
		}
	}
	values, err := config.ParseSet(set)
	if err != nil {
		return cli.Usage(fmt.Errorf("--set %w", err))
	}
	text := config.ShortMainFile
	if all {
		text = config.MainFile
	}
	if err := cli.CreateFile(path, text(values)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "hosts.d"), 0o755); err != nil {
		return daemon.FolderError{Err: err}
	}
	dashboard := fmt.Sprintf("  arcrawl user add --config %s NAME --role operate   and set admin.listen, for the dashboard\n", path)
	if first.name != "" {
		if dashboard, err = first.add(path); err != nil {
			return err
		}
	}
	operator := ""
	if values["operator.name"] == "" || values["operator.contact"] == "" {
		operator = "  set operator.name and operator.contact, if they are empty\n"
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), `wrote %[1]s
next:
%[2]s  arcrawl seeds add --config %[1]s https://www.news.example/
  arcrawl check --config %[1]s
  arcrawl run --config %[1]s
%[3]s`, path, operator, dashboard)
	if err == nil && cli.HasPrime(cmd) {
		_, err = fmt.Fprintf(cmd.OutOrStdout(),
			"  arcrawl prime --config %s --add FILE…   if an earlier crawl left logs, indexes or WARC files\n", path)
	}
	return err
}

// firstUser is the first user of the dashboard; without a name there is none.
type firstUser struct{ name, password string }

// ask asks on a terminal for what the arguments of --set leave open, again after an answer that cannot be used. An
// empty answer leaves it open.
func ask(cmd *cobra.Command, set []string) (all []string, first firstUser, err error) {
	lines := bufio.NewReader(cmd.InOrStdin())
	answer := func(question string, check func(text string) error) string {
		for err == nil {
			var text string
			fmt.Fprint(cmd.ErrOrStderr(), question)
			if text, err = lines.ReadString('\n'); err != nil {
				err = fmt.Errorf("read the answer: %w; nothing was written", err)
				break
			}
			text = strings.TrimSpace(text)
			fault := check(text)
			if text == "" || fault == nil {
				return text
			}
			fmt.Fprintln(cmd.ErrOrStderr(), fault)
		}
		return ""
	}
	isSet := func(key string) bool {
		return slices.ContainsFunc(set, func(arg string) bool { return strings.HasPrefix(arg, key+"=") })
	}
	for _, q := range []struct{ key, question string }{
		{"operator.name", "Institution that crawls, for WARC files and webmasters: "},
		{"operator.contact", "Its web page or e-mail address for webmasters: "},
	} {
		if isSet(q.key) {
			continue
		}
		check := func(text string) error { return config.CheckOperator(q.key, text) }
		if text := answer(q.question, check); text != "" {
			set = append(set, q.key+"="+text)
		}
	}
	if isSet("admin.listen") {
		return set, first, err
	}
	question := "Dashboard on " + dashboardAddress + ": name of the first user (empty: no dashboard): "
	first.name = answer(question, access.CheckName)
	if first.name == "" || err != nil {
		return set, first, err
	}
	set = append(set, "admin.listen="+dashboardAddress)
	if !isSet("admin.replay_listen") {
		set = append(set, "admin.replay_listen="+replayAddress)
	}
	for i := range passwordTries {
		first.password, err = askPassword(cmd.InOrStdin(), cmd.ErrOrStderr(), first.name)
		if err == nil || errors.Is(err, io.EOF) || i == passwordTries-1 {
			break
		}
		fmt.Fprintln(cmd.ErrOrStderr(), err)
	}
	return set, first, err
}

// passwordTries is how often init asks for a password.
const passwordTries = 3

// The addresses of a dashboard that init was asked for, and of the pages that it shows from the archive.
const dashboardAddress, replayAddress = "127.0.0.1:8471", "127.0.0.1:8473"

// add adds the user to the file of users of a new configuration, and says where the dashboard is.
func (u firstUser) add(path string) (said string, err error) {
	at, err := config.Where(path)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(at.UserFile), 0o750) // as the daemon makes it
	}
	if err == nil {
		err = access.AddUser(at.UserFile, u.name, access.Operate, u.password)
	}
	if err != nil {
		return "", fmt.Errorf("%s is written, but not the user %s: %w; arcrawl user add %s --role operate adds one",
			path, u.name, err, u.name)
	}
	return fmt.Sprintf("  http://%s/ is the dashboard then; sign in as %s\n", dashboardAddress, u.name), nil
}

// printSchema prints the JSON Schema of main or host files.
func printSchema(out io.Writer, scope string) error {
	if scope != config.InMain && scope != config.InHost {
		return cli.Usage(fmt.Errorf("unknown --schema %q; valid kinds of files: %s, %s", scope, config.InMain, config.InHost))
	}
	s, err := config.Schema(scope)
	if err != nil {
		return err
	}
	_, err = out.Write(s)
	return err
}
