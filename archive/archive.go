// Package archive is the wing for archives: commands to check, index, read, rewrite and package WARC files, and what
// looks after the archive of a running crawl. It also backs up the store, and restores or rebuilds it.
//
// For a running crawl it lists finished WARC files in the manifest of their folder, passes them to a server or a
// program, takes them to further folders and into a bucket, keeps the dependency index, and sends the lines of the live
// index to an OutbackCDX server. The crawl never waits for any of this.
//
// A file that is taken to another folder leaves a symbolic link under its old name. So all who read the archive find
// it, and the manifest, the indexes and the records that refer to it stay true. Only files that the manifest lists are
// taken away or uploaded, and each copy is compared with the manifest.
//
// It also has what lost files held archived again. A file is lost from the moment when the dedup index has its loss: no
// new record refers to it, and no request is conditional on a payload in it. That alone would not bring the payloads
// back soon. So the wing goes through the store and makes the URIs due whose payload was in a lost file, one after the
// other at the pace of their host.
package archive

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
)

// Commands returns the commands of this wing.
func Commands() []*cobra.Command {
	return append(cli.In(cli.Operator, newBackup()), cli.In(cli.Archivist,
		newVerify(), newIndex(), newHistory(), newCat(), newDiff(), newDedup(), newDeps(), newExtract(), newWacz(), newBag(),
		newOffload())...)
}

// survey reads the folder of a command. It names damaged parts and reads the rest.
func (w *Flags) survey(cmd *cobra.Command, asJSON bool) (s *depend.Survey, damage *Damages, err error) {
	dir, outside, err := w.places()
	if err != nil {
		return nil, nil, err
	}
	progress := new(warc.Progress)
	stop := cli.ShowProgress(cmd.ErrOrStderr(), progress)
	defer stop()
	d := newDamages(cmd.ErrOrStderr(), asJSON)
	daemon.LimitGarbage(daemon.MaxGarbage)
	s, err = depend.New(cmd.Context(), append([]string{dir}, outside...), progress, d.see)
	return s, d, err
}

// printEach prints values, as JSON lines or as text.
func printEach[V any](out io.Writer, asJSON bool, text func(V, io.Writer) error, values ...V) error {
	for _, v := range values {
		var err error
		if asJSON {
			err = json.NewEncoder(out).Encode(v)
		} else {
			err = text(v, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
