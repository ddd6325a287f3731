package patch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/document"
)

// seedsKey is the path of the list of seeds.
const seedsTable, seedsList = "seeds", "uris"

// ErrByHandSeeds says that the seeds of a file cannot be edited safely, so that a person must do it.
var ErrByHandSeeds = errors.New("cannot edit the seeds of the file safely; edit seeds.uris by hand")

// Seeds returns the seeds that the text of a host file lists, as they are written.
func Seeds(text []byte) []string {
	return texts(document.Parse(text, "the file").Value(document.Path("").Child(seedsTable).Child(seedsList)))
}

// AddSeeds returns the text of a host file with more seeds. Seeds that it lists already are not added again.
func AddSeeds(text []byte, seeds []string) ([]byte, error) {
	before := document.Parse(text, "the file")
	if len(before.Faults) > 0 {
		return nil, fmt.Errorf("cannot add seeds to a file with faults: %s", before.Faults[0])
	}
	table := document.Path("").Child(seedsTable)
	list := table.Child(seedsList)
	known := texts(before.Value(list))
	added := slices.DeleteFunc(slices.Clone(seeds), func(s string) bool { return slices.Contains(known, s) })
	if len(added) == 0 {
		return text, nil
	}
	lines := strings.SplitAfter(strings.TrimRight(string(text), "\n")+"\n", "\n")
	switch {
	case before.Has(list):
		if !extend(lines, before.AtKey(list, document.Fault{}).Line-1, added) {
			return nil, ErrByHandSeeds
		}
	case before.Has(table):
		header := before.AtKey(table, document.Fault{}).Line - 1
		lines[header] += "uris = [\n" + items(added) + "]\n"
	default:
		lines = append(lines, "\n[seeds]\nuris = [\n"+items(added)+"]\n")
	}
	return checkSeeds(strings.Join(lines, ""), append(known, added...))
}

// RemoveSeed returns the text of a host file without a seed, as the file writes it.
func RemoveSeed(text []byte, seed string) ([]byte, error) {
	before := document.Parse(text, "the file")
	list := document.Path("").Child(seedsTable).Child(seedsList)
	known := texts(before.Value(list))
	i := slices.Index(known, seed)
	if len(before.Faults) > 0 || i < 0 {
		return nil, ErrByHandSeeds
	}
	lines := strings.SplitAfter(string(text), "\n")
	first := before.AtKey(list, document.Fault{}).Line - 1
	head, rest := strings.Join(lines[:first], ""), strings.Join(lines[first:], "")
	for _, quoted := range []string{document.TOML(seed), Literal(seed)} {
		at := strings.Index(rest, quoted)
		if at < 0 {
			continue
		}
		start, behind := rest[:at], strings.TrimLeft(rest[at+len(quoted):], " \t")
		if next, ok := strings.CutPrefix(behind, ","); ok {
			behind = strings.TrimLeft(next, " \t")
			if line := strings.LastIndexByte(start, '\n'); line >= 0 && strings.TrimSpace(start[line:]) == "" {
				start, behind = start[:line+1], strings.TrimPrefix(behind, "\n") // the seed had a line of its own
			}
		} else {
			start = strings.TrimSuffix(strings.TrimRight(start, " \t"), ",")
		}
		return checkSeeds(head+start+behind, slices.Delete(slices.Clone(known), i, i+1))
	}
	return nil, ErrByHandSeeds
}

// checkSeeds returns a text if it lists exactly these seeds.
func checkSeeds(text string, want []string) ([]byte, error) {
	after := document.Parse([]byte(text), "the file")
	got := Seeds([]byte(text))
	if len(after.Faults) > 0 || !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		return nil, ErrByHandSeeds
	}
	return []byte(text), nil
}
