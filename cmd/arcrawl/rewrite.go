package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
)

func newReduplicate() *cobra.Command {
	var o archive.RewriteOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "reduplicate -o DIR FILE|DIR…",
		Short: "Rewrite WARC files so that they depend on no other files",
		Long: `reduplicate makes new files of WARC files, under the same names in another folder. A revisit whose original is in none of
them becomes a response: its own head, the original's payload, a new record id. Later revisits of the same original then
refer to that response. A metadata record beside it says what it was made of. All else is copied byte for byte. Files that
are not compressed, are afterwards.

Originals are looked for in the files themselves and in the folders that --from names, and each is proved whole and equal
to its digest before it is used. Nothing that exists is changed or overwritten; a file appears when it is whole. What is
damaged is not copied, and gives exit code 65, as do revisits whose original is not there: they are copied as they are.`,
		Example: "  arcrawl reduplicate --from warc/ -o alone/ warc/arcrawl-20261121090000000-00002-c1.warc.gz",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return rewrite(cmd, args, o, asJSON)
		},
	}
	rewriteFlags(cmd, &o, &asJSON)
	cmd.Flags().BoolVar(&o.All, "all", false, "make a response of every revisit, also when its original is among the files")
	return cmd
}

func rewriteFlags(cmd *cobra.Command, o *archive.RewriteOptions, asJSON *bool) {
	cmd.Flags().StringVarP(&o.Out, "output", "o", "", "the folder of the new files; it must be named")
	cmd.Flags().StringArrayVar(&o.From, "from", nil, "a file or folder where originals are looked for; may be repeated")
	cmd.Flags().BoolVar(asJSON, "json", false, "print the summary as JSON, and findings on standard error likewise")
}

func newExtract() *cobra.Command {
	var o archive.RewriteOptions
	var asJSON bool
	var since, until string
	cmd := &cobra.Command{
		Use:   "extract -o DIR FILE|DIR…",
		Short: "Take the records of a host, prefix or period into new WARC files",
		Long: `extract makes new files of the records that are chosen, with the requests and metadata that belong to them, under the same
names in another folder. The new files stand alone: a revisit whose original was not chosen becomes a response, as
reduplicate makes it. With --keep-revisits it stays a revisit, and the files that it depends on are listed.

Nothing that exists is changed or overwritten. Damage gives exit code 65.`,
		Example: `  arcrawl extract -o news/ --host www.news.example --since 2026-11 --until 2026-11 warc/
  arcrawl extract -o live/ --prefix https://www.news.example/live/ --keep-revisits warc/`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := period(since, until, &o.Select); err != nil {
				return err
			}
			if len(o.Select.Hosts)+len(o.Select.Prefixes) == 0 && since == "" && until == "" {
				return usageError{fmt.Errorf("say what to extract: --host, --prefix, --since or --until")}
			}
			return rewrite(cmd, args, o, asJSON)
		},
	}
	rewriteFlags(cmd, &o, &asJSON)
	cmd.Flags().StringArrayVar(&o.Select.Hosts, "host", nil, "a host, with its port if it has one; with a leading dot also all below it; may be repeated")
	cmd.Flags().StringArrayVar(&o.Select.Prefixes, "prefix", nil, "what the URI begins with; may be repeated")
	cmd.Flags().StringVar(&since, "since", "", "captures from this date on: 2026, 2026-11, 2026-11-21, 2026-11-21T09:00:00Z")
	cmd.Flags().StringVar(&until, "until", "", "captures up to the end of this date")
	cmd.Flags().BoolVar(&o.Keep, "keep-revisits", false, "leave revisits as they are, and list the files that they depend on")
	return cmd
}

// period puts --since and --until into a selection.
func period(since, until string, s *archive.Selection) (err error) {
	if since != "" {
		if s.From, _, err = archive.ParsePeriod(since); err != nil {
			return usageError{fmt.Errorf("--since: %w", err)}
		}
	}
	if until != "" {
		if _, s.To, err = archive.ParsePeriod(until); err != nil {
			return usageError{fmt.Errorf("--until: %w", err)}
		}
	}
	return nil
}

func rewrite(cmd *cobra.Command, args []string, o archive.RewriteOptions, asJSON bool) error {
	if o.Out == "" {
		return usageError{fmt.Errorf("name the folder of the new files with -o")}
	}
	o.Progress = new(archive.Progress)
	stop := watch(cmd.ErrOrStderr(), o.Progress)
	var lost lostOriginals
	sum, err := archive.Rewrite(cmd.Context(), args, o, lost.count(printFinding(cmd.ErrOrStderr(), asJSON)))
	stop()
	if err != nil {
		return err
	}
	if asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(sum)
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files of %s with %d records in %s; %d revisits became responses, %d refer to one of those\n",
			sum.Files, size(sum.Bytes), sum.Records, o.Out, sum.Filled, sum.Repointed)
		for _, d := range sum.Needs {
			fmt.Fprintf(cmd.OutOrStdout(), "needs %s for %d revisits\n", d.File, d.Revisits)
		}
	}
	if err == nil && sum.Errors > 0 {
		err = fmt.Errorf("%w: %d errors%s", archive.ErrDamaged, sum.Errors, lost.advice("--from"))
	}
	return err
}
