package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// outcome says what a command did to the hosts and URIs that an operator named.
type outcome struct {
	Hosts   int64 `json:"hosts"`   // named and known
	URIs    int64 `json:"uris"`    // named and known
	Changed int64 `json:"changed"` // hosts and URIs
	Busy    int64 `json:"busy"`    // URIs that are being visited, and were not changed
}

func newVisit() *cobra.Command {
	return steeringCommand(&cobra.Command{
		Use:   "visit URI…",
		Short: "Make URIs due now, so that the running daemon visits them soon",
		Long: `visit makes known URIs due now. Politeness delays and robots.txt still apply. arcrawl why shows when the visit comes.
arcrawl seeds add --running-only adds a URI that is not known.`,
		Example: "  arcrawl visit https://www.news.example/",
	}, "made due", func(cmd *cobra.Command, c *api.Client, _ []string, uris frontier.Selection) (o outcome, err error) {
		done, err := c.Visit(cmd.Context(), uris)
		return outcome{URIs: done.Matched, Changed: done.Changed, Busy: done.InProgress}, err
	})
}

func newHold() *cobra.Command {
	return steeringCommand(&cobra.Command{
		Use:   "hold HOST|URI…",
		Short: "Keep hosts or URIs from being visited until they are released",
		Long: `hold keeps the running daemon from visiting hosts and URIs, also after a restart, until arcrawl release. Their history and
due times stay. Visits in progress are finished.

An argument with "://" in it is a URI; any other is a host. "*.example.org" matches example.org and all hosts below it.
To choose URIs by prefix or regular expression, see arcrawl frontier hold.`,
		Example: "  arcrawl hold www.news.example\n  arcrawl hold '*.example.org' https://www.news.example/archive/",
	}, "held", func(cmd *cobra.Command, c *api.Client, hosts []string, uris frontier.Selection) (outcome, error) {
		return holdOrRelease(cmd, c, hosts, uris, frontier.Pause, c.Hold)
	})
}

func newRelease() *cobra.Command {
	return steeringCommand(&cobra.Command{
		Use:   "release HOST|URI…",
		Short: "Release held hosts or URIs",
		Long: `release ends a hold. URIs that became due in the meantime are visited as politeness allows. (To release a trap, see
arcrawl traps release.)`,
		Example: "  arcrawl release www.news.example",
	}, "released", func(cmd *cobra.Command, c *api.Client, hosts []string, uris frontier.Selection) (outcome, error) {
		return holdOrRelease(cmd, c, hosts, uris, frontier.Resume, c.Release)
	})
}

// steerer changes the hosts and URIs that an operator named.
type steerer func(cmd *cobra.Command, c *api.Client, hosts []string, uris frontier.Selection) (outcome, error)

// steeringCommand returns cmd completed to call a steerer. done is the participle that reports what was changed.
func steeringCommand(cmd *cobra.Command, done string, do steerer) *cobra.Command {
	var d cli.Daemon
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		hosts, uris, err := named(args)
		if err != nil {
			return cli.Usage(err)
		}
		if strings.HasPrefix(cmd.Use, "visit") && len(hosts) > 0 {
			return cli.Usage(fmt.Errorf("%s is not a URI; for a whole host use: arcrawl frontier force --host %s", hosts[0], hosts[0]))
		}
		c, err := d.Client()
		if err != nil {
			return err
		}
		o, err := do(cmd, c, hosts, uris)
		return cli.Print(&d, cmd.OutOrStdout(), o, err, func(out io.Writer, o outcome) error {
			if missing := int64(len(args)) - o.URIs - o.Hosts; missing > 0 && !strings.Contains(strings.Join(hosts, " "), "*") {
				fmt.Fprintf(out, "%d not known; \"arcrawl why URI\" shows the reason\n", missing)
			}
			if o.Busy > 0 {
				fmt.Fprintf(out, "%d in progress, not changed\n", o.Busy)
			}
			_, err := fmt.Fprintf(out, "%d %s, %d unchanged\n", o.Changed, done, o.URIs+o.Hosts-o.Changed-o.Busy)
			return err
		})
	}
	d.Add(cmd)
	return cmd
}

// holdOrRelease applies verb to hosts, and steer to URIs.
func holdOrRelease(cmd *cobra.Command, c *api.Client, hosts []string, uris frontier.Selection, verb frontier.HostVerb,
	steer func(ctx context.Context, s frontier.Selection) (frontier.Steered, error),
) (o outcome, err error) {
	for _, h := range hosts {
		matched, changed, err := c.SteerHosts(cmd.Context(), h, frontier.HostAction{Verb: verb})
		if err != nil {
			return o, err
		}
		o.Hosts, o.Changed = o.Hosts+matched, o.Changed+changed
	}
	if len(uris.URIs) == 0 {
		return o, nil
	}
	done, err := steer(cmd.Context(), uris)
	o.URIs, o.Changed = done.Matched, o.Changed+done.Changed
	return o, err
}

// named divides command-line arguments into hosts and URIs.
func named(words []string) (hosts []string, uris frontier.Selection, err error) {
	for _, word := range words {
		if !strings.Contains(word, "://") {
			hosts = append(hosts, strings.ToLower(word))
			continue
		}
		u, err := uri.Parse(word)
		if err != nil {
			return nil, uris, err
		}
		uris.URIs = append(uris.URIs, u)
	}
	return hosts, uris, nil
}
