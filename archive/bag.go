package archive

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/human"
)

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
