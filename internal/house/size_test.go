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

// maxPackage are the bounds of a package, without tests. A few may be larger, for a reason.
const (
	maxPackageFiles = 30
	maxPackageLines = 3650
	maxTopFolders   = 19
)

// largerPackages are the packages that may exceed the bounds, each with its own.
var largerPackages = map[string]struct{ files, lines int }{
	"frontier":    {70, 10710}, // one state machine under one lock, with the letters of a visit; its files are grouped by prefix
	"crawler":     {30, 3770},  // the walk, which also makes the steps of a login, and its report
	"config":      {30, 4850},  // one table of keys (also of networks), the loader that checks them, and who inherits what
	"cmd/arcrawl": {65, 9800},  // one command for each file; curators have commands of their own
}

// TestPackagesStaySmall keeps packages at a size that a reader can survey.
func TestPackagesStaySmall(t *testing.T) {
	t.Parallel()
	files, lines, top := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, f := range repository(t).files {
		top[strings.Split(f.room, "/")[0]] = true
		if !f.test {
			files[f.room]++
			lines[f.room] += strings.Count(f.text, "\n")
		}
	}
	for room := range files {
		maxFiles, maxLines := maxPackageFiles, maxPackageLines
		if b, ok := largerPackages[room]; ok {
			maxFiles, maxLines = b.files, b.lines
		}
		if files[room] > maxFiles || lines[room] > maxLines {
			t.Errorf("%s has %d files and %d lines, more than %d or %d: move a part that has one purpose to a package of its own",
				room, files[room], lines[room], maxFiles, maxLines)
		}
	}
	if len(top) > maxTopFolders {
		t.Errorf("the top level has %d folders with code, more than %d", len(top), maxTopFolders)
	}
}
