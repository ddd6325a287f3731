package misfortune_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/warcout"
)

func TestOnlyTheMachineIsOurs(t *testing.T) {
	t.Parallel()
	_, missing := os.Open(filepath.Join(t.TempDir(), "missing"))
	for _, row := range []struct {
		name string
		err  error
		ours bool
	}{
		{"a full disk", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true},
		{"no descriptor", fmt.Errorf("connect: %w", syscall.EMFILE), true},
		{"a missing folder", missing, true},
		{"a disk error among others", errors.Join(errors.New("archive"), syscall.EIO), true},
		{"a closed archive", fmt.Errorf("archive: %w", warcout.ErrClosed), true},
		{"a record that cannot be composed", fmt.Errorf("archive: %w", warcout.ErrRefused), false},
		{"content over its limit", fmt.Errorf("compare: %w", fetch.ErrMaxContent), false},
		{"an unknown error", errors.New("unexpected"), false},
	} {
		if got := misfortune.IsOurs(row.err); got != row.ours {
			t.Errorf("%s: ours is %t, want %t", row.name, got, row.ours)
		}
	}
}
