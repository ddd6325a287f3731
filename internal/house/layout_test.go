package house_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// wingFolders are the wings: what is in them plugs into the core from outside, and could be deleted.
var wingFolders = []string{"archive", "cluster", "curator", "fleet", "lab", "messages", "noise", "render", "reports"}

// coreLibraries are in the folder of a wing, and belong to the core: everybody may import them.
var coreLibraries = []string{"archive/index", "archive/warc"}

// linking are the rooms that may import every wing: the command line, which links them, and what tests and examples
// need.
var linking = []string{"cmd/arcrawl", "internal/", "examples/"}

// The bounds of packages.
const (
	maxImports   = 20  // of our own packages
	maxComposing = 30  // of those that compose
	minLines     = 150 // of a package that only one other uses
)

// hubs are the two packages that put everything together. Their imports are not bounded.
var hubs = []string{"cmd/arcrawl", "daemon"}

// composing are the packages that may import up to maxComposing of ours, each with the reason.
var composing = map[string]string{
	"admin":   "it answers every request of the API, and each answer is made by the package that knows it",
	"archive": "its commands call each library for archives, and its keeper each part of a crawl that has files",
	"curator": "each of its pages and commands is about another part: the archive, the configuration, the frontier",
	"crawler": "the walk of a URI calls each part of the crawl in turn",
	"config":  "it fills the options of every package that has settings",
}

// wingOf returns the wing that a room belongs to; "" for the core.
func wingOf(room string) string {
	first, _, _ := strings.Cut(room, "/")
	if slices.Contains(coreLibraries, room) || !slices.Contains(wingFolders, first) {
		return ""
	}
	return first
}

// ours returns the packages of this module that a file imports.
func (f source) ours() (rooms []string) {
	for _, im := range f.imports() {
		if room, ok := strings.CutPrefix(im.path, module+"/"); ok {
			rooms = append(rooms, room)
		}
	}
	return rooms
}

// wingUses returns which rooms import a wing that they may not, as "room imports wing", with the first file that does.
func wingUses(all tree) map[string]source {
	found := map[string]source{}
	for _, f := range all.files {
		if matches(linking, f.room) {
			continue
		}
		for _, dep := range f.ours() {
			own, other := wingOf(f.room), wingOf(dep)
			if other == "" || other == own || own != "" && other == "archive" {
				continue
			}
			what := f.room + " imports the wing " + other
			if f.test {
				what = "tests of " + what
			}
			if _, ok := found[what]; !ok {
				found[what] = f
			}
		}
	}
	return found
}

// wingsPlugIn finds packages of the core that import a wing, and wings that import another one than archive.
func wingsPlugIn(all tree) []breach {
	var found []breach
	for what, f := range wingUses(all) {
		if knownWingUses[what] == "" {
			found = append(found, all.at(f.Name, "%s", what))
		}
	}
	return found
}

// importsOf returns the packages of ours that each room imports outside tests.
func importsOf(all tree) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, f := range all.files {
		if f.test {
			continue
		}
		if found[f.room] == nil {
			found[f.room] = map[string]bool{}
		}
		for _, dep := range f.ours() {
			found[f.room][dep] = true
		}
	}
	return found
}

// importBound returns how many packages of ours a room may import.
func importBound(room string) int {
	if _, ok := composing[room]; ok {
		return maxComposing
	}
	return maxImports
}

// importsAreFew finds packages that import too many of ours.
func importsAreFew(all tree) []breach {
	var found []breach
	for room, deps := range importsOf(all) {
		bound := max(importBound(room), knownImports[room])
		if len(deps) > bound && !slices.Contains(hubs, room) {
			found = append(found,
				all.at(all.firstOf(room).Name, "%s imports %d packages of ours, more than %d", room, len(deps), bound))
		}
	}
	return found
}

// firstOf returns the first file of a room that is not a test.
func (all tree) firstOf(room string) source {
	i := slices.IndexFunc(all.files, func(f source) bool { return f.room == room && !f.test })
	return all.files[i]
}

// portions returns the packages that only one other uses and that have fewer than minLines lines.
func portions(all tree) (rooms []string) {
	users, lines := map[string]int{}, map[string]int{}
	for _, deps := range importsOf(all) {
		for dep := range deps {
			users[dep]++
		}
	}
	for _, f := range all.files {
		if !f.test {
			lines[f.room] += all.fset.File(f.Pos()).LineCount()
		}
	}
	for _, room := range all.rooms() {
		thing := path.Dir(room) == "aspects" || path.Dir(room) == "." || matches([]string{"internal/", "examples/"}, room)
		if !thing && all.firstOf(room).File.Name.Name != "main" && users[room] <= 1 && lines[room] < minLines {
			rooms = append(rooms, room)
		}
	}
	return rooms
}

// packagesAreThings finds packages that are a portion of another one.
func packagesAreThings(all tree) []breach {
	var found []breach
	for _, room := range portions(all) {
		if !slices.Contains(knownPortions, room) {
			found = append(found, all.at(all.firstOf(room).Name,
				"%s has fewer than %d lines, and at most one user: make it a file of that package", room, minLines))
		}
	}
	return found
}

// TestTheListsOfTheLayoutShrink finds entries of the lists of known breaches that are not needed any more.
func TestTheListsOfTheLayoutShrink(t *testing.T) {
	t.Parallel()
	all := repository(t)
	uses, imports, small := wingUses(all), importsOf(all), portions(all)
	for _, what := range slices.Sorted(maps.Keys(knownWingUses)) {
		if _, ok := uses[what]; !ok {
			t.Errorf("%q is not true any more: remove it from knownWingUses", what)
		}
	}
	for _, room := range slices.Sorted(maps.Keys(knownImports)) {
		if len(imports[room]) <= importBound(room) {
			t.Errorf("%s imports %d packages of ours: remove it from knownImports", room, len(imports[room]))
		}
	}
	for _, room := range knownPortions {
		if !slices.Contains(small, room) {
			t.Errorf("%s is gone, has grown, or has another user: remove it from knownPortions", room)
		}
	}
	for room, why := range composing {
		if why == "" || imports[room] == nil {
			t.Errorf("%s composes without a reason, or does not exist", room)
		}
	}
}
