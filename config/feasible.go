package config

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// warnPace warns of seeds that are due more often than the politeness of their host allows.
func (l *loader) warnPace() {
	c := &l.config
	type load struct {
		seed  Seed
		count int
		rate  float64 // visits a second
	}
	loads := map[uri.Host]*load{}
	var order []uri.Host
	for _, s := range c.Seeds {
		h := s.URI.Host()
		if loads[h] == nil {
			loads[h] = &load{seed: s}
			order = append(order, h)
		}
		loads[h].count++
		loads[h].rate += 1 / shortestWait(c.ForHost(h, time.Time{}).Wait).Seconds()
	}
	for _, h := range order {
		p := c.ForHost(h, time.Time{}).Politeness
		carries := float64(max(p.Valence, 1)) / max(p.MinDelay, time.Millisecond).Seconds()
		at := loads[h]
		if at.rate <= carries {
			continue
		}
		l.warnings = append(l.warnings, Fault{
			File: at.seed.File, Line: at.seed.Line, Column: 1, Key: "seeds.uris",
			Problem: fmt.Sprintf("%s of %s can be due %.3g times a minute by wait.min, but politeness.min_delay %q permits at most %.3g visits",
				human.Count(at.count, "seed"), h, at.rate*60, human.Duration(p.MinDelay), carries*60),
			Remedy: "raise wait.min, or lower min_delay if the site agrees; until then visits are late",
		})
	}
}

// shortestWait returns the minimum wait of an HTML page.
func shortestWait(s evaluators.Stack) time.Duration {
	for _, e := range s {
		if e.MIME.MatchString("text/html") {
			shortest, _ := e.Rule.Bounds()
			return max(shortest, time.Millisecond)
		}
	}
	return 365 * day
}
