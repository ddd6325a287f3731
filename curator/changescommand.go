package curator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// changesCommand holds the flags of arcrawl changes.
type changesCommand struct {
	cli.Daemon
	now    func() time.Time
	uri    string
	host   string
	label  string
	since  string
	kind   string
	follow bool
}

func newChanges(now func() time.Time) *cobra.Command {
	c := changesCommand{now: now}
	cmd := &cobra.Command{
		Use:   "changes [URI]",
		Short: "Show what a reader sees that changed, by page",
		Long: `changes lists what a reader sees that changed from one archived version of a page to the next, the oldest first: of a URI, or of
all pages. The daemon compares each version after its visit. The kinds are:

  withdrawn   the page is gone (404, 410, 451, or a page that says so)
  moved       the address leads to another one
  wall        something else was served in place of the page
  returned    the page is there again
  headline    of the article
  text        of the article: words that went and came
  links       entries came or went, or have other words
  pictures    pictures came, went, or were replaced
  around      what is next to the article, such as a clock or comments
  nothing     nothing that a reader sees

Scrubbing rules of the host apply. It asks the daemon, or else reads its files, which keep 400 days.`,
		Example: `  arcrawl changes --since 1d --kind headline
  arcrawl changes --host www.news.example --kind withdrawn --since 2026-11
  arcrawl changes --follow --json https://www.news.example/
  arcrawl changes rebuild --since 2026-11-20`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.uri = strings.Join(args, ""); c.uri != "" {
				u, err := uri.Parse(c.uri)
				if err != nil {
					return cli.Usage(err)
				}
				c.uri = u.String()
			}
			return c.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.Add(cmd)
	f := cmd.PersistentFlags()
	f.StringVar(&c.host, "host", "", "only changes on this host")
	f.StringVar(&c.since, "since", "1d", "from this time on: 24h or 7d ago, or a date such as 2026-11 or 2026-11-21T09:00:00Z")
	cmd.Flags().StringVar(&c.label, "label", "", "choose hosts with this label")
	cmd.Flags().StringVar(&c.kind, "kind", "", "only changes of this kind, or of several as headline,withdrawn")
	cmd.Flags().BoolVar(&c.follow, "follow", false, "continue with changes as they are found")
	cmd.AddCommand(newChangesRebuild(&c))
	return cmd
}

// begin returns the time that --since names.
func (c *changesCommand) begin() (time.Time, error) {
	if d, err := human.ParseDuration(c.since); err == nil {
		return c.now().Add(-d), nil
	}
	from, _, err := human.ParsePeriod(c.since)
	if err != nil {
		return from, cli.Usage(fmt.Errorf("--since: %w", err))
	}
	return from, nil
}

// The bounds of what the command prints.
const (
	changesPage = 500 // that are asked for at once
	maxPrinted  = 50_000
	followEvery = 2 * time.Second
	// followAgain is how far a question reaches back before the last change: clocks of nodes differ.
	followAgain = time.Minute
)

func (c *changesCommand) run(ctx context.Context, out, errs io.Writer) error {
	since, err := c.begin()
	if err != nil {
		return err
	}
	if _, bad := kindsIn(c.kind); bad != "" {
		return cli.Usage(fmt.Errorf("unknown --kind %q; valid kinds: %s", bad, strings.Join(changeKinds()[1:], ", ")))
	}
	seen := map[string]bool{}
	var last time.Time
	show := func(list []api.Capture) error {
		for _, change := range slices.Backward(list) {
			key := change.URI + " " + change.At.String()
			if seen[key] {
				continue
			}
			seen[key], last = true, later(last, change.Change.Noted)
			if err := c.print(out, change); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		q := c.question(since)
		if !last.IsZero() {
			q.Set("after", last.Add(-followAgain).UTC().Format(time.RFC3339Nano))
		}
		list, err := c.all(ctx, errs, q)
		if err == nil {
			err = show(list)
		}
		if err != nil || !c.follow {
			return c.Advise(err)
		}
		if err = cli.Wait(ctx, followEvery); err != nil {
			return nil //nolint:nilerr // somebody has ended it
		}
		if len(seen) > maxPrinted {
			clear(seen) // a change may be printed twice
		}
		errs = io.Discard // it was said
	}
}

// all returns the changes that a question asks for, the last one first.
func (c *changesCommand) all(ctx context.Context, errs io.Writer, q url.Values) (list []api.Capture, err error) {
	for {
		answer, err := c.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		list = append(list, answer.Captures...)
		if answer.Uncompared > 0 && q.Get("before") == "" {
			fmt.Fprintf(errs, "%s came too fast to be compared; run: arcrawl changes rebuild\n",
				human.Count(answer.Uncompared, "version"))
		}
		switch {
		case answer.More == 0 || len(answer.Captures) == 0:
			return list, nil
		case len(list) >= maxPrinted:
			fmt.Fprintf(errs, "there are earlier ones: these are the last %d\n", len(list))
			return list, nil
		}
		q.Set("before", list[len(list)-1].Change.Noted.Format(time.RFC3339Nano))
	}
}

// question returns the question for the changes since a time.
func (c *changesCommand) question(since time.Time) url.Values {
	q := url.Values{
		"change": {anyChange}, "since": {since.UTC().Format(time.RFC3339Nano)}, "limit": {strconv.Itoa(changesPage)},
	}
	for name, value := range map[string]string{"change": c.kind, "uri": c.uri, "host": c.host, "label": c.label} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// ask asks the daemon. If no daemon answers, it reads the files of the state.
func (c *changesCommand) ask(ctx context.Context, q url.Values) (api.New, error) {
	return cli.AskOr(&c.Daemon, func(client *api.Client) (api.New, error) {
		return client.New(ctx, q)
	}, func(conf *config.Config) (out api.New, err error) {
		f := changeFilter{URI: q.Get("uri")}
		f.Changes, _ = kindsIn(q.Get("change"))
		f.Host, f.Limit = q.Get("host"), changesPage
		for name, at := range map[string]*time.Time{"since": &f.Since, "before": &f.Before, "after": &f.After} {
			if text := q.Get(name); text != "" {
				if *at, err = time.Parse(time.RFC3339Nano, text); err != nil {
					return out, err
				}
			}
		}
		if chosen := conf.Chooses(config.Filter{Label: q.Get("label")}); chosen != nil {
			f.Sites = func(host string) bool { return chosen(uri.Host(host)) }
		}
		store := &changeStore{dir: filepath.Join(conf.Storage.State, changesFolder)}
		out.Captures, out.More = store.Find(f, time.Minute, c.now)
		return out, nil
	})
}

// print prints a change, as a line of JSON or for people.
func (c *changesCommand) print(out io.Writer, change api.Capture) error {
	if c.JSON {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		return e.Encode(change)
	}
	ch := change.Change
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n    %s\n", change.At.UTC().Format(time.DateTime), change.URI, ch.InWords())
	for _, line := range ch.Lines() {
		b.WriteString("    " + line + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}
