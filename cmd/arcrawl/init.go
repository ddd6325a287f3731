package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/uri"
)

func newInit() *cobra.Command {
	var set []string
	var schema string
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a new configuration, or print the JSON Schema of its files",
		Long: `init writes arcrawl.toml and the empty folder hosts.d into DIR (default: the current folder). The file lists every key
with its meaning and default, as comments. Set operator.name and operator.contact in the file or with --set.

One [[wait]] entry is active: new crawls use the rule "learned", which captures the most versions of recorded histories
(docs/scheduling-figures.md). Without the entry the waits are the same as in Heritrix. An existing file is never changed.

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
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			values, err := config.ParseSet(set)
			if err != nil {
				return cli.Usage(fmt.Errorf("--set %w", err))
			}
			path := filepath.Join(dir, "arcrawl.toml")
			if err := create(path, config.MainFile(values)); err != nil {
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
`, path)
			if err == nil && hasPrime(cmd) {
				_, err = fmt.Fprintf(cmd.OutOrStdout(),
					"  arcrawl prime --config %s --add FILE…   if an earlier crawl left logs, indexes or WARC files\n", path)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "print the JSON Schema of this kind of file, main or host, and write nothing")
	cmd.Flags().StringArrayVar(&set, "set", nil, "write KEY=VALUE into the file, for example storage.warc=/srv/warc; repeatable")
	return cmd
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

// create writes a new file and its folder. An existing file is an error and stays unchanged.
func create(path, text string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return daemon.FolderError{Err: err}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return daemon.FolderError{Err: fmt.Errorf("%s exists already and was not changed; remove it first if you do not need it", path)}
	case err != nil:
		return daemon.FolderError{Err: err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(text)
	return err
}

func newHost() *cobra.Command {
	return cli.Group("host", "List hosts with their states, and edit their configuration files",
		newHostList(), newHostEdit())
}

// taken returns an error unless the configuration is valid and includes the new host files.
func taken(path string, files []string) error {
	if !mayRead(path) {
		return hostFaults(path, files) // a curator
	}
	c, err := config.Load(path)
	if err != nil {
		return fmt.Errorf("the configuration has other faults; fix them:\n%w", err)
	}
	for _, file := range files {
		ours := func(name string) bool { return filepath.Base(name) == filepath.Base(file) }
		// A seed that another file lists already is reported as a warning.
		if !slices.ContainsFunc(c.Seeds, func(s config.Seed) bool { return ours(s.File) }) &&
			!slices.ContainsFunc(c.Warnings, func(w config.Fault) bool { return ours(w.File) }) {
			return daemon.FolderError{Err: fmt.Errorf("%s is not read: %s names another folder in storage.hosts; move the file there, and use --dir next time", file, path)}
		}
	}
	return nil
}

// hostFaults returns the faults of host files if the main file cannot be read.
func hostFaults(path string, files []string) error {
	s, err := openHostFiles(path)
	if err != nil {
		return err
	}
	ours := func(f config.Fault) bool {
		return slices.ContainsFunc(files, func(file string) bool { return filepath.Base(file) == filepath.Base(f.File) })
	}
	if faults := slices.DeleteFunc(s.faults(), func(f config.Fault) bool { return !ours(f) }); len(faults) > 0 {
		return faults
	}
	return nil
}

// suggestPrime prints the command that teaches the crawl what earlier crawls saw of hosts. It prints
// nothing for users who cannot read the main file, because prime needs it.
func suggestPrime(cmd *cobra.Command, out io.Writer, path string, hosts []uri.Host) error {
	if !hasPrime(cmd) || !mayRead(path) {
		return nil
	}
	c, err := config.Load(path)
	if err != nil {
		return err
	}
	source := "FILE…"
	if u, err := url.Parse(c.Index.OutbackCDX); err == nil && u.Host != "" {
		source = "--from " + u.Redacted()
	}
	flags := ""
	for _, h := range hosts {
		flags += " --host " + string(h)
	}
	_, err = fmt.Fprintf(out, "if crawled before: arcrawl prime -c %s --add%s %s\n", path, flags, source)
	return err
}

// hasPrime reports whether the program has the command prime, which is in a wing.
func hasPrime(cmd *cobra.Command) bool {
	_, _, err := cmd.Root().Find([]string{"prime"})
	return err == nil
}
