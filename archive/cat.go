package archive

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/index"
)

const howNamed = `DATE is in UTC: 2026-11-21T09:00:00Z or 20261121090000, or the start of one, such as 2026 or 2026-11. The command uses the last
capture in that period, or else the last one before it, with a note on standard error. Without DATE it uses the latest capture.`

func newCat() *cobra.Command {
	var at Flags
	var raw, head bool
	cmd := &cobra.Command{
		Use:   "cat URI[@DATE]",
		Short: "Print an archived version of a URI",
		Long: `cat prints the payload of a capture, with its content coding (gzip, br …) removed. It follows a revisit to its original. It
checks that the record is whole and matches its digest before it prints anything.

` + howNamed + `

` + HowFound,
		Example: `  arcrawl cat --warcs warc/ https://www.example.org/
  arcrawl cat --warcs warc/ https://www.example.org/@2026-11 > november.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return at.LookIn(cmd, false, func(l *index.Library, _ *Damages) error { return cat(cmd, l, args[0], !raw, head) })
		},
	}
	at.Add(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "keep the content coding: print the bytes that the payload digest covers")
	cmd.Flags().BoolVar(&head, "head", false, "print the HTTP status line and headers before the payload")
	return cmd
}

func cat(cmd *cobra.Command, l *index.Library, arg string, decode, head bool) error {
	c, err := choose(l, versionOf(arg), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	p, err := l.Payload(cmd.Context(), c, decode)
	if err != nil {
		return err
	}
	if head {
		_, err = cmd.OutOrStdout().Write(p.Head.Raw)
	}
	if err == nil {
		_, err = io.Copy(cmd.OutOrStdout(), p)
	}
	return errors.Join(err, p.Close())
}

// choose returns the capture that URI@DATE names.
func choose(l *index.Library, v index.Version, errs io.Writer) (index.Capture, error) {
	captures, err := l.History(v.URI)
	if err != nil {
		return index.Capture{}, err
	}
	if len(captures) == 0 {
		return index.Capture{}, l.NotFound(v.URI)
	}
	c, exact, err := v.Choose(captures)
	if err == nil && c.Damage != nil {
		err = fmt.Errorf("cannot read the capture of %s from %s; choose another one by its date: %w", v.URI, c.Date.Format(time.RFC3339), c.Damage)
	}
	if err == nil && !exact && !v.From.IsZero() {
		fmt.Fprintf(errs, "no capture of %s in that period; using the one before, from %s\n", v.URI, c.Date.Format(time.RFC3339Nano))
	}
	return c, err
}

// versionOf parses URI@DATE.
func versionOf(arg string) index.Version {
	v := index.ParseVersion(arg)
	v.URI = name(v.URI)
	return v
}
