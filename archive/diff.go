package archive

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

// comparing holds the flags of the diff command.
type comparing struct {
	at        Flags
	scrub     []*regexp.Regexp
	hostRules bool
}

func newDiff() *cobra.Command {
	var d comparing
	var scrub []string
	cmd := &cobra.Command{
		Use:   "diff URI@DATE [URI]@DATE",
		Short: "Compare two archived versions of a text",
		Long: `diff compares the payloads of two captures line by line and prints the differences in the unified format. It removes content
codings and converts character sets to UTF-8. Equal texts print nothing. If the second argument is only @DATE, the URI is the same.

With --host-rules both texts are scrubbed first by the rules of the URI's host, even if scrubbing is off in the configuration. The output
is what would still count as a change.

` + howNamed + `

` + HowFound,
		Example: `  arcrawl diff --warcs warc/ https://www.example.org/@2026-11-20 @2026-11-21
  arcrawl diff -c arcrawl.toml --host-rules https://www.example.org/@2026-11-21T09 @2026-11-21T10
  arcrawl diff --scrub '<span class="clock">.*?</span>' https://www.example.org/@2026-11-20 @2026-11-21`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, s := range scrub {
				rule, err := regexp.Compile(s)
				if err != nil {
					return cli.Usage(fmt.Errorf("--scrub: %w", err))
				}
				d.scrub = append(d.scrub, rule)
			}
			versions := [2]index.Version{versionOf(args[0])}
			if strings.HasPrefix(args[1], "@") {
				args[1] = versions[0].URI + args[1]
			}
			versions[1] = versionOf(args[1])
			return d.at.LookIn(cmd, false, func(l *index.Library, _ *Damages) error { return d.run(cmd, l, versions) })
		},
	}
	d.at.Add(cmd)
	cmd.Flags().StringArrayVar(&scrub, "scrub", nil, "remove matches of this regular expression from both texts first; repeatable")
	cmd.Flags().BoolVar(&d.hostRules, "host-rules", false, "scrub both texts first by the rules of the URI's host")
	return cmd
}

func (d comparing) run(cmd *cobra.Command, l *index.Library, versions [2]index.Version) error {
	var labels, texts [2]string
	var captures [2]index.Capture
	for i, v := range versions {
		c, err := choose(l, v, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		captures[i], labels[i] = c, c.URL+"@"+c.Date.Format(index.ShownDate)
	}
	if a, b := captures[0], captures[1]; a.Filename == b.Filename && a.Offset == b.Offset {
		_, err := fmt.Fprintf(cmd.ErrOrStderr(), "both arguments name the same capture, %s; arcrawl history lists the dates of others\n", labels[0])
		return err
	}
	for i, c := range captures {
		var err error
		if texts[i], err = d.text(cmd, l, c); err != nil {
			return fmt.Errorf("%s: %w", labels[i], err)
		}
	}
	_, err := io.WriteString(cmd.OutOrStdout(), udiff.Unified(labels[0], labels[1], texts[0], texts[1]))
	return err
}

// text returns the text of a capture, scrubbed as the flags say.
func (d comparing) text(cmd *cobra.Command, l *index.Library, c index.Capture) (string, error) {
	var scrub func(content []byte, mime string) []byte
	if d.hostRules {
		conf, u, err := cli.ConfigAndURI(cmd.ErrOrStderr(), d.at.Config, c.URL)
		if err != nil {
			return "", err
		}
		rules, err := whatif.ScrubRules(conf, u, time.Now())
		if err != nil {
			return "", err
		}
		scrub = rules.Scrub
	}
	text, err := l.Text(cmd.Context(), c, scrub)
	for _, rule := range d.scrub {
		text = rule.ReplaceAllString(text, "")
	}
	return text, err
}
