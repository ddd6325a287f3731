package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/daemon/offload"
)

func newOffload() *cobra.Command {
	var path string
	var dry bool
	cmd := &cobra.Command{
		Use:   "offload FILE…",
		Short: "Delete WARC files here whose copies in the bucket are the same",
		Long: `offload deletes finished WARC files in storage.warc, and in storage.folders if they were moved there. For each file it reads the copy
in the bucket of [upload] and compares it with the manifest. A file that was not uploaded, or whose copy differs, stays. FILE is a name
or a path; only the name counts.

storage.elsewhere must name the list of uploaded files, so that the daemon and verify do not take the files for lost. No other command
and no daemon deletes WARC files. Replay and cat lack the captures of such a file until it is brought back.`,
		Example: "  arcrawl offload --dry-run /var/lib/arcrawl/warc/arcrawl-2024*.warc.gz",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return offload.Delete(cmd.Context(), path, args, dry, time.Now, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only compare the copies, and delete nothing")
	return cmd
}
