package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

func newTraps() *cobra.Command {
	var d cli.Daemon
	cmd := &cobra.Command{
		Use:   "traps [HOST]",
		Short: "List traps: parts of hosts with endless URIs",
		Long: `traps lists the traps that the crawl recognized: calendars, nested folders, combinations of query parameters, session ids,
pages that invent each other, searches without end, parameters that say nothing, and identical answers to every URI. Each has the evidence, examples, the number of URIs kept out, and
scope rules for the host file that would keep them out permanently.

Then it lists paths with parameters that may be endless, and have a budget until that is clear.

It asks the running daemon. If no daemon answers, it reads the store.`,
		Example: `  arcrawl traps
  arcrawl traps release www.news.example '^https?://www\.news\.example/calendar/'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := askTraps(cmd.Context(), &d, func(c *api.Client) (api.Traps, error) {
				return c.Traps(cmd.Context(), strings.Join(args, ""))
			}, func(f *frontier.Frontier, store *spaces.Store) (api.Traps, error) {
				host := uri.Host(strings.ToLower(strings.Join(args, "")))
				return admin.TrapList(store, host, func() (admin.EndlessWaiting, error) {
					return admin.CountEndless(f, store, host)
				})
			})
			return cli.Print(&d, cmd.OutOrStdout(), list, err, showTraps)
		},
	}
	d.Add(cmd)
	cmd.AddCommand(newTrapsRelease())
	return cmd
}

func newTrapsRelease() *cobra.Command {
	var d cli.Daemon
	cmd := &cobra.Command{
		Use:   "release HOST PATTERN",
		Short: "Release a trap permanently",
		Long: `release ends the trap or budget with this PATTERN, as printed by arcrawl traps. Its URIs in the store become due now, and the pattern is
never recognized as a trap again. To release URIs that arcrawl hold holds, use arcrawl release.

It asks the running daemon. If no daemon answers, it changes the store.`,
		Example: `  arcrawl traps release www.news.example '^https?://www\.news\.example/calendar/'`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			done, err := askTraps(cmd.Context(), &d, func(c *api.Client) (api.TrapReleased, error) {
				return c.ReleaseTrap(cmd.Context(), args[0], args[1])
			}, func(f *frontier.Frontier, store *spaces.Store) (api.TrapReleased, error) {
				due, err := spaces.Release(f, store, uri.Host(strings.ToLower(args[0])), args[1], time.Now())
				return api.TrapReleased{Due: due}, err
			})
			var refusal api.Refusal
			if errors.Is(err, spaces.ErrUnknown) || errors.As(err, &refusal) {
				err = fmt.Errorf("%w; list the traps with: arcrawl traps %s (URIs held by arcrawl hold are released by arcrawl release)", err, args[0])
			}
			return cli.Print(&d, cmd.OutOrStdout(), done, err, func(out io.Writer, done api.TrapReleased) error {
				_, err := fmt.Fprintf(out, "released; %s due now\n", human.Count(done.Due, "URI"))
				return err
			})
		},
	}
	d.Add(cmd)
	return cmd
}

// askTraps asks the daemon about traps. If no daemon answers, it opens the store.
func askTraps[A any](
	ctx context.Context, d *cli.Daemon, request func(*api.Client) (A, error),
	open func(*frontier.Frontier, *spaces.Store) (A, error),
) (A, error) {
	return cli.AskOr(d, request, func(c *config.Config) (A, error) {
		return cli.FromStore(ctx, c, func(f *frontier.Frontier) (A, error) { return open(f, spaces.Open(f.DB())) })
	})
}

// waits returns how many URIs wait, in words.
func waits(n int64) string {
	if n == 1 {
		return "1 waits"
	}
	return fmt.Sprintf("%d wait", n)
}

func showTraps(out io.Writer, list api.Traps) error {
	for _, t := range list.Traps {
		if err := printTrap(out, t); err != nil {
			return err
		}
	}
	for _, b := range list.Budgets {
		_, err := fmt.Fprintf(out, "%s: may be endless: %s\n  visited   %s, %d of them with something new\n"+
			"  allowed   %s now; URIs were put off %s, and %s for the first visit\n  example   %s\n",
			b.Host, b.Key, human.Count(b.Visits, "page"), b.Rich, human.Count(b.Allowance, "first visit"),
			human.Count(b.Held, "time"), waits(b.Waiting), strings.Join(b.Examples, "\n  example   "))
		if err != nil {
			return err
		}
	}
	if len(list.Traps)+len(list.Budgets) == 0 {
		_, err := fmt.Fprintln(out, "no traps found")
		return err
	}
	if list.More {
		_, err := fmt.Fprintf(out, "… and more; name a HOST to see its traps\n")
		return err
	}
	return nil
}

func printTrap(out io.Writer, t api.Trap) error {
	state := ""
	if t.Released {
		state = ", released"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s%s, since %s\n  pattern   %s\n  seen      %s\n", human.Host(t.Host), t.Kind, state,
		t.Found.Format(time.DateTime), t.Pattern, t.Why)
	if t.FreeFrom != "" {
		fmt.Fprintf(&b, "  but not   dates from %s to %s, and this month\n", t.FreeFrom, t.FreeUntil)
	}
	if t.Kind != spaces.Session && t.Kind != spaces.Parameter {
		fmt.Fprintf(&b, "  kept out  %s\n", human.Count(t.Kept, "URI"))
	}
	for _, e := range t.Examples {
		fmt.Fprintf(&b, "  example   %s\n", e)
	}
	if t.Rule != "" {
		fmt.Fprintf(&b, "  rule      %s\n", strings.ReplaceAll(t.Rule, "\n", "\n            "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
