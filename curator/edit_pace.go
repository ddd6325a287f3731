package curator

import (
	"errors"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// paceKey is the key of the field that says how often the pages of a host are visited. It stands for one entry of
// [[wait]] for all types of content.
const paceKey = "wait"

// paceByHand is the value of that field for entries that a form cannot show.
const paceByHand = "by hand"

// errPaceByHand means that a file has entries of [[wait]] that a form would destroy.
var errPaceByHand = errors.New("the file has entries of [[wait]] that the form does not show; edit the text")

// errPace means that the value of the field is not understood.
var errPace = errors.New(`how often is written as "target 0.8", "target 0.8 min 1h" or "every 6h"`)

// paceIn returns how often a file says that the pages of its host are visited: "target 0.8" for that share of all
// versions, "target 0.8 min 1h" for that share but at most every hour, "every 6h" for always the same time, "" for as
// the main file says, or [paceByHand].
func paceIn(doc *schema.Document) string { return paceAt(doc, schema.Path("")) }

// paceAt is [paceIn] for the file or the refinement at a path.
func paceAt(doc *schema.Document, at schema.Path) string {
	if !doc.Has(at.Child(paceKey)) {
		return ""
	}
	wait, _ := doc.Setting(at, paceKey)
	tables, ok := wait.Tables("")
	if !ok || len(tables) != 1 {
		return paceByHand
	}
	entry, _ := tables[0].Value.(map[string]any)
	known := map[string]string{}
	for key, v := range entry {
		known[key] = formValue(v)
	}
	min, slower := known["min"]
	switch {
	case known["mime"] != ".*":
	case known["rule"] == "fixed" && known["every"] != "" && len(known) == 3:
		return "every " + known["every"]
	case known["rule"] != "learned" || known["capture_target"] == "":
	case len(known) == 3:
		return "target " + known["capture_target"]
	case len(known) == 4 && slower:
		return "target " + known["capture_target"] + " min " + min
	}
	return paceByHand
}

// setPace returns the text of a host file with another value of [paceIn].
func setPace(text []byte, value string) ([]byte, error) {
	before := paceIn(schema.Parse(text, "the file"))
	switch {
	case value == before || value == paceByHand:
		return text, nil
	case before == paceByHand:
		return nil, errPaceByHand
	case value == "":
		return unsetKey(text, paceKey)
	}
	rule, err := ruleOf(value)
	if err != nil {
		return nil, err
	}
	return setKey(text, paceKey, `[{ mime = ".*", rule = `+rule+` }]`)
}

// ruleOf returns a value of [paceIn] as TOML, behind "rule = ".
func ruleOf(value string) (string, error) {
	words := strings.Fields(value)
	switch {
	case len(words) == 2 && words[0] == "every":
		return `"fixed", every = ` + schema.TOML(words[1]), nil
	case len(words) == 2 && words[0] == "target", len(words) == 4 && words[0] == "target" && words[2] == "min":
	default:
		return "", errPace
	}
	share, err := strconv.ParseFloat(words[1], 64)
	if err != nil {
		return "", errPace
	}
	rule := `"learned", capture_target = ` + strconv.FormatFloat(share, 'f', -1, 64)
	if len(words) == 4 {
		rule += ", min = " + schema.TOML(words[3])
	}
	return rule, nil
}

// sectionsKey is the key of the field that says how often the seeds of a host are visited: its front page and sections.
const sectionsKey = "when.wait"

// The lines around the refinements of that field.
const (
	sectionsBegin = "# How often front page and sections are visited: written by the form, up to the end mark.\n"
	sectionsEnd   = "# End of how often front page and sections are visited.\n"
)

// errNoSeeds means that a file has no seeds to which a pace could apply.
var errNoSeeds = errors.New("the file lists no front page or section; add one first")

// sectionsIn returns how often a file says that its seeds are visited, as [paceIn].
func sectionsIn(text []byte) string {
	_, block, _ := cutBlock(string(text), sectionsBegin, sectionsEnd)
	doc := schema.Parse([]byte(block), "the file")
	first := schema.Path("").Child("when").Element(0)
	switch value := paceAt(doc, first); {
	case block == "":
		return ""
	case len(doc.Faults) > 0 || value == "":
		return paceByHand
	default:
		return value
	}
}

// setSections returns the text of a host file with another value of [sectionsIn], at its end: it overrides what is
// written before.
func setSections(text []byte, value string) ([]byte, error) {
	switch now := sectionsIn(text); {
	case value == now || value == paceByHand:
		return text, nil
	case now == paceByHand:
		return nil, errPaceByHand
	}
	before, _, behind := cutBlock(string(text), sectionsBegin, sectionsEnd)
	edited := withoutBlock(before, behind)
	if value != "" {
		edited += "\n" + sectionsBegin + sectionsEnd
	}
	return fillSections([]byte(edited), value)
}

// fillSections writes the refinements of a value of [sectionsIn] for the seeds that a file lists now. The block stays
// where it is.
func fillSections(text []byte, value string) ([]byte, error) {
	if value == "" || value == paceByHand {
		return text, nil
	}
	rule, err := ruleOf(value)
	if err != nil {
		return nil, err
	}
	before, _, behind := cutBlock(string(text), sectionsBegin, sectionsEnd)
	var seeds []string
	for _, s := range seedsIn(text) {
		if u, err := uri.Parse(s); err == nil {
			seeds = append(seeds, u.String())
		}
	}
	if len(seeds) == 0 {
		return nil, errNoSeeds
	}
	edited := []byte(before + sectionsBegin + refinements(seeds, "", rule) + sectionsEnd + behind)
	if doc := schema.Parse(edited, "the file"); len(doc.Faults) > 0 || sectionsIn(edited) != value {
		return nil, errByHandKey
	}
	return edited, nil
}

// overruled says which capture targets of a list of seeds still apply although the form sets a pace for all pages, or
// no longer apply because it sets one for the seeds later; "" if there are none.
func overruled(text []byte) string {
	own := goalsIn(text)
	sections, behind := strings.Index(string(text), sectionsBegin), strings.Index(string(text), goalsEnd)
	switch {
	case len(own) == 0:
		return ""
	case sections > behind:
		return "the capture targets that a list of seeds gave " + human.Count(len(own), "seed") +
			" no longer apply: how often front page and sections are visited was set later"
	case sections >= 0 || paceIn(schema.Parse(text, "the file")) != "":
		return "a list of seeds gave " + human.Count(len(own), "seed") + " a capture target of its own, which still " +
			"applies; what is set for front page and sections from now on overrides it"
	}
	return ""
}

// overruledNow returns what [overruled] says of the new text of a file, and did not say of the old one.
func overruledNow(f file, text []byte) []config.Fault {
	why := overruled(text)
	if why == "" || why == overruled(f.text) {
		return nil
	}
	return []config.Fault{{File: f.path, Key: paceKey, Problem: f.name + ": " + why}}
}
