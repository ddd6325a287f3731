package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// outcome is what became of hosts and URIs that an operator named.
type outcome struct {
	Hosts   int64 `json:"hosts"`   // that were named and are known
	URIs    int64 `json:"uris"`    // that were named and are known
	Changed int64 `json:"changed"` // are not as they were
	Busy    int64 `json:"busy"`    // URIs that are being visited, and were left alone
}

func newVisit() *cobra.Command {
	return steeringCommand(&cobra.Command{
		Use:   "visit URI…",
		Short: "Have the running daemon visit URIs as soon as it may",
		Long: `visit makes known URIs due now. It makes nobody impolite: a host that rests goes on resting, and what robots.txt forbids
stays forbidden. arcrawl why tells when the visit comes; arcrawl seeds add makes a URI known.`,
		Example: "  arcrawl visit https://www.news.example/",
	}, "made due", func(cmd *cobra.Command, c *admin.Client, _ []string, uris frontier.Selection) (o outcome, err error) {
		done, err := c.Visit(cmd.Context(), uris)
		return outcome{URIs: done.Matched, Changed: done.Changed, Busy: done.InProgress}, err
	})
}

func newHold() *cobra.Command {
	return steeringCommand(&cobra.Command{
		Use:   "hold HOST|URI…",
		Short: "Keep hosts or URIs from being visited until they are released",
		Long: `hold keeps hosts and URIs from being visited by the running daemon. They keep their due times and all that was learned of them;
visits in progress go on to their end. It outlives a restart, and ends with arcrawl release.

A word with "://" in it is a URI, any other a host; "*.example.org" is that host and all below it. To choose URIs by prefix or
expression see arcrawl frontier hold.`,
		Example: "  arcrawl hold www.news.example\n  arcrawl hold '*.example.org' https://www.news.example/archive/",
	}, "held", func(cmd *cobra.Command, c *admin.Client, hosts []string, uris frontier.Selection) (outcome, error) {
		return holdOrRelease(cmd, c, hosts, uris, frontier.Pause, c.Hold)
	})
}

func newRelease() *cobra.Command {
	return steeringCommand(&cobra.Command{
		Use:   "release HOST|URI…",
		Short: "Let hosts or URIs be visited again that were held",
		Long: `release ends a hold. What was due meanwhile is visited as politeness allows. (What was taken for a trap is let go with
arcrawl traps release.)`,
		Example: "  arcrawl release www.news.example",
	}, "released", func(cmd *cobra.Command, c *admin.Client, hosts []string, uris frontier.Selection) (outcome, error) {
		return holdOrRelease(cmd, c, hosts, uris, frontier.Resume, c.Release)
	})
}

// steerer does something to the hosts and URIs that were named.
type steerer func(cmd *cobra.Command, c *admin.Client, hosts []string, uris frontier.Selection) (outcome, error)

// steeringCommand makes a command of a steerer; done says what became of what it changed.
func steeringCommand(cmd *cobra.Command, done string, do steerer) *cobra.Command {
	var d daemonFlags
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		hosts, uris, err := named(args)
		if err != nil {
			return usageError{err}
		}
		if strings.HasPrefix(cmd.Use, "visit") && len(hosts) > 0 {
			return usageError{fmt.Errorf("%s is no URI; for a whole host see: arcrawl frontier force --host %s", hosts[0], hosts[0])}
		}
		c, err := d.client()
		if err != nil {
			return err
		}
		o, err := do(cmd, c, hosts, uris)
		return printAnswer(&d, cmd.OutOrStdout(), o, err, func(out io.Writer, o outcome) error {
			if missing := int64(len(args)) - o.URIs - o.Hosts; missing > 0 && !strings.Contains(strings.Join(hosts, " "), "*") {
				fmt.Fprintf(out, "%d not known; arcrawl why-not tells why\n", missing)
			}
			if o.Busy > 0 {
				fmt.Fprintf(out, "%d being visited at this moment\n", o.Busy)
			}
			_, err := fmt.Fprintf(out, "%d %s, %d as they were\n", o.Changed, done, o.URIs+o.Hosts-o.Changed-o.Busy)
			return err
		})
	}
	d.add(cmd)
	return cmd
}

func holdOrRelease(cmd *cobra.Command, c *admin.Client, hosts []string, uris frontier.Selection, verb frontier.HostVerb,
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

// named divides words into hosts and URIs.
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
