package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheChangelogNamesEveryReplacement compares the table of the changelog with what the program says.
func TestTheChangelogNamesEveryReplacement(t *testing.T) {
	t.Parallel()
	changes := readText(t, "../../CHANGELOG.md")
	for _, r := range replacements {
		if !strings.Contains(changes, "| `"+r.old) {
			t.Errorf("CHANGELOG.md has no line of its table for %q", r.old)
		}
		command, _, _ := newRoot().Find(strings.Fields(r.now))
		if command == nil || !command.HasParent() && !strings.HasPrefix(r.now, "--") {
			t.Errorf("%q is replaced by %q, which is no command", r.old, r.now)
		}
	}
}

// TestTheDocsNameNoReplacedCommand reads the documentation and the files of the packages.
func TestTheDocsNameNoReplacedCommand(t *testing.T) {
	t.Parallel()
	var old []string
	for _, r := range replacements {
		if !strings.Contains(r.old, "--") {
			old = append(old, r.old)
		}
	}
	stale := regexp.MustCompile("(?:`|[$#] |bin/)arcrawl (" + strings.Join(old, "|") + ")(?:[`.,]|\\s)")
	if !stale.MatchString("`arcrawl why-not`") {
		t.Fatal("the expression finds no command")
	}
	for _, pattern := range []string{"README.md", "docs/*.md", "packaging/*/*", "examples/*/*.toml"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			if found := stale.FindString(readText(t, file)); found != "" {
				t.Errorf("%s has %q, which was replaced", file, found)
			}
		}
	}
}
