package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon/bulk"
	"github.com/arcrawl/arcrawl/digest/trial"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

func newScrub() *cobra.Command {
	return group("scrub", "Find and test rules for noise that is not a change",
		newScrubTest(), newScrubSuggest(), newScrubCandidates())
}

func newScrubTest() *cobra.Command {
	var at archiveFlags
	var limit int
	cmd := &cobra.Command{
		Use:   "test URI",
		Short: "Show differences that the scrubbing rules of a host leave",
		Long: `test applies the scrubbing rules of the URI's host to its versions in the archive. It shows side by side what still differs
from each version to the next. It applies the rules whatever change.mode says, so they can be tried before they are used.

` + howFound,
		Example: "  arcrawl scrub test --config arcrawl.toml https://www.news.example/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, u, err := configAndURI(cmd.ErrOrStderr(), at.config, args[0])
			if err != nil {
				return err
			}
			rules, err := trial.Rules(c, u, time.Now())
			if err != nil {
				return err
			}
			return storedVersions(cmd, &at, u, limit, func(versions []trial.Version) error {
				pairs, same, err := trial.Compare(rules, versions)
				if err != nil {
					return fmt.Errorf("%s: %w", u, err)
				}
				return trial.WritePairs(cmd.OutOrStdout(), pairs, same)
			})
		},
	}
	at.flags(cmd)
	cmd.Flags().IntVar(&limit, "versions", 20, "compare the newest `N` versions")
	return cmd
}

// configAndURI loads a configuration and parses a URI.
func configAndURI(errs io.Writer, path, address string) (*config.Config, uri.URI, error) {
	c, err := readConfig(errs, path)
	if err != nil {
		return nil, uri.URI{}, err
	}
	u, err := uri.Parse(address)
	if err != nil {
		return nil, uri.URI{}, usageError{err}
	}
	return c, u, nil
}

// storedVersions calls use with the newest versions of a page in the archive, oldest first. It prints the damaged
// versions that it skips, and returns an error if there are any.
func storedVersions(cmd *cobra.Command, at *archiveFlags, u uri.URI, limit int, use func([]trial.Version) error) error {
	return at.lookIn(cmd, false, func(l *index.Library, d *damages) error {
		captures, err := l.History(u.String())
		if err == nil && len(captures) == 0 {
			err = l.NotFound(u.String())
		}
		if err != nil {
			return err
		}
		newest := captures[max(0, len(captures)-limit):]
		return use(trial.ReadAll(cmd.Context(), l, newest, func(c index.Capture, err error) {
			d.found++
			fmt.Fprintf(cmd.ErrOrStderr(), "skipped the version of %s: %v\n", c.Date.Format(time.DateTime), err)
		}))
	})
}

func newScrubCandidates() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "candidates",
		Short: "List URIs that change at every visit or alternate between versions",
		Long: `candidates lists URIs whose content seems to differ at every visit: they changed at each of their last five to eight visits,
or they alternate between a few versions. arcrawl scrub suggest finds rules for them.

It asks the running daemon. Without one it reads the store.`,
		Example: "  arcrawl scrub candidates --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := bulk.Open(cmd.Context(), path, time.Now)
			if err != nil {
				return err
			}
			return errors.Join(printCandidates(cmd, store), store.Close())
		},
	}
	configFlag(cmd, &path)
	return cmd
}

func printCandidates(cmd *cobra.Command, store bulk.Store) error {
	table := newTable(cmd.OutOrStdout())
	err := bulk.Each(cmd.Context(), store, frontier.Selection{}, func(e frontier.Entry) error {
		why := e.Recent.Restless()
		if why == "" {
			return nil
		}
		_, err := fmt.Fprintf(table, "%s\t%s\t%d versions in %d visits\n", e.URI, why, e.Versions, e.Visits)
		return err
	})
	return errors.Join(err, table.Flush())
}
