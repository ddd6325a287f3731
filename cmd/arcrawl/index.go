package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
)

func newIndex() *cobra.Command {
	var output, server, done string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "index FILE|DIR…",
		Short: "Make a CDXJ index of WARC files",
		Long: `index reads WARC files, compressed or not, and prints one line of CDXJ for each response, resource and revisit, sorted as
pywb and its relatives want it. File names are relative to the folder that was named. What is damaged is left out, named
on standard error, and gives exit code 65; the rest is indexed.

With -o the index is written to a file, which appears when it is whole. A second file, with .files after its name, lists
what the index covers. An index with the name index.cdxj in the folder of the WARC files makes history, cat and diff fast;
files that have come or changed since are read besides.

With --push the lines are sent to a collection of an OutbackCDX server instead, in requests of at most 1,000. What is sent twice
changes nothing there. With --done the files whose lines the server has are listed in a file: those that have not changed are
passed over the next time, so that a push that was interrupted goes on, and one that is repeated each night sends what is new.`,
		Example: `  arcrawl index -o warc/index.cdxj warc/
  arcrawl index foreign.warc.gz | grep text/html
  arcrawl index --push http://localhost:8901/arcrawl --done pushed.list warc/`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case server != "" && output != "":
				return usageError{errors.New("--push sends the index and -o writes it: name one of them")}
			case server == "" && done != "":
				return usageError{errors.New("--done lists what --push has sent: name the server with --push")}
			case server != "":
				p, err := newPush(cmd, server, done, asJSON)
				if err != nil {
					return err
				}
				return p.run(args)
			}
			return makeIndex(cmd, args, output, asJSON)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write; standard output if none is named")
	cmd.Flags().StringVar(&server, "push", "", "the address of a collection of an OutbackCDX server to send the lines to")
	cmd.Flags().StringVar(&done, "done", "", "with --push: the list of the files that the server has; it is made if it is not there")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print findings and the summary on standard error as JSON")
	return cmd
}

func makeIndex(cmd *cobra.Command, args []string, output string, asJSON bool) error {
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
}
