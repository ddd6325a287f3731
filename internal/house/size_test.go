package house_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// largestFile is the maximum size of a file of the repository. Fixtures of stores have about 170 KB.
const largestFile = 1 << 20

// A binary in a commit stays in the history permanently, and everybody who clones the repository downloads it.
func TestNoLargeFileIsTracked(t *testing.T) {
	t.Parallel()
	listed, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("git cannot list the files of this tree, which need be no repository: %v", err)
	}
	files := strings.Split(strings.TrimSuffix(string(listed), "\x00"), "\x00")
	if len(files) < 20 {
		t.Fatalf("git lists only %d files: this test looks at the wrong folder", len(files))
	}
	for _, file := range files {
		is, err := os.Lstat(filepath.Join(root, file))
		if err == nil && is.Size() > largestFile {
			t.Errorf("%s has %d bytes: build into bin/ or dist/, which .gitignore names; let a test generate what it needs", file, is.Size())
		}
	}
}
