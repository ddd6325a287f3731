package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

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
few keys that nearly every crawl sets; with --all it lists every key with its meaning and default, as comments. Set operator.name and
operator.contact in the file or with --set.

One [[wait]] entry is active: the rule "learned", which captures the most versions of recorded histories
(docs/scheduling-figures.md). It also decides without the entry. An existing file is never changed.

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
	values, err := config.ParseSet(set)
	if err != nil {
		return cli.Usage(fmt.Errorf("--set %w", err))
	}
	path := filepath.Join(dir, "arcrawl.toml")
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
	_, err = fmt.Fprintf(cmd.OutOrStdout(), `wrote %[1]s
next:
  set operator.name and operator.contact, if they are empty
  arcrawl seeds add --config %[1]s https://www.news.example/
  arcrawl check --config %[1]s
  arcrawl run --config %[1]s
  arcrawl user add --config %[1]s NAME --role operate   and set admin.listen, for the dashboard
`, path)
	if err == nil && cli.HasPrime(cmd) {
		_, err = fmt.Fprintf(cmd.OutOrStdout(),
			"  arcrawl prime --config %s --add FILE…   if an earlier crawl left logs, indexes or WARC files\n", path)
	}
	return err
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
