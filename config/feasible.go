package config

import (
	"time"

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
		p, at := c.ForHost(h, time.Time{}).Politeness, loads[h]
		problem, remedy := DoubtSeeds(h, at.count, at.rate, p.MinDelay, p.Valence)
		if problem != "" {
			l.warnings = append(l.warnings, Fault{
				File: at.seed.File, Line: at.seed.Line, Column: 1, Key: "seeds.uris", Problem: problem, Remedy: remedy,
			})
		}
	}
}
