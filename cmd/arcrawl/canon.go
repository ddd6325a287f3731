package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

func newCanon() *cobra.Command {
	var path, against string
	var changes bool
	cmd := &cobra.Command{
		Use:   "canon URI",
		Short: "Show the name of a URI, or how changed rules would affect known URIs",
		Long: `canon shows step by step how the rules of [names] turn a URI into its name. The crawl treats URIs of the same name as one:
it visits and archives the first one found, as it was written, and skips the others.

With --changes it reads all URIs of the store. It lists which of them would get the same name, and which would no longer share one, if
the rules changed from the file --against to the file --config. Without --against each URI was its own name. Nothing is changed. Stop
the daemon first, or use arcrawl reload --dry-run, which looks at up to 100,000 URIs.`,
		Example: `  arcrawl canon 'https://www.news.example/a?utm_source=feed'
  arcrawl canon --changes --config new.toml --against arcrawl.toml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if changes != (len(args) == 0) {
				return cli.Usage(errors.New("want either a URI or --changes"))
			}
			c, err := cli.ReadConfig(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			if !changes {
				return canon(c, args[0], cmd.OutOrStdout())
			}
			var before *config.Config
			if against != "" {
				if before, err = config.LoadToRead(against); err != nil {
					return err
				}
			}
			return canonChanges(cmd.Context(), c, before, cmd.OutOrStdout())
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&changes, "changes", false, "list known URIs that would share a name, or no longer share one")
	cmd.Flags().StringVar(&against, "against", "", "compare with the rules of this main configuration file")
	return cmd
}

// canon prints each step from a URI to its name.
func canon(c *config.Config, text string, out io.Writer) error {
	u, err := uri.Parse(text)
	if err != nil {
		return cli.Usage(err)
	}
	naming := c.ForHost(u.Host(), time.Now()).Names
	table := cli.NewTable(out)
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

// maxNameExamples is the number of merges and of splits that are printed.
const maxNameExamples = 20

// canonChanges prints how a change of rules would affect the URIs of the store.
func canonChanges(ctx context.Context, c, before *config.Config, out io.Writer) error {
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
	found, err := cli.FromStore(ctx, c, func(f *frontier.Frontier) (whatif.Names, error) {
		return whatif.NameChanges(f.Each, rules(before), rules(c), maxNameExamples)
	})
	if err != nil {
		return err
	}
	for _, m := range found.Merges {
		fmt.Fprintf(out, "same name: %s\n      and: %s\n     name: %s\n", m.A, m.B, m.Name)
	}
	for _, s := range found.Splits {
		fmt.Fprintf(out, "  no longer: %s\n        and: %s\n share name: %s\n", s.A, s.B, s.Name)
	}
	_, err = fmt.Fprintf(out, "%s on %s with changed rules; %d would share a name with another, %d would no longer share one\n",
		human.Count(found.URIs, "URI"), human.Count(found.Hosts, "host"), found.Merged, found.Parted)
	return err
}
