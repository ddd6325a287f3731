package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
)

const howNamed = `The date, in UTC, is a beginning of 2026-11-21T09:00:00Z or of 20261121090000, from the year on. The last capture in that time
is taken, or else the last one before it, which is said on standard error. Without a date it is the latest capture.`

func newCat() *cobra.Command {
	var at where
	var raw, head bool
	cmd := &cobra.Command{
		Use:   "cat URI[@DATE]",
		Short: "Print what the archive has of a URI",
		Long: `cat prints the payload of a capture, with its content coding (gzip, br …) undone. A revisit is followed to its original.
The record that holds the payload is proved whole and equal to its digest before anything is printed.

` + howNamed + `

` + howFound,
		Example: `  arcrawl cat --warcs warc/ https://www.example.org/
  arcrawl cat --warcs warc/ https://www.example.org/@2026-11 > november.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return at.lookIn(cmd, false, func(l *archive.Library, _ *damages) error { return cat(cmd, l, args[0], !raw, head) })
		},
	}
	at.flags(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "leave the content coding as it is: the bytes that the payload digest is of")
	cmd.Flags().BoolVar(&head, "head", false, "print the HTTP head before the payload")
	return cmd
}

func cat(cmd *cobra.Command, l *archive.Library, arg string, decode, head bool) error {
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

// choose finds the capture that URI@date names.
func choose(l *archive.Library, v archive.Version, errs io.Writer) (archive.Capture, error) {
	captures, err := l.History(v.URI)
	if err != nil {
		return archive.Capture{}, err
	}
	if len(captures) == 0 {
		return archive.Capture{}, notFound(l, v.URI)
	}
	c, exact, err := v.Choose(captures)
	if err == nil && c.Damage != nil {
		err = fmt.Errorf("the capture of %s of %s cannot be read; another one can be named by its date: %w", v.URI, c.Date.Format(time.RFC3339), c.Damage)
	}
	if err == nil && !exact && !v.From.IsZero() {
		fmt.Fprintf(errs, "no capture of %s then; this is the one before, of %s\n", v.URI, c.Date.Format(time.RFC3339Nano))
	}
	return c, err
}

// versionOf reads URI@date.
func versionOf(arg string) archive.Version {
	v := archive.ParseVersion(arg)
	v.URI = name(v.URI)
	return v
}
