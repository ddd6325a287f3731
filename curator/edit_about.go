package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
)

// aboutKey is the key of the field that says of each seed what a list of seeds says: title, labels, owner and so on.
// The capture targets of seeds belong to it too, although other keys hold them.
const aboutKey = "seeds.about"

// maxFormSeeds is the maximum number of seeds that a form describes. A list of seeds describes more.
const maxFormSeeds = 200

// errFormSeeds means that a host has too many seeds for a form.
var errFormSeeds = fmt.Errorf("the form describes at most %d seeds; import a list of them", maxFormSeeds)

// cellsOf returns a line of a list of seeds: one text for each of [listColumns].
func cellsOf(uri string, own config.Site, goal seedGoal) []string {
	target := ""
	if goal.Target > 0 {
		target = strconv.FormatFloat(goal.Target, 'f', -1, 64)
	}
	list := func(names []string) string { return strings.Join(names, "|") }
	return []string{
		uri, list(own.Labels), list(own.Collections), own.Title, list(own.Owners), own.Note, target, goal.Until,
	}
}

// aboutIn returns what a file says of its seeds as JSON: an object for each, with the columns of a list of seeds.
func aboutIn(text []byte) string {
	all := seedsKnown(text)
	if len(all) > maxFormSeeds {
		return ""
	}
	rows := make([]map[string]string, 0, len(all))
	for _, e := range all {
		row := map[string]string{}
		for i, cell := range cellsOf(e.Text, e.Site, seedGoal{e.Target, e.Until}) {
			row[listColumns[i]] = cell
		}
		rows = append(rows, row)
	}
	out, err := json.Marshal(rows)
	if err != nil { // texts always have JSON
		panic("arcrawl/curator: " + err.Error())
	}
	return string(out)
}

// sitesIn returns what a file says of seeds in seeds.about, by URI.
func sitesIn(text []byte) map[string]config.Site {
	own := map[string]config.Site{}
	tables, _ := schema.Parse(text, "the file").Value(schema.Path("").Key(aboutKey)).([]any)
	for _, v := range tables {
		table, _ := v.(map[string]any)
		said := func(key string) string { s, _ := table[key].(string); return s }
		names := func(key string) []string {
			return slices.Compact(slices.Sorted(slices.Values(schema.ListedTexts(table[key]))))
		}
		site := config.Site{
			Title: said("title"), Note: said("note"), Labels: names("labels"), Collections: names("collections"),
		}
		if owner := said("owner"); owner != "" {
			site.Owners = []string{owner}
		}
		var e seedEntry
		if problem, _ := e.setURI(said("uri")); problem == "" {
			own[e.Text] = site
		}
	}
	return own
}

// seedsKnown returns the seeds that a file lists, with what it says of them.
func seedsKnown(text []byte) (all []seedEntry) {
	sites, goals := sitesIn(text), goalsIn(text)
	for _, s := range seedsIn(text) {
		var e seedEntry
		if problem, _ := e.setURI(s); problem == "" {
			e.Site, e.Target, e.Until = sites[e.Text], goals[e.Text].Target, goals[e.Text].Until
			all = append(all, e)
		}
	}
	return all
}

// setAbout returns the text of a host file with another value of [aboutIn].
func setAbout(text []byte, written string) ([]byte, error) {
	if written == aboutIn(text) {
		return text, nil
	}
	var rows []map[string]string
	if err := json.Unmarshal([]byte(written), &rows); err != nil {
		return nil, fmt.Errorf("it is not a list of seeds: %w", err)
	}
	if len(rows) > maxFormSeeds {
		return nil, errFormSeeds
	}
	entries := make([]seedEntry, len(rows))
	for i, row := range rows {
		for _, column := range listColumns {
			if problem, remedy := entries[i].set(column, strings.TrimSpace(row[column])); problem != "" {
				return nil, fmt.Errorf("%s of %s: %q %s; %s", column, row["uri"], row[column], problem, remedy)
			}
		}
		if entries[i].Until != "" && entries[i].Target == 0 {
			return nil, fmt.Errorf("until of %s has no effect without a share of versions; write one, or leave it empty", row["uri"])
		}
	}
	known := seedsKnown(text)
	for _, e := range entries {
		if !slices.ContainsFunc(known, func(k seedEntry) bool { return k.Text == e.Text }) {
			return nil, fmt.Errorf("%q is no seed of the file; add it to its front page and sections first", e.Text)
		}
	}
	return describe(text, entries)
}

// describe returns the text of a host file that says this of seeds. What it says of others stays.
func describe(text []byte, entries []seedEntry) (_ []byte, err error) {
	goals, sites := goalsIn(text), sitesIn(text)
	for _, e := range entries {
		if delete(goals, e.Text); e.Target > 0 {
			goals[e.Text] = seedGoal{Target: e.Target, Until: e.Until}
		}
		if delete(sites, e.Text); !e.Site.Equal(config.Site{}) {
			sites[e.Text] = e.Site
		}
	}
	if !maps.EqualFunc(sitesIn(text), sites, config.Site.Equal) {
		var named []config.NamedSeed
		for _, text := range slices.Sorted(maps.Keys(sites)) {
			var e seedEntry
			e.setURI(text)
			named = append(named, config.NamedSeed{URI: e.uri, Site: sites[text]})
		}
		if text, err = describeSeeds(text, named); err != nil {
			return nil, err
		}
	}
	return setGoals(text, goals)
}

// forgetSeeds returns the text of a host file without what it said of seeds that another text of it listed. If only a
// person can remove that, it stays, and the check says so.
func forgetSeeds(text, before []byte) ([]byte, error) {
	var gone []seedEntry
	listed := seedsKnown(text)
	for _, e := range seedsKnown(before) {
		if !slices.ContainsFunc(listed, func(l seedEntry) bool { return l.Text == e.Text }) {
			gone = append(gone, seedEntry{Text: e.Text, uri: e.uri})
		}
	}
	out, err := describe(text, gone)
	if errors.Is(err, errByHandKey) {
		return text, nil
	}
	return out, err
}
