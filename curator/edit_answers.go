// This file has the orders and the answers of the requests that change files, named as in the openapi.json of the wing.

package curator

import (
	"fmt"
	"strconv"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

// EditFiles lists the files of the configuration.
type EditFiles struct {
	Main  string     `json:"main"` // path of the main file
	Dir   string     `json:"dir"`  // folder of the host files
	Files []EditName `json:"files"`

	Fields []EditField `json:"fields"` // the settings that several files get at once
}

// EditName names a host file.
type EditName struct {
	Name  string      `json:"name"` // without folder
	Host  string      `json:"host"` // "" if the file has faults
	About config.Site `json:"about"`
}

// EditFile is a file of the configuration as it is on disk.
type EditFile struct {
	Name    string      `json:"name"` // of a host file, without folder; "" is the main file
	Path    string      `json:"path"`
	Host    string      `json:"host"`    // of a host file
	Exists  bool        `json:"exists"`  // false: the text is a template
	Digest  string      `json:"digest"`  // of the text on disk; "" if there is no file
	Text    string      `json:"text"`    //
	Fields  []EditField `json:"fields"`  // the settings of a form; none for the main file, or if the text is not TOML
	Problem string      `json:"problem"` // why the file cannot be edited here; "" if it can
}

// EditField is a setting that a form shows.
type EditField struct {
	Section string   `json:"section"` // heading above it
	Label   string   `json:"label"`   // in words
	Key     string   `json:"key"`
	Doc     string   `json:"doc"`
	Type    string   `json:"type"`              // in words
	Kind    string   `json:"kind"`              // "text", "row", "lines", "choice", "pace" or "seeds"
	Choices []string `json:"choices,omitempty"` // of a choice
	Value   string   `json:"value"`             // as people write it; a list has one element on each line; of seeds JSON
	Set     bool     `json:"set"`               // the file sets it
	Default string   `json:"default"`           // in force while the file does not set it
}

// EditOrder is a new text of a file.
type EditOrder struct {
	Name   string `json:"name"`
	Digest string `json:"digest"` // of the text on disk that was edited
	Text   string `json:"text"`
	// Settings are values by key, that are set in the text. An empty one removes the setting.
	Settings map[string]string `json:"settings,omitempty"`
	// Remove takes the file out of the configuration: it is renamed.
	Remove bool `json:"remove,omitempty"`
}

// EditPlan holds a new text of a file, with its faults and effect.
type EditPlan struct {
	Path    string         `json:"path"`
	Text    string         `json:"text"`   // with the settings
	Fields  []EditField    `json:"fields"` // of the text
	Diff    string         `json:"diff"`   // from the text on disk; "" if there is no difference
	Faults  []config.Fault `json:"faults"` // why it cannot be saved
	Plan    *whatif.Plan   `json:"plan,omitempty"`
	OnDisk  *EditOnDisk    `json:"on_disk,omitempty"` // set if somebody else has changed the file
	Problem string         `json:"problem,omitempty"` // why a setting cannot be set, in words
}

// EditOnDisk is the text of a file that somebody else has changed.
type EditOnDisk struct {
	Exists bool   `json:"exists"`
	Digest string `json:"digest"`
	Text   string `json:"text"`
}

// EditSaved says what was written. Nothing was, unless saved is true.
type EditSaved struct {
	Saved     bool          `json:"saved"`
	File      string        `json:"file"`
	Added     int           `json:"added"`   // lines
	Removed   int           `json:"removed"` // lines
	Committed api.Committed `json:"committed"`
}

// How a setting of several files is changed.
const (
	manySet    = "set"    // to the value; an empty one removes the setting
	manyAdd    = "add"    // the elements of the value to a list
	manyRemove = "remove" // the elements of the value from a list
)

// ManyOrder changes settings in several host files.
type ManyOrder struct {
	Files    []string      `json:"files"` // names, without folder
	Settings []ManySetting `json:"settings"`
	Digest   string        `json:"digest,omitempty"` // of the plan that is saved
}

// ManySetting is a change of a setting.
type ManySetting struct {
	Key   string `json:"key"`
	How   string `json:"how"`   // "set", "add" or "remove"
	Value string `json:"value"` // as people write it; a list has one element on each line
}

// ManyPlan says what a change of several host files does. Nothing is written unless saved is true.
type ManyPlan struct {
	Files  int            `json:"files"`       // that change
	Same   int            `json:"already_set"` // that have the settings already
	Left   []ManyLeft     `json:"skipped"`     // that cannot be changed this way; they stay unchanged
	Diffs  []ManyDiff     `json:"diffs"`       // of the first 20 files
	Faults []config.Fault `json:"faults"`
	Plan   *whatif.Plan   `json:"plan,omitempty"`
	Digest string         `json:"digest"` // of the old and new texts

	Saved     bool          `json:"saved"`
	Committed api.Committed `json:"committed"`
}

// ManyLeft is a file that stays unchanged.
type ManyLeft struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// ManyDiff is the change of a file.
type ManyDiff struct {
	Name string `json:"name"`
	Diff string `json:"diff"`
}

// SeedPlan says what a list of seeds changes in the host files.
type SeedPlan struct {
	New      int `json:"new"`       // seeds
	Changed  int `json:"changed"`   // known seeds of which the list says something new
	Known    int `json:"known"`     // seeds of which it says nothing new
	Faulty   int `json:"faulty"`    // lines
	Files    int `json:"files"`     // host files to write
	NewFiles int `json:"new_files"` // of them

	Seeds  []PlannedSeed `json:"seeds"`  // at most 1000 new and 1000 changed ones
	Faults []ListFault   `json:"faults"` // at most 1000

	Committed api.Committed `json:"committed"` // by an import

	Texts map[string][]byte `json:"-"` // new texts of host files, by name
}

// PlannedSeed is a seed of a list.
type PlannedSeed struct {
	URI   string      `json:"uri"`
	State string      `json:"state"` // "new" or "changed"
	Line  int         `json:"line"`
	About config.Site `json:"about"`
}

// ListFault is a mistake in a list.
type ListFault struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"` // of the first character of the value
	Field   string `json:"field,omitempty"`
	Value   string `json:"value,omitempty"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

// String returns line:column: field: "value" problem; remedy.
func (f ListFault) String() string {
	what := ""
	if f.Field != "" {
		what = f.Field + ": "
	}
	if f.Value != "" {
		what += strconv.Quote(f.Value) + " "
	}
	return fmt.Sprintf("%d:%d: %s%s; %s", f.Line, f.Column, what, f.Problem, f.Remedy)
}
