package archive

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/keep"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

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
			return keep.Delete(cmd.Context(), path, args, dry, time.Now, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only compare the copies, and delete nothing")
	return cmd
}
