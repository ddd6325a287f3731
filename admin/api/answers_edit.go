package api

import (
	"fmt"
	"strconv"
	"time"

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
	Key     string   `json:"key"`
	Doc     string   `json:"doc"`
	Type    string   `json:"type"`              // in words
	Kind    string   `json:"kind"`              // "text", "lines" or "choice"
	Choices []string `json:"choices,omitempty"` // of a choice
	Value   string   `json:"value"`             // as people write it; a list has one element on each line
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
	Path    string      `json:"path"`
	Text    string      `json:"text"`   // with the settings
	Fields  []EditField `json:"fields"` // of the text
	Diff    string      `json:"diff"`   // from the text on disk; "" if there is no difference
	Faults  []Fault     `json:"faults"` // why it cannot be saved
	Plan    *Plan       `json:"plan,omitempty"`
	OnDisk  *EditOnDisk `json:"on_disk,omitempty"` // set if somebody else has changed the file
	Problem string      `json:"problem,omitempty"` // why a setting cannot be set, in words
}

// EditOnDisk is the text of a file that somebody else has changed.
type EditOnDisk struct {
	Exists bool   `json:"exists"`
	Digest string `json:"digest"`
	Text   string `json:"text"`
}

// EditSaved says what was written. Nothing was, unless saved is true.
type EditSaved struct {
	Saved     bool      `json:"saved"`
	File      string    `json:"file"`
	Added     int       `json:"added"`   // lines
	Removed   int       `json:"removed"` // lines
	Committed Committed `json:"committed"`
}

// Committed says whether a change of files is in the git repository that holds them. It is empty without admin.git.
type Committed struct {
	Commit  string `json:"commit,omitempty"`  // short name
	Problem string `json:"problem,omitempty"` // why the change could not be committed
}

// How a setting of several files is changed.
const (
	ManySet    = "set"    // to the value; an empty one removes the setting
	ManyAdd    = "add"    // the elements of the value to a list
	ManyRemove = "remove" // the elements of the value from a list
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
	Files  int        `json:"files"`       // that change
	Same   int        `json:"already_set"` // that have the settings already
	Left   []ManyLeft `json:"skipped"`     // that cannot be changed this way; they stay unchanged
	Diffs  []ManyDiff `json:"diffs"`       // of the first 20 files
	Faults []Fault    `json:"faults"`
	Plan   *Plan      `json:"plan,omitempty"`
	Digest string     `json:"digest"` // of the old and new texts

	Saved     bool      `json:"saved"`
	Committed Committed `json:"committed"`
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

// ScrubRule is a rule that hides a part of the pages of a host, so that it does not count as a change.
type ScrubRule struct {
	Kind string `json:"kind"` // "scrub": an expression; "scrub_css": a selector
	Rule string `json:"rule"`
}

// IgnoreWish names a row of a comparison that should not count as a difference.
type IgnoreWish struct {
	URI    string `json:"uri"`
	Before string `json:"before"` // timestamps of the versions
	At     string `json:"at"`
	What   string `json:"what"` // "text" or "source"
	Left   string `json:"left"` // the whole text of the row
	Right  string `json:"right"`
}

// IgnoreProposal holds rules that hide the difference, and no main content.
type IgnoreProposal struct {
	Rules   []ScrubRule `json:"rules"`
	Problem string      `json:"problem,omitempty"` // why there is no rule
}

// IgnoreRules are rules for the host of a URI.
type IgnoreRules struct {
	URI   string      `json:"uri"`
	Rules []ScrubRule `json:"rules"`
	// FileDigest is the digest of the host file that the preview was made for. Only saving needs it.
	FileDigest string `json:"file_digest,omitempty"`
}

// IgnorePreview shows what rules would have hidden, and what saving them would change.
type IgnorePreview struct {
	Versions []HiddenParts `json:"versions"`     // the newest versions of the URI, newest first
	Pairs    int           `json:"compared"`     // versions that were compared with the one before
	Differ   int           `json:"differ"`       // of these, how many differ now
	Left     int           `json:"still_differ"` // how many would still differ

	File       string `json:"file"`        // the host file
	FileDigest string `json:"file_digest"` // of its text now
	Diff       string `json:"diff"`        // of the file
	Plan       Plan   `json:"plan"`        // the effect of the changed file on the crawl
}

// HiddenParts are the parts of a version that rules hide.
type HiddenParts struct {
	Date    time.Time `json:"date"`
	Parts   int       `json:"parts"`
	Samples []string  `json:"samples"` // the first parts, shortened
	Problem string    `json:"problem,omitempty"`
}

// IgnoreSaved says where rules were written.
type IgnoreSaved struct {
	File      string    `json:"file"`
	Committed Committed `json:"committed"`
}

// Noise lists pages that differ at each fetch without being new.
type Noise struct {
	Pages []NoisyPage `json:"pages"`
	Next  string      `json:"next,omitempty"` // the cursor of the rest; empty = there is none
}

// NoisyPage is a page that differs at each fetch.
type NoisyPage struct {
	URI       string     `json:"uri"`
	Why       string     `json:"why"` // restless, noisy, or what its last visits suggest
	Visits    int        `json:"visits"`
	Versions  int        `json:"versions"`
	LastVisit *time.Time `json:"last_visit,omitempty"`
	Wait      Seconds    `json:"wait_seconds"` // from the last visit to the next one
	// Rules leave out what differs. Nobody has accepted them yet; until then they decide only when the page is visited.
	Rules []ScrubRule `json:"rules,omitempty"`
}

// IgnorePage names a page whose noise should not count as a change.
type IgnorePage struct {
	URI string `json:"uri"`
}

// ReloadOrder is an order to reload the configuration.
type ReloadOrder struct {
	DryRun bool    `json:"dry_run,omitempty"` // only return the effect
	Staged *Staged `json:"staged,omitempty"`  // return the effect of this configuration; change nothing
}

// Staged holds the texts of a configuration that is not in force.
type Staged struct {
	Main  string       `json:"main,omitempty"` // text of the main file; absent = the one in force
	Hosts []StagedHost `json:"hosts"`
	Only  bool         `json:"partial,omitempty"` // the other host files in force stay
}

// StagedHost is a host file that is not in force.
type StagedHost struct {
	Name string `json:"name"` // of the file, without folder
	Text string `json:"text"`
}

// Reloaded is the result of a reload.
type Reloaded struct {
	DryRun bool    `json:"dry_run"`
	Taken  bool    `json:"in_force"` // it is in force; false for a dry run or if there are faults
	Faults []Fault `json:"faults"`   // why it is not in force
	Plan   Plan    `json:"plan"`     // its effect; empty if there are faults
}

// Plan is the effect of a new configuration.
type Plan struct {
	Changes      []KeyChange `json:"changes"` // apply from the next visit on, at most 1000
	More         int         `json:"more"`    // number of further changes
	AtRestart    []KeyChange `json:"at_restart"`
	SeedsAdded   []string    `json:"seeds_added"`
	SeedsRemoved []string    `json:"seeds_removed"`
	DueNow       int64       `json:"due_now"` // URIs that become due now
	Held         []string    `json:"held"`    // hosts that are held because their files have faults
	Released     []string    `json:"released"`
	Load         []HostLoad  `json:"load"`          // load of the affected hosts
	Weighed      bool        `json:"load_complete"` // false: more hosts are affected
	Names        *Names      `json:"names,omitempty"`
	Warnings     []Fault     `json:"warnings"`
}

// Names is the effect of changed name rules on known URIs. It is absent if no rule changed.
type Names struct {
	Hosts  int          `json:"hosts"`    // with changed rules
	URIs   int          `json:"uris"`     // on these hosts
	Merged int          `json:"merged"`   // get the name of another URI
	Parted int          `json:"split"`    // no longer share a name with another URI
	Whole  bool         `json:"complete"` // false: not all URIs were checked
	Merges []NameChange `json:"merges"`   // examples
	Splits []NameChange `json:"splits"`
	Text   string       `json:"text"`
}

// NameChange is a pair of URIs that get the same name, or no longer share one.
type NameChange struct {
	A    string `json:"uri"`
	B    string `json:"other"`
	Name string `json:"name"` // the common name
}

// KeyChange is a key with a changed value.
type KeyChange struct {
	Host   string `json:"host,omitempty"` // host of the file; empty for the main file
	Key    string `json:"key"`
	Before string `json:"before"`
	After  string `json:"after"`
	Origin string `json:"origin,omitempty"` // file and line
}

// HostLoad compares the visits a day that a host's URIs ask for with those that its politeness allows.
type HostLoad struct {
	Host    string  `json:"host"`
	URIs    int64   `json:"uris"`
	Before  float64 `json:"before"` // visits a day that its URIs ask for
	After   float64 `json:"after"`
	Carries float64 `json:"capacity"` // visits a day that its politeness allows
	Text    string  `json:"text"`
}

// StagedOf returns the staged texts of an order.
func StagedOf(s Staged) whatif.Staged {
	out := whatif.Staged{Hosts: map[string][]byte{}, Only: s.Only}
	if s.Main != "" {
		out.Main = []byte(s.Main)
	}
	for _, h := range s.Hosts {
		out.Hosts[h.Name] = []byte(h.Text)
	}
	return out
}

// PlanOf returns a plan as an answer.
func PlanOf(p whatif.Plan) Plan {
	out := Plan{
		Changes: changesOf(p.Changes),
		More:    p.More, AtRestart: changesOf(p.AtRestart), SeedsAdded: p.SeedsAdded, SeedsRemoved: p.SeedsRemoved,
		DueNow: p.DueNow, Weighed: p.Complete, Warnings: Faults(p.Warnings),
	}
	if n := p.Names; n != nil {
		out.Names = &Names{
			Hosts: n.Hosts, URIs: n.URIs, Merged: n.Merged, Parted: n.Parted, Whole: n.Complete, Merges: namesOf(n.Merges),
			Splits: namesOf(n.Splits), Text: n.String(),
		}
	}
	for _, h := range p.Held {
		out.Held = append(out.Held, string(h))
	}
	for _, h := range p.Released {
		out.Released = append(out.Released, string(h))
	}
	for _, l := range p.Load {
		out.Load = append(
			out.Load,
			HostLoad{
				Host:    string(l.Host),
				URIs:    l.URIs,
				Before:  l.Before,
				After:   l.After,
				Carries: l.Capacity,
				Text:    l.String(),
			},
		)
	}
	return out
}

func namesOf(list []whatif.NameChange) []NameChange {
	out := make([]NameChange, len(list))
	for i, c := range list {
		out[i] = NameChange{A: c.A.String(), B: c.B.String(), Name: c.Name}
	}
	return out
}

func changesOf(list []config.KeyChange) []KeyChange {
	out := make([]KeyChange, len(list))
	for i, c := range list {
		out[i] = KeyChange{Host: string(c.Host), Key: c.Key, Before: c.Before, After: c.After, Origin: c.Origin}
	}
	return out
}
