package noise

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/digest"
)

// errByHand says that the text cannot be edited safely, so that a person must do it.
var errByHand = errors.New("cannot add the rules to the file safely; add them by hand")

// change is the table of the scrubbing rules.
const change = "change"

// addScrubRules returns the text of a host file with the rules added to its [change] table. Rules that the file has
// already are not added again. A mode that ignores rules is replaced by "scrubbed". The error is errByHand, or says
// that the text has faults.
func addScrubRules(text []byte, rules digest.Spec) ([]byte, error) {
	e, err := schema.Edit(text, "add rules to")
	if err != nil {
		return nil, err
	}
	table := schema.Path("").Child(change)
	if !e.Before.Has(table) {
		if len(text) > 0 && !strings.HasSuffix(string(text), "\n") {
			e.Lines = append(e.Lines, "\n")
		}
		e.Lines = append(e.Lines, "\n[change]\n")
		if len(text) == 0 {
			e.Lines = []string{"[change]\n"}
		}
		return checkRules(e.Before, strings.Join(e.Lines, "")+newKeys(rules, true), rules)
	}
	header := e.Line(table)
	if header < 0 || !strings.HasPrefix(strings.TrimSpace(e.Lines[header]), "[") {
		return nil, errByHand // dotted keys or an inline table
	}
	var missing digest.Spec
	var ok, ok2 bool
	_, missing.Regexes, ok = e.AddTo(table.Child("scrub"), rules.Regexes)
	if _, missing.Selectors, ok2 = e.AddTo(table.Child("scrub_css"), rules.Selectors); !ok || !ok2 {
		return nil, errByHand
	}
	mode := e.Before.Value(table.Child("mode"))
	if mode == "strict" {
		at := e.Line(table.Child("mode"))
		e.Lines[at] = strings.NewReplacer(`"strict"`, `"scrubbed"`, `'strict'`, `"scrubbed"`).Replace(e.Lines[at])
	}
	if !strings.HasSuffix(e.Lines[header], "\n") {
		e.Lines[header] += "\n"
	}
	e.Lines[header] += newKeys(missing, mode == nil)
	return checkRules(e.Before, strings.Join(e.Lines, ""), rules)
}

// newKeys returns the lines of keys that the file does not have: of rules, and of the mode.
func newKeys(r digest.Spec, mode bool) (lines string) {
	if mode {
		lines = "mode = \"scrubbed\"\n"
	}
	if len(r.Regexes) > 0 {
		lines += "scrub = [\n" + schema.ListItems(r.Regexes) + "]\n"
	}
	if len(r.Selectors) > 0 {
		lines += "scrub_css = [\n" + schema.ListItems(r.Selectors) + "]\n"
	}
	return lines
}

// checkRules returns a text if it has all rules and everything that the file had before.
func checkRules(before *schema.Document, text string, rules digest.Spec) ([]byte, error) {
	after := schema.Parse([]byte(text), "the file")
	table := schema.Path("").Child(change)
	if len(after.Faults) > 0 {
		return nil, fmt.Errorf("%w (%s)", errByHand, after.Faults[0])
	}
	for key, wanted := range map[string][]string{"scrub": rules.Regexes, "scrub_css": rules.Selectors} {
		now := schema.ListedTexts(after.Value(table.Child(key)))
		for _, r := range append(wanted, schema.ListedTexts(before.Value(table.Child(key)))...) {
			if !slices.Contains(now, r) {
				return nil, errByHand
			}
		}
	}
	return []byte(text), nil
}
