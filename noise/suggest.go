package noise

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
	aspect "github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/noise/infer"
	"github.com/arcrawl/arcrawl/uri"
)

// suggestion holds the flags of arcrawl scrub suggest.
type suggestion struct {
	at          archive.Flags
	limit       int
	twice       bool
	pause       time.Duration
	write, sure bool
	rules       bool
	pages       int // for which rules are found
}

func newScrubSuggest() *cobra.Command {
	var s suggestion
	cmd := &cobra.Command{
		Use:   "suggest [URI]",
		Short: "Find rules for the noise of a page and add them to the file of its host, or list such pages",
		Long: `suggest compares the versions of a URI in the archive and finds noise: clocks, counters, tokens, ad slots, lists in another
order. It prints the narrowest rules that remove it, as TOML for the file of the host, each with what it removes from the
newest version.

News differs from day to day too. So only what differs between two fetches within two minutes is called noise, and besides
it clocks, dates of the visit and tokens that differ at each of at least three visits. With --fetch, suggest fetches the URI
twice within seconds and compares these versions too. No rule is printed that removes main content, or an edit in these
versions. The parts that differ at every visit and have no rule are listed.

With --write, suggest shows the change of the file of the host, asks, and writes it. The file stays unchanged if its
configuration would not be valid. A running daemon applies the rules automatically.

Without a URI it lists URIs whose content seems to differ at every fetch: restless and noisy pages, as second fetches
of the crawl found them, URIs that changed at each of their last five to eight visits, and URIs that alternate between
a few versions. With --rules it also finds rules for the first of them, from the versions in the archive, and prints
the command that adds them to the file of the host. It asks the running daemon. Without one it reads the store.

` + archive.HowFound,
		Example: `  arcrawl scrub suggest --rules --limit 5
  arcrawl scrub suggest --config arcrawl.toml --fetch https://www.news.example/
  arcrawl scrub suggest --config arcrawl.toml --fetch --write https://www.news.example/`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				return s.run(cmd, args[0])
			case s.twice || s.write:
				return cli.Usage(errors.New("--fetch and --write need a URI"))
			}
			return s.listCandidates(cmd)
		},
	}
	s.at.Add(cmd)
	cmd.Flags().IntVar(&s.limit, "versions", suggestedVersions, "compare the newest `N` versions")
	cmd.Flags().BoolVar(&s.twice, "fetch", false, "also fetch the URI twice, within seconds")
	cmd.Flags().DurationVar(&s.pause, "pause", 3*time.Second, "with --fetch: wait this long before each fetch")
	cmd.Flags().BoolVar(&s.write, "write", false, "add the rules to the file of the host, after a question")
	cmd.Flags().BoolVar(&s.rules, "rules", false, "without a URI: also find rules for the first URIs")
	cmd.Flags().IntVar(&s.pages, "limit", 10, "with --rules: find rules for at most `N` URIs")
	cmd.Flags().BoolVarP(&s.sure, "yes", "y", false, "with --write: do not ask")
	return cmd
}

func (s *suggestion) run(cmd *cobra.Command, address string) error {
	c, u, err := archive.ConfigAndURI(cmd.ErrOrStderr(), s.at.Config, address)
	if err != nil {
		return err
	}
	if s.twice && s.pause > aspect.Moment {
		return cli.Usage(fmt.Errorf("--pause %s is longer than %s: what differs after that may be news", s.pause, aspect.Moment))
	}
	var versions []aspect.Version
	err = storedVersions(cmd, &s.at, u, s.limit, func(all []aspect.Version) error {
		versions = all
		return nil
	})
	if s.twice {
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "comparing only two fetches: %v\n", err)
		}
		fetched, failed := fetchTwice(cmd.Context(), c, u, s.pause)
		versions, err = append(versions, fetched...), failed
	}
	if err != nil {
		return err
	}
	p, err := writeSuggestion(cmd.Context(), cmd.OutOrStdout(), u, versions)
	switch {
	case errors.Is(err, infer.ErrApart):
		return fmt.Errorf("%w; run it again with --fetch, or after more visits", err)
	case err != nil || !s.write || len(p.Regexes)+len(p.Selectors) == 0:
		return err
	}
	return s.add(cmd, c, u.Host(), digest.Spec{Regexes: p.Regexes, Selectors: p.Selectors})
}

// add adds rules to the file of a host, after a question. It restores the file if the configuration would not be valid.
func (s *suggestion) add(cmd *cobra.Command, c *config.Config, h uri.Host, rules digest.Spec) error {
	f, err := stageRules(c, h, rules, time.Now())
	if err != nil {
		return daemon.FolderError{Err: err}
	}
	out := cmd.OutOrStdout()
	if string(f.after) == string(f.before) {
		fmt.Fprintf(out, "\n%s has these rules already.\n", f.path)
		return nil
	}
	fmt.Fprintf(out, "\n%s", f.diff())
	if !s.sure && !cli.Confirmed(cmd.InOrStdin(), out) {
		return nil
	}
	if err := f.write(); err != nil {
		return daemon.FolderError{Err: err}
	}
	var faults config.Faults
	ours := func(fault config.Fault) bool { return filepath.Base(fault.File) == filepath.Base(f.path) }
	if _, err := config.LoadToRead(s.at.Config); errors.As(err, &faults) && slices.ContainsFunc(faults, ours) {
		return errors.Join(fmt.Errorf("the rules are not valid in %s, which is as before: %w", f.path, err), f.restore())
	}
	_, err = fmt.Fprintf(out, "wrote %s\n", f.path)
	return err
}
