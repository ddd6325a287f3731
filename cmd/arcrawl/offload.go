package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon/offload"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/human"
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
		Example: `  arcrawl offload --dry-run /var/lib/arcrawl/warc/arcrawl-2024*.warc.gz
  arcrawl offload /var/lib/arcrawl/warc/arcrawl-2024*.warc.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(path)
			if err != nil {
				return err
			}
			if c.Upload.Endpoint == "" {
				return errors.New("offload WARC files: the configuration has no [upload], so nothing has a copy")
			}
			list := filepath.Join(c.Storage.WARC, offload.ListName)
			if !slices.Contains(c.Storage.Elsewhere, list) {
				return fmt.Errorf("offload WARC files: the daemon would take them for lost: set storage.elsewhere = [%q] in %s", list, path)
			}
			u := &offload.Uploader{
				Dir: c.Storage.WARC, State: c.Storage.State, Bucket: c.Upload, Now: time.Now, Log: zerolog.Nop(),
			}
			if err := u.Open(fetch.OwnServers()); err != nil {
				return err
			}
			return offloadFiles(cmd, u, args, dry)
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only compare the copies, and delete nothing")
	return cmd
}

// offloadFiles deletes each file here, and prints the result. A file that stays does not keep the others.
func offloadFiles(cmd *cobra.Command, u *offload.Uploader, files []string, dry bool) error {
	done, verb := 0, "deleted here"
	if dry {
		verb = "can be deleted here"
	}
	var bytes int64
	for _, file := range files {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		e, err := u.Release(cmd.Context(), filepath.Base(file), dry)
		if err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), err)
			continue
		}
		done, bytes = done+1, bytes+e.Size
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s: the copy is the same\n", e.File, verb)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s of %s %s\n", human.Count(done, "file"), human.Bytes(bytes), verb)
	if left := len(files) - done; left > 0 {
		return fmt.Errorf("offload WARC files: %s not deleted", human.Count(left, "file"))
	}
	return nil
}
