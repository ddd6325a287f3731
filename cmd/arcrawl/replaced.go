package main

import (
	"fmt"
	"slices"
	"strings"
)

// replacement says what to type instead of a command or flag that this program does not have any more.
type replacement struct{ old, now string }

// replacements lists commands and flags of earlier versions. A flag is written behind its command.
func replacements() []replacement {
	return []replacement{
		{"plan --running", "reload --dry-run --staged DIR --config FILE"},
		{"plan", "reload --dry-run [--staged DIR | HOSTFILE…]"},
		{"top", "status --watch"},
		{"why-not", "why URI"},
	}
}

// replaced returns an error that says what to type instead of an earlier command or flag, if args have one.
func replaced(args []string) error {
	words := args
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }); i >= 0 {
		words = args[:i]
	}
	for _, r := range replacements() {
		command, flag, hasFlag := strings.Cut(r.old, " --")
		names := strings.Fields(command)
		if len(words) < len(names) || !slices.Equal(words[:len(names)], names) {
			continue
		}
		sets := func(arg string) bool { return arg == "--"+flag || strings.HasPrefix(arg, "--"+flag+"=") }
		if !hasFlag || slices.ContainsFunc(args, sets) {
			return fmt.Errorf("there is no 'arcrawl %s' any more; write: arcrawl %s", r.old, r.now)
		}
	}
	return nil
}
