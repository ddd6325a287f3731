package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"

	"github.com/spf13/cobra"
)

// top shows the status and the most overdue hosts repeatedly.
type top struct {
	every time.Duration
	hosts int
}

func (t *top) add(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&t.every, "every", 2*time.Second, "update at this interval")
	cmd.Flags().IntVar(&t.hosts, "hosts", 10, "show N hosts")
}

// check validates the flags.
func (t *top) check() error {
	if t.every < 100*time.Millisecond {
		return usageError{fmt.Errorf("--every %v is too short; the minimum is 100ms", t.every)}
	}
	return nil
}

// newTop returns a short name for arcrawl status --watch.
func newTop() *cobra.Command {
	var d daemonFlags
	var t top
	cmd := &cobra.Command{
		Use:    "top",
		Hidden: true,
		Short:  "Watch the running daemon in a terminal",
		Long: `top shows the status and the most overdue hosts, and updates them until Ctrl-C. If the output is not a terminal, it prints one
page after the other.

Exit code 69: no daemon answers.`,
		Example: "  arcrawl top --config /etc/arcrawl/arcrawl.toml --every 5s",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := d.client()
			if err != nil {
				return err
			}
			if err := t.check(); err != nil {
				return err
			}
			return t.run(cmd.Context(), cmd.OutOrStdout(), c)
		},
	}
	d.add(cmd)
	t.add(cmd)
	return cmd
}

// Control sequences of terminals: move to the top left, clear to the end of the line, clear to the end of the screen.
const (
	home      = "\x1b[H"
	clearLine = "\x1b[K"
	clearRest = "\x1b[J"
)

// run shows page after page until ctx ends.
func (t *top) run(ctx context.Context, out io.Writer, c *api.Client) error {
	terminal := isTerminal(out)
	tick := time.NewTicker(t.every)
	defer tick.Stop()
	for {
		var page bytes.Buffer
		err := topPage(ctx, &page, c, t.hosts)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		text := page.Bytes()
		if terminal {
			text = append([]byte(home), bytes.ReplaceAll(text, []byte("\n"), []byte(clearLine+"\n"))...)
			text = append(text, clearRest...)
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// topPage writes one page.
func topPage(ctx context.Context, out io.Writer, c *api.Client, hosts int) error {
	s, err := c.Status(ctx)
	if err != nil {
		return err
	}
	late, err := c.Hosts(ctx, api.HostFilter{Sort: "overdue", Limit: max(1, hosts)})
	if err != nil {
		return err
	}
	err = showStatus(out, s)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nhost\tstate\tURIs\toverdue\tfailures")
	for _, h := range late.Hosts {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%d\n", h.Host, h.State, h.URIs, span(h.Overdue), h.Failures)
	}
	return errors.Join(err, t.Flush())
}
