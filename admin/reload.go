package admin

import (
	"errors"

	"github.com/arcrawl/arcrawl/admin/api"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

// reload loads the configuration again.
func (w *Window) reload(o api.ReloadOrder) (api.Reloaded, error) {
	out := api.Reloaded{DryRun: o.DryRun, Faults: []api.Fault{}}
	var p whatif.Plan
	var err error
	if s := o.Staged; s != nil {
		out.DryRun = true
		p, err = w.o.Crawler.Plan(stagedOf(*s), w.o.Now())
	} else {
		p, err = w.o.Crawler.Reload(o.DryRun, w.o.Now())
	}
	var faults config.Faults
	if errors.As(err, &faults) {
		out.Faults = api.Faults(faults)
		return out, nil
	}
	out.Taken, out.Plan = err == nil && !out.DryRun, planOf(p)
	return out, err
}

func stagedOf(s api.Staged) whatif.Staged {
	out := whatif.Staged{Hosts: map[string][]byte{}, Only: s.Only}
	if s.Main != "" {
		out.Main = []byte(s.Main)
	}
	for _, h := range s.Hosts {
		out.Hosts[h.Name] = []byte(h.Text)
	}
	return out
}

func planOf(p whatif.Plan) api.Plan {
	out := api.Plan{
		Changes: changesOf(p.Changes),
		More:    p.More, AtRestart: changesOf(p.AtRestart), SeedsAdded: p.SeedsAdded, SeedsRemoved: p.SeedsRemoved,
		DueNow: p.DueNow, Weighed: p.Complete, Warnings: api.Faults(p.Warnings),
	}
	if n := p.Names; n != nil {
		out.Names = &api.Names{
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
			api.HostLoad{
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

func namesOf(list []whatif.NameChange) []api.NameChange {
	out := make([]api.NameChange, len(list))
	for i, c := range list {
		out[i] = api.NameChange{A: c.A.String(), B: c.B.String(), Name: c.Name}
	}
	return out
}

func changesOf(list []config.KeyChange) []api.KeyChange {
	out := make([]api.KeyChange, len(list))
	for i, c := range list {
		out[i] = api.KeyChange{Host: string(c.Host), Key: c.Key, Before: c.Before, After: c.After, Origin: c.Origin}
	}
	return out
}

// reloadRoutes returns the request that reloads the configuration.
func reloadRoutes() []route {
	return []route{{
		method: "POST", path: api.Base + "/reload",
		doc:  "Reloads the configuration and returns its effect. It comes into force unless it is a dry run or has faults.",
		body: api.ReloadOrder{}, answer: api.Reloaded{}, serve: served((*Window).reload),
	}}
}
