package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
)

// packing is what the wacz command was told.
type packing struct {
	archive.PackageOptions
	choice archive.RewriteOptions
	since  string
	until  string
	alone  bool
}

func newWacz() *cobra.Command {
	var p packing
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "wacz -o FILE.wacz FILE|DIR…",
		Short: "Pack WARC files for replay tools",
		Long: `wacz makes a package by version 1.1.1 of the WACZ specification, which ReplayWeb.page and its relatives open: the WARC files,
an index, a list of pages, and a manifest with the hash and size of each. A host, a prefix or a period can be chosen, as
extract does it.

Revisits stay revisits, and the files with their originals, looked for in the folders that --from names, are named with
hash and size in relation.requires. With --self-contained they become responses instead, as reduplicate makes them.

Nothing is overwritten; the package appears when it is whole. Damage gives exit code 65.`,
		Example: `  arcrawl wacz -o november.wacz --since 2026-11 --until 2026-11 --self-contained warc/
  arcrawl wacz -o last.wacz --from warc/ warc/arcrawl-20261121090000000-00002-c1.warc.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.HasSuffix(p.Out, ".wacz") {
				return usageError{errors.New("name the package with -o; its name ends in .wacz")}
			}
			return p.run(cmd, args, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&p.Out, "output", "o", "", "the package; it must be named, with .wacz at the end")
	f.StringVar(&p.Title, "title", "", "title of the package")
	f.StringVar(&p.Description, "description", "", "description of the package")
	f.StringArrayVar(&p.From, "from", nil, "a file or folder where originals are looked for; may be repeated")
	f.StringArrayVar(&p.choice.Select.Hosts, "host", nil, "a host, with its port if it has one; with a leading dot also all below it; may be repeated")
	f.StringArrayVar(&p.choice.Select.Prefixes, "prefix", nil, "what the URI begins with; may be repeated")
	f.StringVar(&p.since, "since", "", "captures from this date on: 2026, 2026-11, 2026-11-21, 2026-11-21T09:00:00Z")
	f.StringVar(&p.until, "until", "", "captures up to the end of this date")
	f.BoolVar(&p.alone, "self-contained", false, "make responses of revisits whose originals would be outside")
	f.BoolVar(&asJSON, "json", false, "print the summary as JSON, and findings on standard error likewise")
	return cmd
}

// run packs the files as they are, or new ones that are made of a choice of them.
func (p *packing) run(cmd *cobra.Command, args []string, asJSON bool) error {
	if err := period(p.since, p.until, &p.choice.Select); err != nil {
		return err
	}
	p.Now, p.Software, p.Progress = time.Now(), "arcrawl/"+programVersion(), new(archive.Progress)
	var lost lostOriginals
	see := lost.count(printFinding(cmd.ErrOrStderr(), asJSON))
	stop := watch(cmd.ErrOrStderr(), p.Progress)
	defer stop()
	errs := 0
	s := p.choice.Select
	if p.alone || len(s.Hosts)+len(s.Prefixes) > 0 || p.since != "" || p.until != "" {
		folder, err := os.MkdirTemp(filepath.Dir(p.Out), ".wacz-*")
		if err != nil {
			return folderError{fmt.Errorf("make a folder beside the package: %w", err)}
		}
		defer os.RemoveAll(folder) //nolint:errcheck // it is hidden, and its name tells what it was for
		p.choice.Out, p.choice.From, p.choice.Keep, p.choice.Progress = folder, p.From, !p.alone, p.Progress
		made, err := archive.Rewrite(cmd.Context(), args, p.choice, see)
		if err != nil {
			return err
		}
		if made.Files == 0 {
			return fmt.Errorf("%w: nothing was chosen", archive.ErrNotFound)
		}
		if !p.alone {
			p.From = append(p.From, args...)
		}
		args, errs, p.Rewritten = []string{folder}, made.Errors, true
	}
	sum, err := archive.Package(cmd.Context(), args, p.PackageOptions, see)
	if err != nil {
		return err
	}
	sum.Errors += errs
	return printPackaged(cmd, p.Out, sum, asJSON, lost.advice("--from"))
}

func printPackaged(cmd *cobra.Command, name string, sum archive.Packaged, asJSON bool, advice string) error {
	var err error
	if asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(sum)
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d files of %s with %d captures, %d pages\n", name, sum.Files, size(sum.Bytes), sum.Captures, sum.Pages)
		for _, r := range sum.Requires {
			fmt.Fprintf(cmd.OutOrStdout(), "requires %s (%s, %s) for %d revisits\n", r.Filename, size(r.Size), r.Hash, r.Revisits)
		}
	}
	if err == nil && sum.Errors > 0 {
		err = fmt.Errorf("%w: %d errors%s", archive.ErrDamaged, sum.Errors, advice)
	}
	return err
}
