package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
)

const howNamed = `The date is a beginning of 2026-11-21T09:00:00Z or of 20261121090000. The last capture in that time is taken, or else the
last one before it, which is said on standard error. Without a date it is the latest capture.`

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
			l, err := at.open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return errors.Join(cat(cmd, l, args[0], !raw, head), l.Close())
		},
	}
	at.flags(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "leave the content coding as it is: the bytes that the payload digest is of")
	cmd.Flags().BoolVar(&head, "head", false, "print the HTTP head before the payload")
	return cmd
}

func cat(cmd *cobra.Command, l *archive.Library, arg string, decode, head bool) error {
	c, err := choose(l, arg, cmd.ErrOrStderr())
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
func choose(l *archive.Library, arg string, errs io.Writer) (archive.Capture, error) {
	v := archive.ParseVersion(arg)
	v.URI = name(v.URI)
	captures, err := l.History(v.URI)
	if err != nil {
		return archive.Capture{}, err
	}
	if len(captures) == 0 {
		return archive.Capture{}, notFound(l, v.URI)
	}
	c, exact, err := v.Choose(captures)
	if err == nil && !exact && !v.From.IsZero() {
		fmt.Fprintf(errs, "no capture of %s then; this is the one before, of %s\n", v.URI, c.Date.Format(time.RFC3339Nano))
	}
	return c, err
}

func newDiff() *cobra.Command {
	var at where
	var scrub []string
	cmd := &cobra.Command{
		Use:   "diff URI@DATE URI@DATE",
		Short: "Show how two versions of a text differ",
		Long: `diff compares the payloads of two captures as text, line by line, and prints what changed in the unified format. Content
codings are undone, other character sets than UTF-8 are converted. Nothing is printed when the texts are equal.

` + howNamed + `

` + howFound,
		Example: `  arcrawl diff --warcs warc/ https://www.example.org/@2026-11-20 https://www.example.org/@2026-11-21
  arcrawl diff --scrub '<span class="clock">.*?</span>' URI@2026-11-20 URI@2026-11-21`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var rules []*regexp.Regexp
			for _, s := range scrub {
				rule, err := regexp.Compile(s)
				if err != nil {
					return usageError{fmt.Errorf("--scrub: %w", err)}
				}
				rules = append(rules, rule)
			}
			l, err := at.open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return errors.Join(diff(cmd, l, args, rules), l.Close())
		},
	}
	at.flags(cmd)
	cmd.Flags().StringArrayVar(&scrub, "scrub", nil, "a regular expression whose matches are taken out of both texts first; may be repeated")
	return cmd
}

func diff(cmd *cobra.Command, l *archive.Library, args []string, scrub []*regexp.Regexp) error {
	var labels, texts [2]string
	for i, arg := range args {
		c, err := choose(l, arg, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		labels[i] = c.URL + "@" + c.Date.Format(dateLayout)
		if texts[i], err = scrubbed(cmd.Context(), l, c, scrub); err != nil {
			return err
		}
	}
	_, err := io.WriteString(cmd.OutOrStdout(), udiff.Unified(labels[0], labels[1], texts[0], texts[1]))
	return err
}

func scrubbed(ctx context.Context, l *archive.Library, c archive.Capture, scrub []*regexp.Regexp) (string, error) {
	text, err := l.Text(ctx, c)
	for _, rule := range scrub {
		text = rule.ReplaceAllString(text, "")
	}
	return text, err
}
