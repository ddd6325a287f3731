package crawler

import (
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of what a plan looks at when rules of names change. Of each URI some 200 bytes are remembered meanwhile.
const (
	maxNamesLooked  = 100_000
	maxNamesTime    = 5 * time.Second
	maxNameExamples = 10
)

// PlannedNames is what changed rules of names make of the known URIs.
type PlannedNames struct {
	ChangedNames
	// Whole is false when there are more URIs, or they take longer, than is looked at. arcrawl canon --changes looks at all.
	Whole bool
}

// String is a line for people.
func (n PlannedNames) String() string {
	some := ""
	if !n.Whole {
		some = " at least; not all were looked at, arcrawl canon --changes does"
	}
	return fmt.Sprintf("names: %d known URIs on %d hosts have other rules; %d become one with another, %d part from one%s", n.URIs, n.Hosts, n.Merged, n.Parted, some)
}

// planNames tells what becomes of the names of known URIs, on the hosts whose rules change and, after these, on others whose
// URIs may have one of their names.
func (c *Crawler) planNames(p *Plan, before, after *config.Config, now time.Time) error {
	rules := func(c *config.Config) func(uri.Host) *uri.Naming {
		return func(h uri.Host) *uri.Naming { n := c.ForHost(h, now).Names; return &n }
	}
	was, is := rules(before), rules(after)
	var changed, others []uri.Host
	for _, h := range c.rooms.Frontier.Hosts(now) {
		switch a, b := was(h.Host), is(h.Host); {
		case h.URIs == 0:
		case a.Notation() != b.Notation():
			changed = append(changed, h.Host)
		case !a.Plain():
			others = append(others, h.Host)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	w := namesWalk{f: c.rooms.Frontier, now: now, until: time.Now().Add(maxNamesTime), left: maxNamesLooked, whole: true}
	found, err := NameChanges(func(see func(frontier.Record) error) error {
		return w.each(slices.Concat(changed, others), see)
	}, was, is, maxNameExamples)
	p.Names = &PlannedNames{ChangedNames: found, Whole: w.whole}
	return err
}

// namesWalk goes through URIs within bounds.
type namesWalk struct {
	f          *frontier.Frontier
	now, until time.Time
	left       int
	whole      bool // nothing was left out
}

func (w *namesWalk) each(hosts []uri.Host, see func(frontier.Record) error) error {
	for _, h := range hosts {
		for from := frontier.Cursor(""); ; {
			if w.left <= 0 || time.Now().After(w.until) {
				w.whole = false
				return nil
			}
			list, next, err := w.f.List(w.now, frontier.Select{Host: string(h)}, from, min(pageWeighed, w.left))
			if err != nil {
				return fmt.Errorf("look at the names of %s: %w", h, err)
			}
			for _, e := range list {
				w.left--
				if err := see(e.Record); err != nil {
					return err
				}
			}
			if from = next; next == "" {
				break
			}
		}
	}
	return nil
}
