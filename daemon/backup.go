package daemon

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier/backup"
)

// BackUp copies the state folder of a configuration to a folder of backups. A daemon may run meanwhile.
func BackUp(ctx context.Context, c *config.Config, to string, keep int, now time.Time) (backup.Backup, error) {
	if err := CheckStore(ctx, c); err != nil {
		return backup.Backup{}, err
	}
	return backup.Take(ctx, backup.Options{
		State: c.Storage.State, To: to, Keep: keep, Now: now, Skip: []string{filepath.Base(SpoolFolder(c))},
	})
}

// Restore copies a backup to the state folder of a configuration.
func Restore(ctx context.Context, c *config.Config, b backup.Backup) error {
	err := b.Restore(ctx, c.Storage.State)
	if errors.Is(err, fs.ErrPermission) {
		return FolderError{Err: err}
	}
	return err
}
