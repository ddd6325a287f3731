package house_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The drop-in of the package permits what docs/rendering.md says, and nothing else.
func TestTheDropInIsTheOneOfTheDocuments(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(filepath.Join(root, "packaging/systemd/rendering.conf"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(file)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/rendering.md"))
	if err != nil {
		t.Fatal(err)
	}
	if block := "```\n" + strings.Join(lines, "\n") + "\n```"; !strings.Contains(string(page), block) {
		t.Errorf("docs/rendering.md does not have the drop-in of the package:\n%s", block)
	}
}
