package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/daemon/bulk"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/sim"
	"github.com/arcrawl/arcrawl/sim/prime"
)

func newPrime() *cobra.Command {
	var f frontierFlags
	var add, dry bool
	cmd := &cobra.Command{
		Use:   "prime FILE…",
		Short: "Learn wait intervals from earlier visits",
		Long: `prime reads crawl logs of arcrawl or Heritrix, indexes in CDX (with or without a header) or CDXJ, gzipped or not, and WARC files
and folders of them. It plays the visits in them, in the order of time, through the wait evaluators of the configuration.
It stores what they learn with the URIs that the frontier knows: the wait interval, the rate of change, and the memory of the
rule "learned". The due time changes only if the URI was never visited, or if its learned interval ends earlier.
With --add, unknown URIs are added, to a new store if there is none; they are due when their interval ends. If a daemon
runs, the command stores through it, and the crawl continues.

A URI stays unchanged if the frontier knows a later visit than the files do.`,
		Example: `  arcrawl prime --config arcrawl.toml old/*.cdxj
  arcrawl prime --dry-run crawl.log crawl.log.1.gz
  arcrawl prime --add /srv/old/warcs/`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := readConfig(cmd.ErrOrStderr(), f.config)
			if err != nil {
				return err
			}
			var seen sim.Sightings
			read, err := readVisits(cmd, &seen, args)
			if err != nil {
				return err
			}
			var r prime.Result
			open := bulk.Open
			if add && !dry {
				open = bulk.Make
			}
			err = f.opened(cmd, open, func(s bulk.Store) (err error) {
				r, err = prime.Run(cmd.Context(), s, seen.All(), prime.Options{Config: c, Now: time.Now(), Add: add, DryRun: dry})
				return err
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s of %s read, %s skipped\n",
				human.Count(read.visits, "visit"), human.Count(r.URIs, "URI"), human.Count(read.skipped, "line"))
			if err != nil {
				return err
			}
			return printPrimed(cmd.OutOrStdout(), r, dry)
		},
	}
	configFlag(cmd, &f.config)
	cmd.Flags().BoolVar(&add, "add", false, "add URIs that the frontier does not know")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be done, store nothing")
	return cmd
}

// visitsRead counts what was read of earlier visits.
type visitsRead struct{ visits, skipped int }

// readVisits adds the visits in crawl logs, indexes, WARC files, and folders of WARC files. It prints what is damaged
// in WARC files, and reads the rest.
func readVisits(cmd *cobra.Command, seen *sim.Sightings, names []string) (read visitsRead, err error) {
	var archives, texts []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err == nil && info.IsDir() || warc.IsArchive(name) {
			archives = append(archives, name)
		} else {
			texts = append(texts, name)
		}
	}
	if len(texts) > 0 {
		read.visits, read.skipped, err = seen.ReadFiles(texts, nil)
	}
	if err == nil && len(archives) > 0 {
		var captures int
		captures, err = seen.ReadArchives(cmd.Context(), archives, nil, printFinding(cmd.ErrOrStderr(), false))
		read.visits += captures
	}
	return read, err
}

// printPrimed prints what happened to the URIs, or what would happen.
func printPrimed(out io.Writer, r prime.Result, dry bool) error {
	would := ""
	if dry {
		would = " would be"
	}
	s := fmt.Sprintf("%s%s primed, %d unchanged because of a later visit, %d unknown", human.Count(r.Primed, "URI"), would, r.Later, r.Unknown)
	if r.Added+r.Refused > 0 {
		s += fmt.Sprintf(", %d%s added, %d refused because their host is full", r.Added, would, r.Refused)
	}
	if r.Busy > 0 {
		s += fmt.Sprintf(", %d being visited: repeat the command for them", r.Busy)
	}
	_, err := fmt.Fprintln(out, s)
	return err
}
