package api

import (
	"fmt"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// SeedList is a list of seeds: CSV whose first line names the columns, or one URI on each line.
type SeedList struct {
	Text string `json:"text"`
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

	Committed Committed `json:"committed"` // by an import
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

// SeedsUndone says what was undone.
type SeedsUndone struct {
	What      string    `json:"what"`
	At        time.Time `json:"at"`
	Files     int       `json:"files"`
	Committed Committed `json:"committed"`
}
