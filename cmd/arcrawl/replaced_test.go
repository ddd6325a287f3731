package main

import (
	"strings"
	"testing"
)

// TestTheChangelogNamesEveryReplacement compares the table of the changelog with what the program says.
func TestTheChangelogNamesEveryReplacement(t *testing.T) {
	t.Parallel()
	changes := readText(t, "../../CHANGELOG.md")
	for _, r := range replacements() {
		if !strings.Contains(changes, "| `"+r.old) {
			t.Errorf("CHANGELOG.md has no line of its table for %q", r.old)
		}
		command, _, _ := newRoot().Find(strings.Fields(r.now))
		if command == nil || !command.HasParent() && !strings.HasPrefix(r.now, "--") {
			t.Errorf("%q is replaced by %q, which is no command", r.old, r.now)
		}
	}
}
