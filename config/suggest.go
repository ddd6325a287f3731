package config

import (
	"fmt"
	"slices"
	"strings"
)

// nearest is the word that s is most probably a slip of, if there is one.
func nearest(s string, words []string) (string, bool) {
	s = strings.ReplaceAll(strings.ToLower(s), "-", "_")
	best, least := "", len(s)/3+1
	if len(s) > 2*maxPrefix {
		return "", false // no word is so long
	}
	for _, w := range words {
		if len(s) >= 4 && strings.HasPrefix(w, s) {
			return w, true
		}
		if n := distance(s, strings.ReplaceAll(w, "-", "_")); n < least || n == 0 || (n == least && best == "") {
			best, least = w, n
		}
	}
	return best, best != ""
}

// distance is Levenshtein's, two letters that changed places being one slip.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// unknownKey says what a key that a table does not have was probably meant to be.
func unknownKey(tableName, name string) Fault {
	f := Fault{Key: clip(tableName + "." + name), Problem: "unknown key"}
	t, _ := findTable(tableName)
	near, ok := nearest(name, t.words())
	if other, found := tableOf(name); found {
		f.Remedy = "it belongs to " + other
	} else if ok && strings.ToLower(name) == near {
		f.Remedy = fmt.Sprintf("keys are lower case: write %q", near)
	} else if ok {
		f.Remedy = fmt.Sprintf("did you mean %q?", near)
	} else {
		f.Remedy = fmt.Sprintf("the keys of [%s] are %s", tableName, strings.Join(t.keys(), ", "))
	}
	return f
}

// words are what can stand in the table: its keys, and in a refinement other tables.
func (t table) words() []string {
	names := t.keys()
	for _, other := range tables {
		if t.name == whenTable && other.standsIn(inWhen) {
			names = append(names, other.name)
		}
	}
	return names
}

// unknownTable does the same for what stands outside all tables.
func unknownTable(name string, v any, where string) Fault {
	f := Fault{Key: clip(name), Problem: "unknown key"}
	switch v.(type) {
	case map[string]any, []map[string]any:
		f.Problem = "unknown table"
	}
	var names []string
	for _, t := range tables {
		if t.standsIn(where) {
			names = append(names, t.name)
		}
	}
	near, ok := nearest(name, names)
	if other, found := tableOf(name); found {
		f.Remedy = "it belongs to " + other
	} else if ok && strings.ToLower(name) == near {
		f.Remedy = fmt.Sprintf("tables are lower case: write %q", near)
	} else if ok {
		f.Remedy = fmt.Sprintf("did you mean %q?", near)
	} else {
		f.Remedy = "the tables here are " + strings.Join(names, ", ")
	}
	return f
}

// tableOf finds the tables that have a key of this name.
func tableOf(name string) (string, bool) {
	var found []string
	for _, t := range tables {
		if slices.Contains(t.keys(), name) {
			if t.list {
				found = append(found, "[["+t.name+"]]")
			} else {
				found = append(found, "["+t.name+"]")
			}
		}
	}
	return strings.Join(found, " or "), len(found) > 0
}
