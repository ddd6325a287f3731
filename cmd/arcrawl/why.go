package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

func newWhy() *cobra.Command {
	var d cli.Daemon
	var via, hop string
	cmd := &cobra.Command{
		Use:   "why URI",
		Short: "Explain when a URI is visited next, or which rule keeps it out",
		Long: `why shows the history of a URI, why it is due at that time, the state of its host, what scope and robots.txt say, and when
the next visit comes or what prevents it.

For an unknown URI it applies every rule in the order of the crawl and names the one that keeps the URI out. It tests the URI as if it had
been found on the page --via, or else on the first seed of its host or domain. It does the same if no daemon answers; then it knows only
the store and the configuration.`,
		Example: `  arcrawl why https://www.news.example/
  arcrawl why https://cdn.example/a.png --via https://www.news.example/ --hop E`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := uri.Parse(args[0]); err != nil { // another scheme, or not a URI
				return explainOut(cmd, d, args[0], via, hop)
			}
			err := cli.Ask(cmd, &d, showWhy, func(c *api.Client) (api.Why, error) {
				return c.Why(cmd.Context(), args[0])
			})
			var refused api.Refusal
			unknown := errors.As(err, &refused) && refused.Status == http.StatusNotFound
			if unknown || errors.Is(err, api.ErrNoDaemon) && d.Socket == "" {
				return explainOut(cmd, d, args[0], via, hop)
			}
			return err
		},
	}
	d.Add(cmd)
	addHopFlags(cmd, &via, &hop)
	return cmd
}

func showWhy(out io.Writer, y api.Why) error {
	u := y.URI
	row := func(name, format string, args ...any) {
		fmt.Fprintf(out, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(out, "%s\n", u.URI)
	row("now", "%s", y.State)
	row("next", "%s", y.Next)
	if u.Due != nil {
		due := "in " + cli.Span(api.Seconds(time.Until(*u.Due)))
		if u.Overdue > 0 {
			due = "overdue for " + cli.Span(u.Overdue)
		}
		row("due", "%s, %s", u.Due.UTC().Format("2006-01-02 15:04:05 MST"), due)
	}
	for _, r := range [][2]string{{"because", y.Why}, {"decided", y.Chain}} {
		if r[1] != "" {
			row(r[0], "%s", r[1])
		}
	}
	if u.Visits > 0 {
		row("visits", "%d, the last %s: %s", u.Visits, ago(u.LastVisit), crawllog.StatusText(u.LastStatus))
		row("versions", "%d, the last %s", u.Versions, ago(u.LastChange))
		row("interval", "%s learned%s", cli.Span(u.Wait), rateText(u))
	}
	if u.Failures > 0 {
		row("failures", "%d in a row", u.Failures)
	}
	for _, r := range [][2]string{{"noise", y.Noise}, {"error", u.LastError}, {"hint", y.Hint}} {
		if r[1] != "" {
			row(r[0], "%s", r[1])
		}
	}
	if u.LastCapture != nil {
		row("capture", "%s, status %d, %s, %s", ago(u.LastCapture), u.Status, u.ContentType, human.Bytes(u.Size))
		row("headers", "ETag %s, Last-Modified %s", orNone(u.ETag), orNone(u.Modified))
	}
	if u.File != "" {
		row("archived", "%s at %d", u.File, u.Offset)
	}
	way := "a seed"
	if u.Via != "" {
		way = fmt.Sprintf("on %s, by the path %s from %s", u.Via, u.Hops, u.Seed)
	}
	row("found", "%s, %s", ago(u.FirstSeen), way)
	h := y.Host
	known := "from its settings"
	if y.Observed {
		known = "measured"
	}
	row("host", "%s: %s, %s, %d queued, one visit every %s (%s)", h.Label(), h.Condition(),
		human.Count(h.URIs, "URI"), h.Queued, cli.Span(y.Delay), known)
	if h.LastError != "" {
		row("host error", "%s", h.LastError)
	}
	for _, s := range y.Settings {
		row("setting", "%s = %s  [%s]", s.Key, s.Value, s.Origin)
	}
	return showRules(out, y.Rules)
}

func showRules(out io.Writer, rules []api.Rule) error {
	for _, r := range rules {
		where := ""
		if r.Where != "" {
			where = "  [" + r.Where + "]"
		}
		if _, err := fmt.Fprintf(out, "%-10s %s %s: %s%s\n", "rule", r.Opinion, r.Rule, r.Why, where); err != nil {
			return err
		}
	}
	return nil
}

// ago returns how long ago t was, or "never".
func ago(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return cli.Span(api.Seconds(time.Since(*t))) + " ago"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// rateText says how often a URI changes. While every visit found a version, nobody knows: it may change at any rate.
func rateText(u api.URI) string {
	switch {
	case u.Rate <= 0:
		return ""
	case u.Visits <= u.Versions:
		return "; not known yet how often it changes"
	}
	return fmt.Sprintf(", %.3g changes a day expected", u.Rate)
}

// addHopFlags adds the flags that say how an unknown URI would be found.
func addHopFlags(cmd *cobra.Command, via, hop *string) {
	cmd.Flags().StringVar(via, "via", "", "assume that the URI was found on this page")
	cmd.Flags().StringVar(hop, "hop", "L",
		"assume this kind of hop: L link, E embed, R redirect, M feed or sitemap, X guess, I implied")
}

// explainOut prints the result of every rule for a URI. It asks the daemon, or else reads configuration and store.
func explainOut(cmd *cobra.Command, d cli.Daemon, uri, via, hop string) error {
	if out, ok := admin.OtherScheme(uri); ok {
		return cli.Print(&d, cmd.OutOrStdout(), out, nil, showWhyNot)
	}
	q, err := whyNotQuestion(uri, via, hop)
	if err != nil {
		return cli.Usage(err)
	}
	show := showWhyNot
	answer, err := cli.AskOr(&d, func(c *api.Client) (api.WhyNot, error) {
		return c.WhyNot(cmd.Context(), q)
	}, func(c *config.Config) (api.WhyNot, error) {
		show = showStoppedWhyNot
		return whyNot(cmd.Context(), c, q)
	})
	return cli.Print(&d, cmd.OutOrStdout(), answer, err, show)
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
func whyNot(ctx context.Context, c *config.Config, q whatif.Question) (api.WhyNot, error) {
	explain := func(known whatif.Known, traps *spaces.Store) (api.WhyNot, error) {
		reasons, err := whatif.Explain(c, known, traps, q, time.Now())
		return admin.WhyNot(q.URI.String(), reasons), err
	}
	if daemon.CheckStore(c) != nil {
		return explain(nil, nil)
	}
	return cli.FromStore(ctx, c, func(f *frontier.Frontier) (api.WhyNot, error) {
		return explain(f, spaces.Open(f.DB()))
	})
}

// showWhyNot prints the daemon's answer. The daemon names a reason for every URI that it does not know.
func showWhyNot(out io.Writer, n api.WhyNot) error {
	return showVerdict(out, n, "nothing keeps it out; it is known, and arcrawl why shows its next visit")
}

// showStoppedWhyNot prints an answer without a daemon.
func showStoppedWhyNot(out io.Writer, n api.WhyNot) error {
	return showVerdict(out, n, "nothing keeps it out")
}

// showVerdict prints the result of each rule, and what keeps the URI out. If nothing does, it prints accepted.
func showVerdict(out io.Writer, n api.WhyNot, accepted string) error {
	if err := showRules(out, n.Rules); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s: %s\n", n.URI, cmp.Or(n.Out, accepted))
	return err
}
