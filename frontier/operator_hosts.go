package frontier

import (
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// HostVerb names an action of an operator on hosts.
type HostVerb string

// The verbs of [Frontier.SteerHosts].
const (
	// Pause stops hosts from handing out URIs until they are resumed. Visits in progress continue to their end.
	Pause HostVerb = "pause"
	// Resume ends a pause.
	Resume HostVerb = "resume"
	// Rest stops hosts from handing out URIs until a given time, at most 24 hours from now.
	Rest HostVerb = "rest"
	// Wake ends the rest of hosts, whatever its reason, and resets their count of failures in a row. Slots that sleep for
	// politeness continue to sleep.
	Wake HostVerb = "wake"
)

// HostVerbs returns all verbs for hosts.
func HostVerbs() []HostVerb { return []HostVerb{Pause, Resume, Rest, Wake} }

// HostAction is a verb with its time.
type HostAction struct {
	Verb  HostVerb
	Until time.Time // of Rest
}

func (a HostAction) check() error {
	switch a.Verb {
	case Pause, Resume, Wake:
		return nil
	case Rest:
		if a.Until.IsZero() {
			return invalidf("rest: the time is not given")
		}
		return nil
	}
	return invalidf("unknown verb %q; valid verbs: %q", a.Verb, HostVerbs())
}

// hostBatch is how many hosts are changed in one transaction.
const hostBatch = 200

// SteerHosts applies an action to all known hosts that match a pattern; see [HostMatches]. It returns how many hosts
// matched, and how many of them changed. The action is written to disk. The lock is free between one batch of two
// hundred hosts and the next.
func (f *Frontier) SteerHosts(now time.Time, pattern string, a HostAction) (matched, changed int64, err error) {
	if err := a.check(); err != nil {
		return 0, 0, fmt.Errorf("steer hosts of the frontier: %w", err)
	}
	var hosts []*host
	if h := f.hostNamed(uri.Host(pattern)); h != nil {
		hosts = []*host{h}
	} else if hosts, err = f.allHosts(); err != nil {
		return 0, 0, fmt.Errorf("steer hosts of the frontier: %w", err)
	}
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(h *host) bool { return !HostMatches(pattern, h.name) })
	err = updateAll(f, hosts, hostBatch, func(c *change, some []*host) error {
		n := int64(0)
		for _, h := range some {
			if !f.isKnownHost(h) {
				continue
			}
			d := c.draft(h.name)
			if a.apply(&d.state, now) {
				d.dirty = true
				n++
			}
		}
		c.after(func() { matched, changed = matched+int64(len(some)), changed+n })
		return nil
	})
	if err != nil {
		return matched, changed, fmt.Errorf("%s hosts of the frontier: %w", a.Verb, err)
	}
	return matched, changed, nil
}

// apply changes a host, and reports whether that made a difference.
func (a HostAction) apply(s *state, now time.Time) (changed bool) {
	paused, rest, asked, failures := s.paused, s.rest, s.asked, s.failures
	switch a.Verb {
	case Pause:
		if paused == 0 {
			paused = max(millis(now), 1)
		}
	case Resume:
		paused = 0
	case Rest:
		rest = max(rest, millis(earliest(a.Until, now.Add(maxRest))))
	case Wake:
		rest, asked, failures = min(rest, millis(now)), min(asked, millis(now)), 0
		s.asker = fingerprint{}
	}
	changed = paused != s.paused || rest != s.rest || asked != s.asked || failures != s.failures
	s.paused, s.rest, s.asked, s.failures = paused, rest, asked, failures
	if failures == 0 {
		s.reason = ""
	}
	return changed
}

// RefreshHosts calls [Options].Valence and Group again for some hosts, so that a new configuration applies at once to
// those that are not being visited. Hosts that are being visited get their slots when the visit ends. nil means all
// hosts.
func (f *Frontier) RefreshHosts(which func(uri.Host) bool) error {
	hosts, err := f.allHosts()
	if err != nil {
		return err
	}
	for some := range slices.Chunk(hosts, hostBatch) {
		if err := f.refit(some, which); err != nil {
			return err
		}
	}
	return nil
}

func (f *Frontier) refit(hosts []*host, which func(uri.Host) bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	for _, h := range hosts {
		if !f.isKnownHost(h) || which != nil && !which(h.name) {
			continue
		}
		s := h.clone()
		s.resizeSlots(f.o.Valence(h.name))
		f.joinGroup(h)
		f.setState(h, s)
	}
	return nil
}

// KnowsHost reports whether any host matches a pattern, as [HostMatches] says.
func (f *Frontier) KnowsHost(pattern string) bool {
	hosts, err := f.allHosts()
	return err == nil && slices.ContainsFunc(hosts, func(h *host) bool { return HostMatches(pattern, h.name) })
}
