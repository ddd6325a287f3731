package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	sourcePath = regexp.MustCompile("`([a-z][a-zA-Z0-9_./-]*/[a-zA-Z0-9_.-]+\\.go)`")
	mapLink    = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
)

// TestTheDocumentsNameExistingFiles checks the source files and links that the documents name.
func TestTheDocumentsNameExistingFiles(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s names %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range sourcePath.FindAllStringSubmatch(string(text), -1) {
				if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
					t.Errorf("%s names %s, which does not exist", file, m[1])
				}
			}
			for _, m := range mapLink.FindAllStringSubmatch(string(text), -1) {
				if strings.Contains(m[1], "`") {
					continue
				}
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
					t.Errorf("%s links to %s, which does not exist", file, m[1])
				}
			}
		}
	}
}
