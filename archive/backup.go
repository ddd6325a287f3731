package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newBackup() *cobra.Command {
	return cli.Group("backup", "Back up the store, also while the daemon runs, and restore it",
		newBackupCreate(), newBackupList(), newBackupRestore())
}

func newBackupCreate() *cobra.Command {
	var path string
	var keep int
	cmd := &cobra.Command{
		Use:   "create DIR",
		Short: "Back up the state folder into a new folder in DIR",
		Long: `create copies the state folder (storage.state) into a new folder in DIR, which is named by the time. The daemon may run
meanwhile. The copy is what the store was at one moment.

Each backup is complete. Tables that the backup before has too are links to it, so only new data takes time and room. If
create is killed, DIR has the backups that it had before.

A backup has no WARC files, settings or logs. Copy the WARC files after the store: the store must never be newer than the
archive.`,
		Example: "  arcrawl backup create --config /etc/arcrawl/arcrawl.toml --keep 14 /srv/backup/arcrawl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cli.ReadConfig(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			if keep < 0 {
				return cli.Usage(fmt.Errorf("--keep %d is negative; write the number of backups to keep, 0 for all", keep))
			}
			b, err := backUp(cmd.Context(), c, args[0], keep, time.Now())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s copied and %s shared with the backup before\n",
				b.Folder, human.Count(len(b.Files), "file"), human.Bytes(b.Copied), human.Bytes(b.Linked))
			return err
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().IntVar(&keep, "keep", 0, "then keep only the newest `N` backups (0 = keep all)")
	return cmd
}

func newBackupList() *cobra.Command {
	var verify bool
	cmd := &cobra.Command{
		Use:   "list DIR",
		Short: "List the backups in DIR, oldest first, or compare one with its digests",
		Long: `list prints the folder, number of files and size of each backup in DIR, oldest first.

With --verify it reads every file of a backup and compares it with its SHA-256. ` + whichBackup,
		Example: "  arcrawl backup list /srv/backup/arcrawl\n  arcrawl backup list --verify /srv/backup/arcrawl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if verify {
				return verifyBackup(cmd, args[0])
			}
			all, err := listBackups(args[0])
			if err != nil {
				return backupError(err)
			}
			table := cli.NewTable(cmd.OutOrStdout())
			for _, b := range all {
				fmt.Fprintf(table, "%s\t%s\t%s\t\n", b.Folder, human.Count(len(b.Files), "file"), human.Bytes(b.size()))
			}
			return table.Flush()
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "compare a backup with its list of digests")
	return cmd
}

// verifyBackup compares a backup with its list of digests.
func verifyBackup(cmd *cobra.Command, dir string) error {
	b, err := findBackup(dir)
	if err == nil {
		err = b.verify(cmd.Context())
	}
	if err != nil {
		return backupError(err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s, undamaged\n",
		b.Folder, human.Count(len(b.Files), "file"), human.Bytes(b.size()))
	return err
}

func newBackupRestore() *cobra.Command {
	var path string
	var r rebuilding
	cmd := &cobra.Command{
		Use:   "restore DIR|--rebuild|--missing [LOG…]",
		Short: "Copy a backup to an empty state folder, or rebuild a lost store from logs and archive",
		Long: `restore copies a backup to the state folder (storage.state), which must be empty or missing. It compares each file with its
digest. The folder appears when all of it is on disk: if restore is killed, run it again.

` + whichBackup + `

Stop the daemon and move the old state folder away first. The archive must not be older than the backup.

` + rebuildHelp,
		Example: `  arcrawl backup restore --config /etc/arcrawl/arcrawl.toml /srv/backup/arcrawl
  arcrawl backup restore --config /etc/arcrawl/arcrawl.toml --rebuild --links
  arcrawl backup restore --config /etc/arcrawl/arcrawl.toml --missing
  arcrawl dedup import --config /etc/arcrawl/arcrawl.toml /var/lib/arcrawl/warc`,
		RunE: func(cmd *cobra.Command, args []string) error {
			rebuilds := r.whole || r.missing
			if !rebuilds && (len(args) != 1 || r.links) {
				return cli.Usage(errors.New("name one backup, or use --rebuild or --missing"))
			}
			c, err := cli.ReadConfig(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			if rebuilds {
				return r.run(cmd, c, args)
			}
			b, err := findBackup(args[0])
			if err == nil {
				err = restoreStore(cmd.Context(), c, b)
			}
			if err != nil {
				return backupError(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "restored the store of %s to %s\n",
				b.Taken.Format(time.DateTime), c.Storage.State)
			return err
		},
	}
	cli.ConfigFlag(cmd, &path)
	r.add(cmd)
	return cmd
}

const whichBackup = "DIR is one backup, or the folder of all, of which the newest is meant."

// findBackup returns a backup, or the newest in a folder.
func findBackup(dir string) (backup, error) {
	b, err := readBackup(dir)
	if err == nil || !errors.Is(err, damagedBackup{}) {
		return b, err
	}
	all, failed := listBackups(dir)
	switch {
	case failed != nil:
		return b, failed
	case len(all) == 0:
		return b, daemon.FolderError{Err: fmt.Errorf("there is no backup in %s: %w", filepath.Clean(dir), fs.ErrNotExist)}
	}
	return all[len(all)-1], nil
}

// backupError returns an error with its exit code.
func backupError(err error) error {
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, damagedBackup{}) {
		return daemon.FolderError{Err: err}
	}
	return err
}

// backUp copies the state folder of a configuration to a folder of backups. A daemon may run meanwhile.
func backUp(ctx context.Context, c *config.Config, to string, keep int, now time.Time) (backup, error) {
	if c.Cluster.Database != "" {
		return backup{}, daemon.FolderError{Err: errors.New("this store has only the hosts that this node crawls now: " +
			"back up the database of the cluster, with the means of PostgreSQL")}
	}
	if err := daemon.CheckStore(c); err != nil {
		return backup{}, err
	}
	return takeBackup(ctx, backupOptions{
		State: c.Storage.State, To: to, Keep: keep, Now: now, Skip: []string{filepath.Base(daemon.SpoolFolder(c))},
	})
}

// restoreStore copies a backup to the state folder of a configuration.
func restoreStore(ctx context.Context, c *config.Config, b backup) error {
	err := b.restore(ctx, c.Storage.State)
	if errors.Is(err, fs.ErrPermission) {
		return daemon.FolderError{Err: err}
	}
	return err
}
