package archive

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newVerify() *cobra.Command {
	var asJSON, strict bool
	var known, elsewhere []string
	cmd := &cobra.Command{
		Use:   "verify FILE|DIR…",
		Short: "Check every record, digest and reference of WARC files",
		Long: `verify reads the named WARC files, and those below the named folders, from the first byte to the last. It recomputes every
digest, follows every reference, and prints each fault with file and offset. It skips damaged parts and checks the rest. Nothing is
changed. Files are compared with the manifest of their folder (manifest.jsonl), which lists each file as it was when it was sealed: so
verify also finds files and whole records that are gone. If files were moved away, name the folder or a list of them with --elsewhere;
files in such a folder are compared too. For a WACZ package it compares each file with the manifest and checks the WARC files in it.

If there are errors, the exit code is 65. A warning is a deviation from the specification that loses nothing. With --strict, files without
errors are also validated by gowarc, a reader of others. If originals of revisits are in other files, name those with --known; only their record ids are read.`,
		Example: `  arcrawl verify warc/
  arcrawl verify --known warc/ new/20261121.warc.gz
  arcrawl verify --json warc/ | jq 'select(.kind == "block-digest")'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			progress := new(warc.Progress)
			stop := cli.ShowProgress(cmd.ErrOrStderr(), progress)
			var lost lostOriginals
			see := lost.count(cli.PrintFinding(cmd.OutOrStdout(), asJSON))
			sum, err := Verify(cmd.Context(), args, VerifyOptions{Known: known, Progress: progress, Strict: strict}, see)
			if err == nil {
				err = verifyManifests(cmd.Context(), args, elsewhere, &sum, see)
			}
			stop()
			if err != nil {
				return err
			}
			if err := printVerified(cmd.OutOrStdout(), sum, asJSON); err != nil {
				return err
			}
			warnings := human.Count(sum.Warnings, "warning") + " in " + human.Count(sum.Files, "file")
			if strict && sum.Errors == 0 && sum.Warnings > 0 {
				return fmt.Errorf("%w: %s", warc.ErrWarnings, warnings)
			}
			return damaged(nil, sum.Errors, " and "+warnings+lost.advice("--known"))
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 65 also for warnings, and ask gowarc, another reader, too")
	cmd.Flags().StringArrayVar(&elsewhere, "elsewhere", nil, "folder or list of files that were moved away; repeatable")
	cmd.Flags().StringArrayVar(&known, "known", nil, "accept references to records in this file or folder; repeatable")
	return cmd
}

// verifyManifests compares the named files and the files of the named folders with the manifests of their folders.
func verifyManifests(
	ctx context.Context, paths, elsewhere []string, sum *Verified, see func(warc.Finding) error,
) error {
	moved, err := fixity.Elsewhere(elsewhere)
	if err != nil {
		return err
	}
	only := map[string]map[string]bool{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if info.IsDir() {
			only[filepath.Clean(path)] = nil
			continue
		}
		dir := filepath.Dir(path)
		if names, seen := only[dir]; !seen {
			only[dir] = map[string]bool{filepath.Base(path): true}
		} else if names != nil {
			names[filepath.Base(path)] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(only)) {
		_, err := fixity.Check(ctx, dir, fixity.CheckOptions{Only: only[dir], Elsewhere: moved}, func(f warc.Finding) error {
			sum.count(f)
			return see(f)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lostOriginals counts revisits whose original was not found. It may be in other files.
type lostOriginals int

func (n *lostOriginals) count(see func(warc.Finding) error) func(warc.Finding) error {
	return func(f warc.Finding) error {
		if f.Kind == warc.NoOriginal {
			*n++
		}
		return see(f)
	}
}

// advice returns a hint to name other files with a flag, or "".
func (n *lostOriginals) advice(flag string) string {
	if *n == 0 {
		return ""
	}
	return fmt.Sprintf("; the originals of %s are not in these files; name other files with %s",
		human.Count(int(*n), "revisit"), flag)
}

func printVerified(out io.Writer, v Verified, asJSON bool) error {
	var records int
	var kinds []string
	for _, kind := range v.Kinds() {
		records += v.Records[kind]
		kinds = append(kinds, fmt.Sprintf("%d %s", v.Records[kind], kind))
	}
	return printResult(out, asJSON, map[string]Verified{"summary": v}, "%s of %s with %s (%s): %s, %s\n",
		human.Count(v.Files, "file"), human.Bytes(v.Bytes), human.Count(records, "whole record"), strings.Join(kinds, ", "),
		human.Count(v.Errors, "error"), human.Count(v.Warnings, "warning"))
}

func newBag() *cobra.Command {
	var o fixity.BagOptions
	var period captureFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "bag -o BAG DIR",
		Short: "Copy the finished WARC files of a folder into a BagIt bag",
		Long: `bag copies the finished WARC files of a folder into a new folder by RFC 8493 (BagIt 1.0), for a repository that takes bags. It compares
each file with the manifest of the folder (manifest.jsonl) while it copies. A file that is damaged or missing is reported and left out,
with exit code 65. The manifest itself goes with the bag. The bag appears when it is complete.

With --since and --until only files with records of the period are chosen. With --link the files are hard links, which need no space;
the bag must be on the same disk.`,
		Example: "  arcrawl bag -o /transfer/2026-11 --since 2026-11 --until 2026-11 /var/lib/arcrawl/warc",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var s rewrite.Selection
			if err := period.apply(cmd, &s); err != nil {
				return err
			}
			o.Since, o.Until, o.Now, o.Software = s.From, s.To, time.Now(), "arcrawl/"+cli.Version()
			sum, err := fixity.WriteBag(cmd.Context(), args[0], o, cli.PrintFinding(cmd.ErrOrStderr(), asJSON))
			if err != nil {
				return err
			}
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), sum)
			} else {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s of %s\n", o.Out, human.Count(sum.Files, "file"),
					human.Bytes(sum.Bytes))
			}
			if err == nil && sum.Errors > 0 {
				err = fmt.Errorf("%w: %s not in the bag", warc.ErrDamaged, human.Count(sum.Errors, "file"))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Out, "output", "o", "", "write the bag to this new folder (required)")
	f.BoolVar(&o.Link, "link", false, "make hard links instead of copies")
	f.StringVar(&o.Organization, "organization", "", "name of the institution, for bag-info.txt")
	f.StringVar(&period.since, "since", "", "choose files with records from this date on: 2026, 2026-11, 2026-11-21 or 2026-11-21T09:00:00Z")
	f.StringVar(&period.until, "until", "", "choose files with records up to the end of this date")
	cli.JSONFlag(cmd, &asJSON)
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

func newOffload() *cobra.Command {
	var path string
	var dry bool
	cmd := &cobra.Command{
		Use:   "offload FILE…",
		Short: "Delete WARC files here whose copies in the bucket are the same",
		Long: `offload deletes finished WARC files in storage.warc, and in storage.folders if they were moved there. It compares
each file, and its copy in the bucket of [upload], with the manifest. A file that was not uploaded, that was changed, or
whose copy differs, stays. FILE is a path in one of these folders, or a name in storage.warc.

storage.elsewhere must name the list of uploaded files, so that the daemon and verify do not take the files for lost. No
other command and no daemon deletes WARC files. Replay and cat lack the captures of such a file until it is brought back.`,
		Example: "  arcrawl offload --dry-run /var/lib/arcrawl/warc/arcrawl-2024*.warc.gz",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return deleteUploaded(cmd.Context(), path, args, dry, time.Now, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only compare the copies, and delete nothing")
	return cmd
}
