package cli

import (
	"cmp"
	"fmt"
	"io"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
)

// PrintReloaded prints the plan of a configuration. The error lists its faults.
func PrintReloaded(d *Daemon, out io.Writer, r api.Reloaded, err error) error {
	if err := Print(d, out, r, err, showReloaded); err != nil {
		return err
	}
	if len(r.Faults) == 0 {
		return nil
	}
	return config.Faults(r.Faults)
}

func showReloaded(out io.Writer, r api.Reloaded) error {
	p := r.Plan
	for _, c := range p.Changes {
		fmt.Fprintf(out, "%s%s: %s → %s  [%s]\n", hostPrefix(string(c.Host)), c.Key, cmp.Or(c.Before, "nothing"),
			cmp.Or(c.After, "nothing"), c.Origin)
	}
	if p.More > 0 {
		fmt.Fprintf(out, "%d more keys change\n", p.More)
	}
	for _, c := range p.AtRestart {
		fmt.Fprintf(out, "at the next start: %s: %s → %s\n", c.Key, cmp.Or(c.Before, "nothing"), cmp.Or(c.After, "nothing"))
	}
	printEach(out, "seed added", p.SeedsAdded)
	printEach(out, "seed removed", p.SeedsRemoved)
	printEach(out, "host held", p.Held)
	printEach(out, "host released", p.Released)
	for _, l := range p.Load {
		fmt.Fprintln(out, l.Text)
	}
	if n := p.Names; n != nil { // which known URIs get the same name, and which no longer share one
		fmt.Fprintln(out, n.Text)
		for _, m := range n.Merges {
			fmt.Fprintf(out, "  same name: %s and %s, as %s\n", m.A, m.B, m.Name)
		}
		for _, s := range n.Splits {
			fmt.Fprintf(out, "  no longer the same: %s and %s, which were %s\n", s.A, s.B, s.Name)
		}
	}
	for _, f := range p.Warnings {
		fmt.Fprintf(out, "warning: %s\n", f)
	}
	verdict := "the new configuration is in force"
	switch {
	case len(r.Faults) > 0:
		verdict = human.Count(len(r.Faults), "fault") + ": the last good configuration stays in force"
	case r.DryRun:
		verdict = "nothing was changed"
	case len(p.Changes)+len(p.AtRestart)+len(p.SeedsAdded)+len(p.SeedsRemoved) == 0:
		verdict = "the configuration is the same as before"
	}
	_, err := fmt.Fprintf(out, "%s; %s become due now\n", verdict, human.Count(p.DueNow, "URI"))
	return err
}

func printEach[T ~string](out io.Writer, what string, list []T) {
	for _, x := range list {
		fmt.Fprintf(out, "%s: %s\n", what, x)
	}
}

func hostPrefix(host string) string {
	if host == "" {
		return ""
	}
	return host + ": "
}
