package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newFrontier() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "frontier",
		Short: "Show and change the known URIs in bulk",
		Long: `frontier shows the known URIs and changes them in bulk. Choose URIs by name, as arguments or with --from-file, and with
--host, --prefix, --match and --state. A URI must meet all conditions. The commands go through the store in small steps:
they need little memory, however large the store is. If a daemon runs, they ask it through its socket, and the crawl
continues. Otherwise they open the store themselves.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFrontierList(), newFrontierImport(), newFrontierForget())
	return cmd
}

// with opens the frontier, calls do with it, and closes it.
func (f *frontierFlags) with(cmd *cobra.Command, do func(s cli.Store) error) error {
	s, err := cli.OpenStore(cmd.Context(), f.config, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

func newFrontierList() *cobra.Command {
	var f frontierFlags
	var limit int
	var count bool
	var output string
	cmd := &cobra.Command{
		Use:   "list [URI…]",
		Short: "List URIs with their states and due times, count them, or write them with their history",
		Long: `list prints one line for each chosen URI, or for all URIs: when it is due, the status of its last visit, its visits and
versions, its wait interval, and its state. The order is the order of the store.

With --json it writes one line of JSON for each URI: how it was found, when it is due, and what was learned from its
visits, such as intervals, digests, validators and the archive record of its last payload. --output writes the lines of
all chosen URIs to a file. arcrawl frontier import reads them. The state of hosts (politeness, robots.txt, pauses) and
the dedup index are not included.`,
		Example: `  arcrawl frontier list --host www.news.example --state failing
  arcrawl frontier list --count --state due --host '*.news.example'
  arcrawl frontier list --json https://www.news.example/
  arcrawl frontier list --output frontier.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(s cli.Store) error {
				switch {
				case count:
					return f.printCount(cmd, args, s)
				case output != "":
					return f.export(cmd, args, s, output)
				}
				return f.printAll(cmd, args, s, limit)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&count, "count", false, "print only the number of the URIs")
	cmd.Flags().IntVar(&limit, "limit", 1000, "list at most `N` URIs (0 = no limit)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write all URIs with their history to this new `FILE` (- = standard output)")
	cmd.MarkFlagsMutuallyExclusive("output", "count")
	cmd.MarkFlagsMutuallyExclusive("output", "limit")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

// export writes the chosen URIs with their whole history as JSON lines.
func (f *frontierFlags) export(cmd *cobra.Command, args []string, s cli.Store, output string) error {
	return cli.ToFile(cmd, output, func(out io.Writer) error {
		to := json.NewEncoder(out)
		return f.entries(cmd, args, s, func(e frontier.Entry) error { return to.Encode(e) })
	})
}

// printCount prints the number of the chosen URIs.
func (f *frontierFlags) printCount(cmd *cobra.Command, args []string, s cli.Store) error {
	n, err := f.count(cmd, args, s)
	if err != nil {
		return err
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]int64{"count": n})
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), n)
	return err
}

// printAll prints the chosen URIs, or the first of them.
func (f *frontierFlags) printAll(cmd *cobra.Command, args []string, s cli.Store, limit int) error {
	out := cmd.OutOrStdout()
	printed, now := 0, time.Now()
	errEnough := errors.New("enough")
	err := f.entries(cmd, args, s, func(e frontier.Entry) error {
		if limit > 0 && printed == limit {
			fmt.Fprintf(cmd.ErrOrStderr(), "arcrawl: stopped after %d URIs; use --limit 0 to list all\n", limit)
			return errEnough
		}
		if printed++; f.json {
			return json.NewEncoder(out).Encode(e)
		}
		if printed == 1 {
			fmt.Fprintf(out, "%-20s %6s %6s %8s %9s  %s\n", "DUE", "STATUS", "VISITS", "VERSIONS", "WAIT", "URI")
		}
		_, err := fmt.Fprintln(out, entryLine(e, now))
		return err
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// entryLine returns the line of list for a URI.
func entryLine(e frontier.Entry, now time.Time) string {
	due, status, wait := "on demand", "-", "-"
	if !e.Due.IsZero() {
		due = e.Due.Format("2006-01-02T15:04:05Z")
	}
	if e.LastStatus != 0 {
		status = fmt.Sprint(e.LastStatus)
	}
	if e.Wait > 0 {
		wait = cli.Span(api.Seconds(e.Wait))
	}
	overdue, waiting := now.Sub(e.Due), !e.InProgress && !e.Held && !e.Due.IsZero()
	var notes []string
	out := crawler.KeptOut(e.Record)
	for _, note := range []struct {
		say  bool
		text string
	}{
		{e.InProgress, "being visited"},
		{e.Held, "held"},
		{out != "", "not visited: " + out},
		{e.Failures > 0, fmt.Sprintf("failed %d times in a row", e.Failures)},
		{e.Gone > 0, fmt.Sprintf("gone at %d visits in a row", e.Gone)},
		{waiting && overdue > time.Minute, "overdue by " + human.About(overdue)},
	} {
		if note.say {
			notes = append(notes, note.text)
		}
	}
	line := fmt.Sprintf("%-20s %6s %6d %8d %9s  %s", due, status, e.Visits, e.Versions, wait, e.URI)
	if len(notes) > 0 {
		line += "  (" + strings.Join(notes, ", ") + ")"
	}
	return line
}

func newFrontierImport() *cobra.Command {
	var f frontierFlags
	var replace bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Add the URIs of an export with their whole history",
		Long: `import reads the JSON lines that arcrawl frontier list --output writes. FILE may be - for the standard input. A known URI stays
unchanged unless --replace is given, so an interrupted import can simply be repeated. The first faulty line stops the
import.`,
		Example: "  arcrawl frontier import frontier.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(s cli.Store) error {
				in, done, err := cli.Input(cmd, args[0])
				if err != nil {
					return err
				}
				defer done()
				total, err := cli.ImportEntries(cmd.Context(), s, in, args[0], replace)
				fmt.Fprintf(cmd.ErrOrStderr(), "arcrawl: %s added, %d already known, %d replaced, %d skipped because they are being visited, %d refused because their host is full\n",
					human.Count(total.New, "URI"), total.Known, total.Replaced, total.InProgress, total.Refused)
				if total.Foreign > 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "arcrawl: %s skipped because other nodes of the cluster have their hosts: import the same "+
						"file there too\n", human.Count(total.Foreign, "URI"))
				}
				return err
			})
		},
	}
	cli.ConfigFlag(cmd, &f.config)
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the history of known URIs")
	return cmd
}
