package crawler_test

import (
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/uri"
)

// toldPlan returns a plan as stories have it in JSON: without warnings, with the numbers behind the load of a host.
func toldPlan(p whatif.Plan) any {
	type load struct {
		Host           uri.Host `json:"host"`
		URIs           int64    `json:"uris"`
		Before         float64  `json:"before"`
		After          float64  `json:"after"`
		CapacityBefore float64  `json:"capacity_before"`
		Capacity       float64  `json:"capacity"`
		Shorter        int64    `json:"shorter"`
		Text           string   `json:"-"`
	}
	type pair struct {
		A, B uri.URI
		Name string
	}
	type names struct {
		Hosts, URIs, Merged, Parted int
		Merges, Splits              []pair
		Complete                    bool
	}
	var out struct {
		Changes      []config.KeyChange `json:"changes"`
		AtRestart    []config.KeyChange `json:"at_restart,omitempty"`
		SeedsAdded   []string           `json:"seeds_added,omitempty"`
		SeedsRemoved []string           `json:"seeds_removed,omitempty"`
		DueNow       int64              `json:"due_now"`
		Held         []uri.Host         `json:"held,omitempty"`
		Released     []uri.Host         `json:"released,omitempty"`
		Load         []load             `json:"load,omitempty"`
		Complete     bool               `json:"load_complete"`
		Names        *names             `json:"names,omitempty"`
	}
	out.Changes, out.AtRestart = append(out.Changes, p.Changes...), p.AtRestart
	out.SeedsAdded, out.SeedsRemoved, out.DueNow = p.SeedsAdded, p.SeedsRemoved, p.DueNow
	out.Held, out.Released, out.Complete = p.Held, p.Released, p.Complete
	for _, l := range p.Load {
		out.Load = append(out.Load, load(l))
	}
	if n := p.Names; n != nil {
		out.Names = &names{Hosts: n.Hosts, URIs: n.URIs, Merged: n.Merged, Parted: n.Parted, Complete: n.Complete}
		for _, c := range n.Merges {
			out.Names.Merges = append(out.Names.Merges, pair(c))
		}
		for _, c := range n.Splits {
			out.Names.Splits = append(out.Names.Splits, pair(c))
		}
	}
	return out
}
