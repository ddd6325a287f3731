package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/arcrawl/arcrawl/daemon"
)

// EditCopy opens a copy of a file in an editor, and returns the path of the copy.
func EditCopy(ctx context.Context, name string, text []byte) (string, error) {
	dir, err := os.MkdirTemp("", "arcrawl-edit-")
	if err != nil {
		return "", daemon.FolderError{Err: err}
	}
	draft := filepath.Join(dir, name)
	if err := os.WriteFile(draft, text, 0o600); err != nil {
		return "", daemon.FolderError{Err: err}
	}
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	// The shell splits the value, which may have arguments: EDITOR="code --wait".
	c := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", draft)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("edit %s with %q: %w; set VISUAL or EDITOR to your editor; the copy is %s", name, editor, err, draft)
	}
	return draft, nil
}
