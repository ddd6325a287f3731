package api

import (
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

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
