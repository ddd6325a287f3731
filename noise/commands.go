package noise

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/archive/captures"
	aspect "github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/noise/infer"
	"github.com/arcrawl/arcrawl/uri"
)

// Commands returns what the wing adds to the command line.
func Commands() []*cobra.Command {
	return cli.In(cli.Curator, cli.Group("scrub", "Find and test rules for noise that is not a change",
		newScrubTest(), newScrubSuggest()))
}

func newScrubTest() *cobra.Command {
	var at archive.Flags
	var limit int
	cmd := &cobra.Command{
		Use:   "test URI",
		Short: "Show differences that the scrubbing rules of a host leave",
		Long: `test applies the scrubbing rules of the URI's host to its versions in the archive. It shows side by side what still differs
from each version to the next. It applies the rules whatever change.mode says, so they can be tried before they are used.

` + archive.HowFound,
		Example: "  arcrawl scrub test --config arcrawl.toml https://www.news.example/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, u, err := archive.ConfigAndURI(cmd.ErrOrStderr(), at.Config, args[0])
			if err != nil {
				return err
			}
			rules, err := archive.ScrubRules(c, u, time.Now())
			if err != nil {
				return err
			}
			return storedVersions(cmd, &at, u, limit, func(versions []aspect.Version) error {
				pairs, same, err := compareVersions(rules, versions)
				if err != nil {
					return fmt.Errorf("%s: %w", u, err)
				}
				return writePairs(cmd.OutOrStdout(), pairs, same)
			})
		},
	}
	at.Add(cmd)
	cmd.Flags().IntVar(&limit, "versions", 20, "compare the newest `N` versions")
	return cmd
}

// storedVersions calls use with the newest versions of a page in the archive, oldest first. It prints the damaged
// versions that it skips, and returns an error if there are any.
func storedVersions(
	cmd *cobra.Command, at *archive.Flags, u uri.URI, limit int, use func([]aspect.Version) error,
) error {
	return at.LookIn(cmd, false, func(l *captures.Library, d *archive.Damages) error {
		found, err := l.History(u.String())
		if err == nil && len(found) == 0 {
			err = l.NotFound(u.String())
		}
		if err != nil {
			return err
		}
		newest := found[max(0, len(found)-limit):]
		return use(readAll(cmd.Context(), l, newest, func(c captures.Capture, err error) {
			d.Found++
			fmt.Fprintf(cmd.ErrOrStderr(), "skipped the version of %s: %v\n", c.Date.Format(time.DateTime), err)
		}))
	})
}

// listCandidates lists the URIs that differ at every fetch, with rules for the first of them if they are asked for.
func (s *suggestion) listCandidates(cmd *cobra.Command) error {
	store, err := cli.OpenStore(cmd.Context(), s.at.Config, time.Now)
	if err != nil {
		return err
	}
	first, err := printCandidates(cmd, store, s.pages)
	if err = errors.Join(err, store.Close()); err != nil || !s.rules {
		return err
	}
	for _, u := range first {
		if err := s.suggest(cmd, u); err != nil {
			return err
		}
	}
	return nil
}

// suggest prints the rules that would silence a page, and how to accept them.
func (s *suggestion) suggest(cmd *cobra.Command, u uri.URI) error {
	out := cmd.OutOrStdout()
	fmt.Fprintln(out)
	fetch := ""
	err := storedVersions(cmd, &s.at, u, suggestedVersions, func(versions []aspect.Version) error {
		p, err := writeSuggestion(cmd.Context(), out, u, versions)
		if err != nil || len(p.Regexes)+len(p.Selectors) == 0 {
			fetch = "--fetch "
		}
		return err
	})
	if errors.Is(err, infer.ErrTooFew) || errors.Is(err, infer.ErrApart) {
		fmt.Fprintf(out, "# %v\n", err)
		err = nil
	}
	fmt.Fprintf(out, "# To add rules to the file of the host: arcrawl scrub suggest %s--write %s\n", fetch, u)
	return err
}

// suggestedVersions is the number of versions from which rules are found by default.
const suggestedVersions = 20

// printCandidates prints the URIs that seem to differ at every fetch, and returns the first of them.
func printCandidates(cmd *cobra.Command, store cli.Store, limit int) (first []uri.URI, err error) {
	table := cli.NewTable(cmd.OutOrStdout())
	err = cli.EachSelected(cmd.Context(), store, frontier.Selection{}, func(e frontier.Entry) error {
		why, _ := aspect.Why(e.Record)
		if why == "" {
			return nil
		}
		if len(first) < limit {
			first = append(first, e.URI)
		}
		_, err := fmt.Fprintf(table, "%s\t%s\t%s in %s\n", e.URI, why, human.Count(e.Versions, "version"),
			human.Count(e.Visits, "visit"))
		return err
	})
	return first, errors.Join(err, table.Flush())
}
