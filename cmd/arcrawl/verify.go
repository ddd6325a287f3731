package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
)

func newVerify() *cobra.Command {
	var asJSON, strict bool
	var known []string
	cmd := &cobra.Command{
		Use:   "verify FILE|DIR…",
		Short: "Prove that WARC files are whole and hang together",
		Long: `verify reads WARC files, compressed or not, from the first byte to the last: the files that are named, and those below the
folders that are named. It recomputes every digest and follows every reference, and prints each fault with its file and
offset. What is damaged is passed over and the rest still verified. Nothing is changed. Of a WACZ package, named or in a
folder, each file is compared with what the manifest says of it, and the WARC files in it are verified like others.

A warning is a departure from the specification by which nothing is lost. Faults are errors and give exit code 65.
Revisits whose originals lie elsewhere are resolved with --known, a folder that is read for its record ids alone.`,
		Example: `  arcrawl verify warc/
  arcrawl verify --known warc/ new/20261121.warc.gz
  arcrawl verify --json warc/ | jq 'select(.kind == "block-digest")'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			progress := new(archive.Progress)
			stop := watch(cmd.ErrOrStderr(), progress)
			var lost lostOriginals
			see := lost.count(printFinding(cmd.OutOrStdout(), asJSON))
			sum, err := archive.Verify(cmd.Context(), args, archive.VerifyOptions{Known: known, Progress: progress}, see)
			stop()
			if err != nil {
				return err
			}
			if err := printVerified(cmd.OutOrStdout(), sum, asJSON); err != nil {
				return err
			}
			if sum.Errors > 0 || strict && sum.Warnings > 0 {
				return fmt.Errorf("%w: %d errors and %d warnings in %d files%s", archive.ErrDamaged, sum.Errors, sum.Warnings, sum.Files, lost.advice("--known"))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each finding, and last the summary")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 65 for warnings too")
	cmd.Flags().StringArrayVar(&known, "known", nil, "a file or folder whose records may be referred to; may be repeated")
	return cmd
}

// lostOriginals counts the revisits whose original was not found. It may only be elsewhere.
type lostOriginals int

func (n *lostOriginals) count(see func(archive.Finding) error) func(archive.Finding) error {
	return func(f archive.Finding) error {
		if f.Kind == archive.NoOriginal {
			*n++
		}
		return see(f)
	}
}

// advice says with which flag other files are named.
func (n *lostOriginals) advice(flag string) string {
	if *n == 0 {
		return ""
	}
	return fmt.Sprintf("; the originals of %d revisits are not in the files that were read: name the others with %s", *n, flag)
}

// printFinding prints findings as they come, as lines for people or for machines.
func printFinding(out io.Writer, asJSON bool) func(archive.Finding) error {
	if asJSON {
		return func(f archive.Finding) error { return json.NewEncoder(out).Encode(f) }
	}
	return func(f archive.Finding) error {
		_, err := fmt.Fprintln(out, f.Error())
		return err
	}
}

func printVerified(out io.Writer, v archive.Verified, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(struct {
			Summary archive.Verified `json:"summary"`
		}{v})
	}
	var records int
	var kinds []string
	for _, kind := range v.Kinds() {
		records += v.Records[kind]
		kinds = append(kinds, fmt.Sprintf("%d %s", v.Records[kind], kind))
	}
	_, err := fmt.Fprintf(out, "%d files of %s with %d whole records (%s): %d errors, %d warnings\n",
		v.Files, size(v.Bytes), records, strings.Join(kinds, ", "), v.Errors, v.Warnings)
	return err
}

// size is a number of bytes for people.
func size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, names := float64(n)/unit, "kMGTP"
	for value >= unit && len(names) > 1 {
		value, names = value/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %cB", value, names[0])
}

// watch shows progress on a terminal until the returned function is called.
func watch(w io.Writer, p *archive.Progress) (stop func()) {
	start := time.Now()
	return showLine(w, func() string {
		done, total := p.Bytes()
		read, all := p.Files()
		speed := float64(done) / time.Since(start).Seconds()
		return fmt.Sprintf("%d of %d files, %s of %s, %s/s", read, all, size(done), size(total), size(int64(speed)))
	})
}
