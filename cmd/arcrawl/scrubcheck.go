package main

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of how far check looks into the archive for what scrubbing rules match.
const (
	scrubPatience = 20 * time.Second // an archive without an index that is not read by then is passed over
	scrubSeeds    = 5                // of a host
	scrubVersions = 3                // of a seed, the newest
)

// Rules that leave every page as it is, to compare with.
const (
	idleRegex    = `\x00arcrawl\x00`
	idleSelector = `arcrawl-has-no-such-element`
)

// idleScrubs warns of scrubbing rules that match nothing in the stored versions of their host's seeds. Where there is no
// archive, or none that can be read at once, it has nothing to say.
func idleScrubs(ctx context.Context, c *config.Config) []config.Fault {
	pages := scrubbedSeeds(c)
	if len(pages) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, scrubPatience)
	defer cancel()
	l, err := index.OpenLibrary(ctx, c.Storage.WARC, index.Options{}, func(warc.Finding) error { return nil })
	if err != nil {
		return nil
	}
	defer func() { _ = l.Close() }()
	var all []config.Fault
	for _, seeds := range pages {
		all = append(all, idleOn(ctx, c, l, seeds)...)
	}
	return all
}

// scrubbedSeeds are the seeds of each host that has scrubbing rules in force.
func scrubbedSeeds(c *config.Config) [][]uri.URI {
	at := map[uri.Host]int{}
	var all [][]uri.URI
	for _, s := range c.Seeds {
		h := s.URI.Host()
		change := c.For(config.About{URI: s.URI, Now: time.Now()}).Change
		if change.Mode == config.Strict || len(change.Scrub)+len(change.ScrubCSS) == 0 {
			continue
		}
		i, ok := at[h]
		if !ok {
			i = len(all)
			at[h], all = i, append(all, nil)
		}
		if len(all[i]) < scrubSeeds {
			all[i] = append(all[i], s.URI)
		}
	}
	return all
}

// idleOn looks at the rules of one host.
func idleOn(ctx context.Context, c *config.Config, l *index.Library, seeds []uri.URI) []config.Fault {
	var versions []stored
	for _, u := range seeds {
		captures, err := l.History(u.String())
		if err != nil {
			return nil
		}
		for _, capture := range captures[max(0, len(captures)-scrubVersions):] {
			if capture.Status != "200" {
				continue
			}
			if v, err := readVersion(ctx, l, capture); err == nil {
				versions = append(versions, v)
			}
		}
	}
	if len(versions) == 0 || ctx.Err() != nil {
		return nil
	}
	about := config.About{URI: seeds[0], Now: time.Now()}
	change := c.For(about).Change
	var all []config.Fault
	look := func(key string, rules []string, idle string, spec func(rule string) digest.Spec) {
		for _, rule := range rules {
			if touches(spec(rule), spec(idle), versions) {
				continue
			}
			f := config.Fault{
				Key: key, Value: strconv.Quote(rule), Remedy: "try it with arcrawl scrub test, or remove it",
				Problem: "matches nothing in the " + strconv.Itoa(len(versions)) + " newest stored versions of the seeds of " + string(seeds[0].Host()),
			}
			for _, s := range c.Effective(about) {
				if s.Key == key {
					f.File, f.Line, f.Column = s.File, s.Line, 1
				}
			}
			all = append(all, f)
		}
	}
	look("change.scrub", change.Scrub, idleRegex, func(rule string) digest.Spec { return digest.Spec{Regexes: []string{rule}} })
	look("change.scrub_css", change.ScrubCSS, idleSelector, func(rule string) digest.Spec { return digest.Spec{Selectors: []string{rule}} })
	return all
}

// touches reports whether a rule leaves any of the versions otherwise than an idle one of its kind.
func touches(rule, idle digest.Spec, versions []stored) bool {
	with, err := digest.Compile(rule)
	if err != nil {
		return true
	}
	without, err := digest.Compile(idle)
	if err != nil {
		return true
	}
	for _, v := range versions {
		if !bytes.Equal(with.Scrub(v.content, v.mime), without.Scrub(v.content, v.mime)) {
			return true
		}
	}
	return false
}
