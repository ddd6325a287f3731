package admin

import (
	"context"
	"errors"
	"net/http"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

// ReloadOrder says whether the configuration is to be put in force.
type ReloadOrder struct {
	DryRun bool `json:"dry_run,omitempty"` // only says what would happen
}

// Reloaded is what became of it.
type Reloaded struct {
	DryRun bool    `json:"dry_run"`
	Taken  bool    `json:"taken"`  // it is in force; false for a dry run, and when there are faults
	Faults []Fault `json:"faults"` // why it is not in force
	Plan   Plan    `json:"plan"`   // what it does, or would do; empty when there are faults
}

// Plan is what a new configuration does.
type Plan struct {
	Changes      []KeyChange `json:"changes"` // hold from the next visit on, at most 1000
	More         int         `json:"more"`    // that are not listed
	AtRestart    []KeyChange `json:"at_restart"`
	SeedsAdded   []string    `json:"seeds_added"`
	SeedsRemoved []string    `json:"seeds_removed"`
	DueNow       int64       `json:"due_now"` // URIs that are due at once and were not before
	Held         []string    `json:"held"`    // hosts that are held from now on, for their files are broken
	Released     []string    `json:"released"`
	Load         []HostLoad  `json:"load"`    // of the hosts that are touched
	Weighed      bool        `json:"weighed"` // false: there are more than Load has
	Names        *Names      `json:"names,omitempty"`
	Warnings     []Fault     `json:"warnings"`
}

// Names is what changed rules of names make of the known URIs; it is absent when no rule has changed.
type Names struct {
	Hosts  int          `json:"hosts"`  // whose rules are others
	URIs   int          `json:"uris"`   // on them
	Merged int          `json:"merged"` // become one with another
	Parted int          `json:"parted"` // part from one
	Whole  bool         `json:"whole"`  // false: not all were looked at
	Merges []NameChange `json:"merges"` // examples
	Splits []NameChange `json:"splits"`
	Text   string       `json:"text"`
}

// NameChange are two URIs that become one, or part.
type NameChange struct {
	A    string `json:"a"`
	B    string `json:"b"`
	Name string `json:"name"` // that they will have, or had, both
}

// KeyChange is a key whose value is another one.
type KeyChange struct {
	Host   string `json:"host,omitempty"` // whose file says so; empty is the main file
	Key    string `json:"key"`
	Before string `json:"before"`
	After  string `json:"after"`
	Origin string `json:"origin,omitempty"` // file and line
}

// HostLoad is what a host has to do in a day, and what its politeness carries.
type HostLoad struct {
	Host    string  `json:"host"`
	URIs    int64   `json:"uris"`
	Before  float64 `json:"before"` // visits a day that its URIs ask for
	After   float64 `json:"after"`
	Carries float64 `json:"carries"` // visits a day that its politeness carries
	Text    string  `json:"text"`
}

// reload reads the configuration again.
func (w *Window) reload(o ReloadOrder) (Reloaded, error) {
	out := Reloaded{DryRun: o.DryRun, Faults: []Fault{}}
	p, err := w.o.Crawler.Reload(o.DryRun, w.o.Now())
	var faults config.Faults
	if errors.As(err, &faults) {
		out.Faults = Faults(faults)
		return out, nil
	}
	out.Taken, out.Plan = err == nil && !o.DryRun, planOf(p)
	return out, err
}

func planOf(p whatif.Plan) Plan {
	out := Plan{
		Changes: changesOf(p.Changes), More: p.More, AtRestart: changesOf(p.AtRestart), SeedsAdded: p.SeedsAdded, SeedsRemoved: p.SeedsRemoved,
		DueNow: p.DueNow, Weighed: p.Complete, Warnings: Faults(p.Warnings),
	}
	if n := p.Names; n != nil {
		out.Names = &Names{
			Hosts: n.Hosts, URIs: n.URIs, Merged: n.Merged, Parted: n.Parted, Whole: n.Complete, Merges: namesOf(n.Merges), Splits: namesOf(n.Splits), Text: n.String(),
		}
	}
	for _, h := range p.Held {
		out.Held = append(out.Held, string(h))
	}
	for _, h := range p.Released {
		out.Released = append(out.Released, string(h))
	}
	for _, l := range p.Load {
		out.Load = append(out.Load, HostLoad{Host: string(l.Host), URIs: l.URIs, Before: l.Before, After: l.After, Carries: l.Capacity, Text: l.String()})
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

// reloadRoutes read the configuration again.
func reloadRoutes() []route {
	return []route{{
		method: "POST", path: api + "/reload", doc: "Reads the configuration again, says what it does, and puts it in force unless it is a dry run or has faults.",
		body: ReloadOrder{}, answer: Reloaded{}, serve: served((*Window).reload),
	}}
}

// Reload has the daemon read its configuration again.
func (c *Client) Reload(ctx context.Context, dryRun bool) (Reloaded, error) {
	return ask[Reloaded](ctx, c, http.MethodPost, "/reload", nil, ReloadOrder{DryRun: dryRun})
}
