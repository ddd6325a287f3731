package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/scope"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// newWhyNot returns the command that applies the rules to known URIs too. It is hidden: arcrawl why answers the question.
func newWhyNot() *cobra.Command {
	var d daemonFlags
	var via, hop string
	cmd := &cobra.Command{
		Use:    "why-not URI",
		Hidden: true,
		Short:  "Show which rule keeps a URI out of the crawl, if any",
		Long: `why-not applies every rule to a URI in the order of the crawl, prints the result of each, and names the one that decides.
Before the first run of the daemon it knows only the configuration.

A known URI is tested with the hop path on which it was found. An unknown one is tested as if it had been found on the page --via, or
else on the first seed of its host or domain.

It asks the running daemon. If no daemon answers, it reads the store.`,
		Example: `  arcrawl why-not https://www.news.example/print/1234
  arcrawl why-not https://cdn.example/a.png --via https://www.news.example/ --hop E`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return explainOut(cmd, d, args[0], via, hop) },
	}
	d.add(cmd)
	addHopFlags(cmd, &via, &hop)
	return cmd
}

// addHopFlags adds the flags that say how an unknown URI would be found.
func addHopFlags(cmd *cobra.Command, via, hop *string) {
	cmd.Flags().StringVar(via, "via", "", "assume that the URI was found on this page")
	cmd.Flags().StringVar(hop, "hop", "L",
		"assume this kind of hop: L link, E embed, R redirect, M feed or sitemap, X guess, I implied")
}

// explainOut prints the result of every rule for a URI. It asks the daemon, or else reads configuration and store.
func explainOut(cmd *cobra.Command, d daemonFlags, uri, via, hop string) error {
	if reason, ok := scope.OtherScheme(uri); ok {
		return printAnswer(&d, cmd.OutOrStdout(), admin.WhyNotOf(uri, []scope.Reason{reason}), nil, showWhyNot)
	}
	q, err := whyNotQuestion(uri, via, hop)
	if err != nil {
		return usageError{err}
	}
	if ok, err := askWhyNot(cmd, d, q); ok || err != nil && !errors.Is(err, api.ErrNoDaemon) {
		return err
	}
	c, err := config.Load(d.config)
	if err != nil {
		return err
	}
	return whyNot(c, q, cmd.OutOrStdout())
}

// whyNotQuestion parses the command line.
func whyNotQuestion(text, via, hop string) (whatif.Question, error) {
	var q whatif.Question
	var err error
	if q.URI, err = uri.Parse(text); err != nil {
		return q, err
	}
	if via != "" {
		if q.Via, err = uri.Parse(via); err != nil {
			return q, err
		}
	}
	switch q.Hop = uri.Hop((hop + " ")[0]); q.Hop {
	case uri.Link, uri.Embed, uri.Redirect, uri.Manifest, uri.Speculative, uri.Inferred:
	default:
		err = fmt.Errorf("unknown --hop %q; valid hops: L, E, R, M, X, I", hop)
	}
	return q, err
}

// whyNot answers from the configuration and from the store, if there is one.
func whyNot(c *config.Config, q whatif.Question, out io.Writer) (err error) {
	var known whatif.Known
	var book *traps.Store
	if daemon.CheckStore(c) == nil {
		f, err := daemon.OpenStopped(c, time.Now())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		known = f
		if book, err = traps.Open(f.DB()); err != nil {
			return err
		}
	}
	reasons, err := whatif.Explain(c, known, book, q, time.Now())
	if err != nil {
		return err
	}
	return printReasons(q.URI, reasons, out)
}

// printReasons prints the result of each rule and the verdict.
func printReasons(u uri.URI, reasons []scope.Reason, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range reasons {
		where := ""
		if r.Where != "" {
			where = "  [" + r.Where + "]"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s%s\n", r.Opinion, r.Rule, r.Why, where)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	verdict := "nothing keeps it out"
	for _, r := range reasons {
		if r.Opinion == scope.Rejects {
			verdict = fmt.Sprintf("kept out by %s: %s", r.Rule, r.Why)
			if r.Where != "" {
				verdict += " (" + r.Where + ")"
			}
		}
	}
	_, err := fmt.Fprintf(out, "%s: %s\n", u, verdict)
	return err
}
