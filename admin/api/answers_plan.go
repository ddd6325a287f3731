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
	DryRun bool           `json:"dry_run"`
	Taken  bool           `json:"in_force"` // it is in force; false for a dry run or if there are faults
	Faults []config.Fault `json:"faults"`   // why it is not in force
	Plan   whatif.Plan    `json:"plan"`     // its effect; empty if there are faults
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
