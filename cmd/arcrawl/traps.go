package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/traps"
	"github.com/arcrawl/arcrawl/uri"
)

func newTraps() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "traps [HOST]",
		Short: "List the parts of hosts that were found never to come to an end",
		Long: `traps lists what the crawl has recognised as traps: calendars, folders in folders, combinations of query parameters, session
ids, answers that are the same for whatever is asked. Each with what was seen, examples, how many URIs are kept out, and lines
for the host's file that would keep it out whatever the pages hold from now on.

It reads the store, which the daemon has for itself while it runs: stop the daemon first.`,
		Example: `  arcrawl traps
  arcrawl traps release www.news.example '^https?://www\.news\.example/calendar/'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withTraps(path, func(_ *frontier.Frontier, book *traps.Book) error {
				return listTraps(book, strings.Join(args, ""), cmd.OutOrStdout())
			})
		},
	}
	cmd.PersistentFlags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	cmd.AddCommand(newTrapsRelease(&path))
	return cmd
}

func newTrapsRelease(path *string) *cobra.Command {
	return &cobra.Command{
		Use:   "release HOST PATTERN",
		Short: "Let the URIs of a trap go, for good",
		Long: `release ends a trap. PATTERN is its pattern as arcrawl traps prints it. The URIs of it that are in the store become due at
once, and the same pattern is never taken for a trap again.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withTraps(*path, func(f *frontier.Frontier, book *traps.Book) error {
				return releaseTrap(f, book, uri.Host(args[0]), args[1], cmd.OutOrStdout())
			})
		},
	}
}

// withTraps opens the book of traps in the store of a stopped daemon.
func withTraps(path string, do func(*frontier.Frontier, *traps.Book) error) (err error) {
	c, err := config.Load(path)
	if err != nil {
		return err
	}
	f, err := openStopped(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	book, err := traps.Open(f.DB())
	if err != nil {
		return err
	}
	return do(f, book)
}

// listTraps prints the traps of one host, or of all.
func listTraps(book *traps.Book, host string, out io.Writer) error {
	n := 0
	err := book.Each(func(h uri.Host, list []traps.Trap) error {
		if host != "" && string(h) != host {
			return nil
		}
		n += len(list)
		for _, t := range list {
			if err := printTrap(out, h, t); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && n == 0 {
		_, err = fmt.Fprintln(out, "no traps were found")
	}
	return err
}

func printTrap(out io.Writer, h uri.Host, t traps.Trap) error {
	state := ""
	if t.Released {
		state = ", released"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s%s, since %s\n  pattern   %s\n  seen      %s\n", h, t.Kind, state, t.Found.Format(time.DateTime), t.Pattern, t.Why)
	if t.Kind == traps.Calendar {
		fmt.Fprintf(&b, "  but not   dates from %s to %s, and this month\n", dateOf(t.From), dateOf(t.To))
	}
	if t.Kind != traps.Session {
		fmt.Fprintf(&b, "  kept out  %d URIs\n", t.Kept)
	}
	for _, e := range t.Examples {
		fmt.Fprintf(&b, "  example   %s\n", e)
	}
	if rule := t.Rule(); rule != "" {
		fmt.Fprintf(&b, "  rule      %s\n", strings.ReplaceAll(rule, "\n", "\n            "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// dateOf is a day in days since 1970.
func dateOf(day int) string { return time.Unix(int64(day)*24*60*60, 0).UTC().Format(time.DateOnly) }

func releaseTrap(f *frontier.Frontier, book *traps.Book, h uri.Host, pattern string, out io.Writer) error {
	due, err := crawler.ReleaseTrap(f, book, h, pattern, time.Now())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "released; %d URIs of it are due now\n", due)
	return err
}
