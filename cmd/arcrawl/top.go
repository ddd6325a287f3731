package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
)

func newTop() *cobra.Command {
	var d daemonFlags
	every, hosts := 2*time.Second, 10
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch the running daemon in a terminal",
		Long: `top shows the status and the most overdue hosts, and updates them until Ctrl-C. If the output is not a terminal, it prints one
page after the other.

Exit code 69: no daemon answers.`,
		Example: "  arcrawl top --config /etc/arcrawl/arcrawl.toml --every 5s",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every < 100*time.Millisecond {
				return usageError{fmt.Errorf("--every %v is too short; the minimum is 100ms", every)}
			}
			c, err := d.client()
			if err != nil {
				return err
			}
			return top(cmd.Context(), cmd.OutOrStdout(), c, every, hosts)
		},
	}
	d.add(cmd)
	cmd.Flags().DurationVar(&every, "every", every, "update at this interval")
	cmd.Flags().IntVar(&hosts, "hosts", hosts, "show N hosts")
	return cmd
}

// Control sequences of terminals: move to the top left, clear to the end of the line, clear to the end of the screen.
const (
	home      = "\x1b[H"
	clearLine = "\x1b[K"
	clearRest = "\x1b[J"
)

// top shows page after page until ctx ends.
func top(ctx context.Context, out io.Writer, c *admin.Client, every time.Duration, hosts int) error {
	terminal := isTerminal(out)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var page bytes.Buffer
		err := topPage(ctx, &page, c, hosts)
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
func topPage(ctx context.Context, out io.Writer, c *admin.Client, hosts int) error {
	s, err := c.Status(ctx)
	if err != nil {
		return err
	}
	late, err := c.Hosts(ctx, admin.HostFilter{Sort: "overdue", Limit: max(1, hosts)})
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
