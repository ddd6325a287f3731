//go:build unix

package fileio_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// TestEditKeepsTheMode edits under the umask of the daemon's unit, which takes the right of the group to write. It is
// not parallel, because the umask is one of the process.
func TestEditKeepsTheMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	for folder, want := range map[fs.FileMode]fs.FileMode{0o750: 0o640, 0o770: 0o660, 0o755: 0o644} {
		dir := t.TempDir()
		must(t, os.Chmod(dir, folder))
		name := filepath.Join(dir, "a.toml")
		for _, content := range []string{"first", "second"} {
			must(t, fileio.Edit(name, []byte(content)))
			checkFolder(t, dir, "a.toml", content)
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("in a folder with the mode %o, the mode is %v, %v; want %o", folder, info.Mode(), err, want)
			}
			want = 0o664 // as somebody sets it
			must(t, os.Chmod(name, want))
		}
	}
}

// TestWhatRootEditsStaysWithTheCurators makes a file as root in the folder of a group, and edits one of somebody else.
func TestWhatRootEditsStaysWithTheCurators(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const curators, maria = 65534, 65533
	dir := t.TempDir()
	name := filepath.Join(dir, "a.toml")
	must(t, os.Chown(dir, 0, curators))
	must(t, os.Chmod(dir, 0o770)) // without the set-gid bit
	for _, owner := range []uint32{0, maria} {
		must(t, fileio.Edit(name, []byte("a")))
		info, err := os.Stat(name)
		must(t, err)
		s := info.Sys().(*syscall.Stat_t)
		if s.Uid != owner || s.Gid != curators || info.Mode().Perm() != 0o660 {
			t.Errorf("the file is of %d and the group %d, with the mode %o; want %d, %d and 660", s.Uid, s.Gid, info.Mode(), owner, curators)
		}
		must(t, os.Chown(name, maria, curators))
	}
}
