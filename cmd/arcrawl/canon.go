package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/uri"
)

func newCanon() *cobra.Command {
	var path, against string
	var changes bool
	cmd := &cobra.Command{
		Use:   "canon URI",
		Short: "Show the name of a URI, or what other rules would make of the known ones",
		Long: `canon shows step by step how a URI comes to its name. URIs of one name are one for the crawl: the first that is found is visited
and archived as it was written, the others are not visited. The table [names] of the configuration has the rules.

With --changes it reads all URIs of the store and tells which of them would become one, and which would part, if the rules
changed from those of the file --against to those of --config. Without --against the rules before are those of no file:
each URI is its own name. Nothing is changed. The daemon has the store for itself while it runs: stop it first, or ask it with
arcrawl reload --dry-run, which looks at up to 100,000 URIs.`,
		Example: `  arcrawl canon 'https://www.news.example/a?utm_source=feed'
  arcrawl canon --changes --config new.toml --against arcrawl.toml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if changes != (len(args) == 0) {
				return usageError{errors.New("give either a URI or --changes")}
			}
			c, err := config.Load(path)
			if err != nil {
				return err
			}
			if !changes {
				return canon(c, args[0], cmd.OutOrStdout())
			}
			var before *config.Config
			if against != "" {
				if before, err = config.Load(against); err != nil {
					return err
				}
			}
			return canonChanges(c, before, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	cmd.Flags().BoolVar(&changes, "changes", false, "tell which known URIs would merge or part")
	cmd.Flags().StringVar(&against, "against", "", "the main configuration file with the rules before")
	return cmd
}

// canon prints how a URI comes to its name.
func canon(c *config.Config, text string, out io.Writer) error {
	u, err := uri.Parse(text)
	if err != nil {
		return usageError{err}
	}
	naming := c.ForHost(u.Host(), time.Now()).Names
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	before := text
	for _, s := range naming.Steps(u) {
		mark := " "
		if s.Result != before {
			mark = "*"
		}
		fmt.Fprintf(table, "%s %s\t%s\n", mark, s.Rule, s.Result)
		before = s.Result
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "rules of %s: %s\n%s\n", u.Host(), naming.Notation(), naming.Digest())
	return err
}

// maxNameExamples is how many merges and splits are printed.
const maxNameExamples = 20

// canonChanges prints what the change of rules would do to the URIs of the store.
func canonChanges(c, before *config.Config, out io.Writer) (err error) {
	f, err := openStopped(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	now := time.Now()
	rules := func(c *config.Config) func(uri.Host) *uri.Naming {
		return func(h uri.Host) *uri.Naming {
			if c == nil {
				return nil
			}
			n := c.ForHost(h, now).Names
			return &n
		}
	}
	found, err := whatif.NameChanges(f.Each, rules(before), rules(c), maxNameExamples)
	if err != nil {
		return err
	}
	for _, m := range found.Merges {
		fmt.Fprintf(out, "would be one: %s\n         and: %s\n        name: %s\n", m.A, m.B, m.Name)
	}
	for _, s := range found.Splits {
		fmt.Fprintf(out, "would part: %s\n       and: %s\n  were both: %s\n", s.A, s.B, s.Name)
	}
	_, err = fmt.Fprintf(out, "%d URIs on %d hosts with other rules; %d would become one with another, %d would part from one\n",
		found.URIs, found.Hosts, found.Merged, found.Parted)
	return err
}
