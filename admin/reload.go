package admin

import (
	"errors"

	"github.com/arcrawl/arcrawl/admin/access"
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
		p, err = w.o.Crawler.Plan(api.StagedOf(*s), w.o.Now())
	} else {
		p, err = w.o.Crawler.Reload(o.DryRun, w.o.Now())
	}
	var faults config.Faults
	if errors.As(err, &faults) {
		out.Faults = api.Faults(faults)
		return out, nil
	}
	out.Taken, out.Plan = err == nil && !out.DryRun, api.PlanOf(p)
	return out, err
}

// reloadRoutes returns the request that reloads the configuration.
func reloadRoutes() []Route {
	return []Route{{
		Method: "POST", Path: api.Base + "/reload", Needs: access.Operate,
		Doc:  "Reloads the configuration and returns its effect. It comes into force unless it is a dry run or has faults.",
		Body: api.ReloadOrder{}, Answer: api.Reloaded{}, Serve: Served((*Window).reload),
	}}
}
