package crawler

import (
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

// ConfigStatus says since when the configuration is in force, and how the last attempt to load another one ended.
type ConfigStatus struct {
	At     time.Time      // since when it is in force; zero = since the start
	Tried  time.Time      // of the last attempt; zero = there was none
	Faults []config.Fault // why the attempt was refused, or which host files are not in force as they are
}

// ConfigStatus returns the status of the configuration.
func (c *Crawler) ConfigStatus() ConfigStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.config
	if len(s.Faults) == 0 {
		s.Faults = c.parts.Config.Current().Broken
	}
	return s
}

// Reload loads the configuration again, returns what it changes, and puts it in force unless it is a dry run. A
// configuration is in force whole or not at all. If a file that is in force is broken now, nothing changes and the
// error is [config.Faults]. A host file that was never valid holds its host and does not stop the others.
//
// Known URIs keep their due times: new bounds of a wait apply from the next visit on, and a known seed is not visited
// sooner. Visits in progress end under the configuration that they began with. Concurrent calls run one after the
// other.
func (c *Crawler) Reload(dryRun bool, now time.Time) (whatif.Plan, error) {
	c.reloading.Lock()
	defer c.reloading.Unlock()
	current := c.parts.Config.Current()
	loaded, err := whatif.Load(current, c.parts.Accept)
	if err != nil {
		if !dryRun {
			c.refuseConfig(current, loaded, err, now)
		}
		return whatif.Plan{}, err
	}
	plan, successor, err := whatif.Compare(c.parts.Frontier, c.robots, current, loaded, now)
	if err != nil || dryRun {
		return plan, err
	}
	return plan, c.putInForce(successor, plan, now)
}

// Plan returns what a staged configuration would change. It changes nothing.
func (c *Crawler) Plan(s whatif.Staged, now time.Time) (whatif.Plan, error) {
	s.Accept = c.parts.Accept
	return whatif.PlanStaged(c.parts.Frontier, c.robots, c.parts.Config.Current(), s, now)
}

// refuseConfig records that a configuration was refused. Hosts whose files were never valid are held all the same.
func (c *Crawler) refuseConfig(current, refused *config.Config, err error, now time.Time) {
	var faults config.Faults
	errors.As(err, &faults)
	if refused != nil && len(refused.HeldHosts()) > 0 {
		c.parts.Config.Replace(current.WithHeld(refused))
	}
	c.mu.Lock()
	c.config.Tried, c.config.Faults = now, faults
	c.mu.Unlock()
	for _, f := range faults {
		c.parts.Log.Error().Str("fault", f.String()).Msg("configuration refused: the last valid one stays in force")
	}
}

// putInForce replaces the configuration, and notifies those who keep parts of it.
func (c *Crawler) putInForce(successor *config.Config, plan whatif.Plan, now time.Time) error {
	c.parts.Config.Replace(successor)
	c.mu.Lock()
	c.config = ConfigStatus{At: now, Tried: now}
	c.mu.Unlock()
	c.logReload(successor, plan)
	if err := c.parts.SaveConfig(successor); err != nil {
		c.parts.Log.Warn().Err(err).
			Msg("could not copy the host files in force: a file that is broken at the next start holds its host")
	}
	if _, err := c.AddSeeds(now); err != nil {
		return fmt.Errorf("add the seeds: %w", err)
	}
	if err := c.parts.Frontier.RefreshHosts(nil); err != nil {
		return fmt.Errorf("apply the valence of hosts: %w", err)
	}
	signal(c.scopeChanged)
	signal(c.wake)
	return nil
}

// logReload logs what a new configuration changes.
func (c *Crawler) logReload(successor *config.Config, plan whatif.Plan) {
	for _, f := range successor.Broken {
		c.parts.Log.Error().Str("fault", f.String()).
			Msg("host file was never valid: its host is held until the file is fixed")
	}
	if !plan.Empty() {
		c.parts.Log.Info().Int("keys", len(plan.Changes)+plan.More).Int("seeds", len(plan.SeedsAdded)).
			Int64("due_now", plan.DueNow).Str("digest", successor.Digest).Msg("new configuration is in force")
	}
	if len(plan.SeedsRemoved) > 0 {
		c.parts.Log.Warn().Strs("seeds", plan.SeedsRemoved[:min(len(plan.SeedsRemoved), 10)]).
			Int("removed", len(plan.SeedsRemoved)).
			Msg("seeds are no longer listed: what only they bring into scope is not visited; due times are kept")
	}
	if n := plan.Names; n != nil {
		c.parts.Log.Info().Int("hosts", n.Hosts).Int("uris", n.URIs).Int("merged", n.Merged).Int("parted", n.Parted).
			Bool("whole", n.Complete).Msg("naming rules changed: known URIs are merged or split")
	}
	for _, change := range plan.AtRestart {
		c.parts.Log.Warn().Str("key", change.Key).Msg("key changed: it takes effect when the daemon starts again")
	}
}
