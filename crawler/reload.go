package crawler

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/frontier"
)

// heldRest is how long a held host rests before it is looked at again. Its URIs keep their due times.
const heldRest = time.Minute

// Loading is what became of the configuration: since when the one in force is, and how the last attempt to load another
// one ended.
type Loading struct {
	At     time.Time      // since when it is in force
	Tried  time.Time      // of the last attempt; zero if there was none
	Faults []config.Fault // why that one was refused, or which host files are not in force as they are
}

// Loading tells how the configuration stands.
func (c *Crawler) Loading() Loading {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.loading
	if len(l.Faults) == 0 {
		l.Faults = c.rooms.Config.Current().Broken
	}
	return l
}

// Reload reads the configuration again, says what it will do, and puts it in force unless it is a dry run. It is taken
// whole or not at all: when a file that is in force is broken now, nothing changes and the error is [config.Faults]. A host
// file that was never good holds its host and does not stop the others.
//
// Known URIs keep their due times whatever changes: new bounds of a wait are for the next visit, and a seed that is known
// already is not visited sooner. Visits in progress end under the configuration that they began with. Calls are made one
// after the other.
func (c *Crawler) Reload(dryRun bool, now time.Time) (whatif.Plan, error) {
	c.reloading.Lock()
	defer c.reloading.Unlock()
	current := c.rooms.Config.Current()
	next, err := loadOver(current)
	if err != nil {
		c.refused(current, next, err, dryRun, now)
		return whatif.Plan{}, err
	}
	next, later := current.Succeed(next)
	plan, err := whatif.Compare(c.rooms.Frontier, c.robots, current, next, now)
	plan.AtRestart = later
	if err != nil || dryRun {
		return plan, err
	}
	return plan, c.putInForce(next, plan, now)
}

// loadOver loads what stands on disk in the place of the configuration in force. The error is [config.Faults]; the
// configuration is then what could be had without the files at fault, nil if that is nothing.
func loadOver(current *config.Config) (*config.Config, error) {
	inForce := map[string][]byte{}
	for _, f := range current.HostFiles() {
		inForce[f.Name] = f.Data
	}
	next, err := config.LoadKept(current.Path, func(_, name string) ([]byte, bool) {
		data, ok := inForce[name]
		return data, ok
	})
	if err != nil {
		return nil, err
	}
	for _, f := range next.Broken {
		if _, was := inForce[filepath.Base(f.File)]; was {
			return next, config.Faults(next.Broken)
		}
	}
	return next, nil
}

// refused notes that a configuration was refused. Hosts whose files were never good are held all the same.
func (c *Crawler) refused(current, attempt *config.Config, err error, dryRun bool, now time.Time) {
	if dryRun {
		return
	}
	var faults config.Faults
	errors.As(err, &faults)
	if attempt != nil && len(attempt.HeldHosts()) > 0 {
		c.rooms.Config.Replace(current.WithHeld(attempt))
	}
	c.mu.Lock()
	c.loading.Tried, c.loading.Faults = now, faults
	c.mu.Unlock()
	for _, f := range faults {
		c.rooms.Log.Error().Str("fault", f.String()).Msg("the configuration was not taken: the last good one stays in force")
	}
}

// putInForce replaces the configuration, and tells those who keep something of it.
func (c *Crawler) putInForce(next *config.Config, plan whatif.Plan, now time.Time) error {
	c.rooms.Config.Replace(next)
	c.mu.Lock()
	c.loading = Loading{At: now, Tried: now}
	c.mu.Unlock()
	for _, f := range next.Broken {
		c.rooms.Log.Error().Str("fault", f.String()).Msg("a host file was never good: its host is held until it is mended")
	}
	if !plan.Empty() {
		c.rooms.Log.Info().Int("keys", len(plan.Changes)+plan.More).Int("seeds", len(plan.SeedsAdded)).Int64("due_now", plan.DueNow).
			Str("digest", next.Digest).Msg("a new configuration is in force")
	}
	if n := plan.Names; n != nil {
		c.rooms.Log.Info().Int("hosts", n.Hosts).Int("uris", n.URIs).Int("merged", n.Merged).Int("parted", n.Parted).Bool("whole", n.Complete).
			Msg("rules of names have changed: known URIs become one, or part")
	}
	for _, x := range plan.AtRestart {
		c.rooms.Log.Warn().Str("key", x.Key).Msg("this key has changed and needs a restart of the daemon")
	}
	if c.rooms.Keep != nil {
		if err := c.rooms.Keep(next); err != nil {
			c.rooms.Log.Warn().Err(err).Msg("the host files in force could not be copied: a file that is broken at the next start holds its host")
		}
	}
	if _, err := c.AddSeeds(now); err != nil {
		return fmt.Errorf("add the seeds: %w", err)
	}
	if err := c.rooms.Frontier.RefreshHosts(); err != nil {
		return fmt.Errorf("give the hosts their valence: %w", err)
	}
	leave(c.wake)
	return nil
}

// standBack gives a claim back because its host is held, and lets the host rest for a while.
func (c *Crawler) standBack(claim frontier.Claim, now time.Time) error {
	host := string(claim.Record.URI.Host())
	if _, _, err := c.rooms.Frontier.SteerHosts(now, host, frontier.HostAction{Verb: frontier.Rest, Until: now.Add(heldRest)}); err != nil {
		return fmt.Errorf("let the held host %s rest: %w", host, err)
	}
	if err := c.rooms.Frontier.Release(claim, now); err != nil {
		return fmt.Errorf("give back %s: %w", claim.Record.URI, err)
	}
	return nil
}
