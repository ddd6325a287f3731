package crawler

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// UndoFailures wakes the hosts and makes the URIs due that suffered while our own network was down.
func UndoFailures(f *frontier.Frontier, suspects []Suspect, hosts []uri.Host, now time.Time) error {
	var due frontier.Selection
	for _, s := range suspects {
		hosts = append(hosts, s.URI.Host())
		if s.Queued {
			due.URIs = append(due.URIs, s.URI)
		}
	}
	for _, h := range hosts {
		if _, _, err := f.SteerHosts(now, string(h), frontier.HostAction{Verb: frontier.Wake}); err != nil {
			return fmt.Errorf("wake %s: %w", h, err)
		}
	}
	if len(due.URIs) > 0 {
		if _, _, err := f.Steer(now, due, frontier.Action{Verb: frontier.Force}, ""); err != nil {
			return fmt.Errorf("make the failed URIs due again: %w", err)
		}
	}
	return nil
}
