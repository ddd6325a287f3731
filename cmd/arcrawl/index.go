package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
)

func newIndex() *cobra.Command {
	var output string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "index FILE|DIR…",
		Short: "Make a CDXJ index of WARC files",
		Long: `index reads WARC files, compressed or not, and prints one line of CDXJ for each response, resource and revisit, sorted as
pywb and its relatives want it. File names are relative to the folder that was named. What is damaged is left out, named
on standard error, and gives exit code 65; the rest is indexed.

With -o the index is written to a file, which appears when it is whole. A second file, with .files after its name, lists
what the index covers. An index with the name index.cdxj in the folder of the WARC files makes history, cat and diff fast;
files that have come or changed since are read besides.`,
		Example: `  arcrawl index -o warc/index.cdxj warc/
  arcrawl index foreign.warc.gz | grep text/html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			progress := new(archive.Progress)
			stop := watch(cmd.ErrOrStderr(), progress)
			o := archive.IndexOptions{Progress: progress}
			see := printFinding(cmd.ErrOrStderr(), asJSON)
			var sum archive.Indexed
			var err error
			if output == "" || output == "-" {
				sum, err = archive.Index(cmd.Context(), args, o, cmd.OutOrStdout(), see)
			} else {
				sum, err = archive.WriteIndex(cmd.Context(), args, o, output, see)
			}
			stop()
			if err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(cmd.ErrOrStderr()).Encode(sum)
			} else {
				_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%d captures in %d files, %d errors\n", sum.Entries, sum.Files, sum.Errors)
			}
			if err == nil && sum.Errors > 0 {
				err = fmt.Errorf("%w: %d errors", archive.ErrDamaged, sum.Errors)
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write; standard output if none is named")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print findings and the summary on standard error as JSON")
	return cmd
}
