package api

import (
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

// Committed says whether a change of files is in the git repository that holds them. It is empty without admin.git.
type Committed struct {
	Commit  string `json:"commit,omitempty"`  // short name
	Problem string `json:"problem,omitempty"` // why the change could not be committed
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
