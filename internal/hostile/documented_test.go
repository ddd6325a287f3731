package hostile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// TestDocumentsNameAllAttacksAndTargets compares docs/safety.md with the attacks and with the tests of the
// repository, and docs/benchmarks.md with its fuzz targets.
func TestDocumentsNameAllAttacksAndTargets(t *testing.T) {
	t.Parallel()
	safety, benchmarks := read(t, "docs/safety.md"), read(t, "docs/benchmarks.md")
	for _, row := range rows() {
		if row.awaited == "" && !strings.Contains(safety, "`"+row.name+"`") {
			t.Errorf("docs/safety.md does not name the attack %q", row.name)
		}
	}
	tests, targets := declared(t)
	for _, name := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(safety, -1) {
		if !tests[name[1]] {
			t.Errorf("docs/safety.md names %s, which does not exist", name[1])
		}
	}
	for name := range targets {
		if !strings.Contains(benchmarks, "`"+name+"`") {
			t.Errorf("docs/benchmarks.md does not name the fuzz target %s", name)
		}
	}
	for _, name := range regexp.MustCompile("`(Fuzz\\w+)`").FindAllStringSubmatch(benchmarks, -1) {
		if !targets[name[1]] {
			t.Errorf("docs/benchmarks.md names %s, which does not exist", name[1])
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// declared returns the names of all tests and fuzz targets of the repository.
func declared(t *testing.T) (tests, targets map[string]bool) {
	t.Helper()
	tests, targets = map[string]bool{}, map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			if m[2] == "Test" {
				tests[m[1]] = true
			} else {
				targets[m[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests, targets
}
