package noise

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/warc"
	aspect "github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// The bounds of how far Check looks into the archive.
const (
	idleSeeds    = 5 // of a host
	idleVersions = 3 // of a seed, the newest
)

// Rules that match nothing. A rule with the same result as these on a page matches nothing in it.
const (
	noRegex    = `\x00arcrawl\x00`
	noSelector = `arcrawl-has-no-such-element`
)

// patience is how long Check may read the archive.
const patience = 20 * time.Second

// Check returns warnings for scrubbing rules that match nothing in the archive. An archive without an index that takes
// longer to read than its patience is skipped.
func Check(c *config.Config) []config.Fault {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return idleRules(ctx, c, time.Now())
}

// idleRules returns a warning for each scrubbing rule that matches nothing in the stored versions of its host's
// seeds. It returns none if there is no archive, or if ctx ends first.
func idleRules(ctx context.Context, c *config.Config, now time.Time) []config.Fault {
	hosts := scrubbedSeeds(c, now)
	if len(hosts) == 0 {
		return nil
	}
	l, err := captures.OpenLibrary(ctx, c.Storage.WARC, captures.Options{}, func(warc.Finding) error { return nil })
	if err != nil {
		return nil
	}
	defer func() { _ = l.Close() }()
	var all []config.Fault
	for _, seeds := range hosts {
		all = append(all, idleOnHost(ctx, c, l, seeds, now)...)
	}
	return all
}

// scrubbedSeeds returns the seeds of each host that has scrubbing rules in force.
func scrubbedSeeds(c *config.Config, now time.Time) [][]uri.URI {
	place := map[uri.Host]int{}
	var all [][]uri.URI
	for _, s := range c.Seeds {
		h := s.URI.Host()
		settings := c.For(config.About{URI: s.URI, Now: now})
		change := config.Own[aspect.Options](&settings)
		if change.Mode == aspect.Strict || len(change.Scrub)+len(change.ScrubCSS) == 0 {
			continue
		}
		i, ok := place[h]
		if !ok {
			i = len(all)
			place[h], all = i, append(all, nil)
		}
		if len(all[i]) < idleSeeds {
			all[i] = append(all[i], s.URI)
		}
	}
	return all
}

// idleOnHost returns the warnings for the rules of the host of seeds.
func idleOnHost(
	ctx context.Context, c *config.Config, l *captures.Library, seeds []uri.URI, now time.Time,
) []config.Fault {
	var versions []aspect.Version
	for _, u := range seeds {
		found, err := l.History(u.String())
		if err != nil {
			return nil
		}
		newest := found[max(0, len(found)-idleVersions):]
		versions = append(versions, readAll(ctx, l, newest, func(captures.Capture, error) {})...)
	}
	if len(versions) == 0 || ctx.Err() != nil {
		return nil
	}
	about := config.About{URI: seeds[0], Now: now}
	settings := c.For(about)
	change := config.Own[aspect.Options](&settings)
	problem := fmt.Sprintf("matches nothing in the %d newest stored versions of the seeds of %s", len(versions), seeds[0].Host())
	var all []config.Fault
	warn := func(key, rule string) {
		f := config.Fault{
			Key: key, Value: strconv.Quote(rule), Problem: problem, Remedy: "try it with arcrawl scrub test, or remove it",
		}
		for _, s := range c.Effective(about) {
			if s.Key == key {
				f.File, f.Line, f.Column = s.File, s.Line, 1
			}
		}
		all = append(all, f)
	}
	for _, rule := range change.Scrub {
		if !matches(digest.Spec{Regexes: []string{rule}}, digest.Spec{Regexes: []string{noRegex}}, versions) {
			warn("change.scrub", rule)
		}
	}
	for _, rule := range change.ScrubCSS {
		if !matches(digest.Spec{Selectors: []string{rule}}, digest.Spec{Selectors: []string{noSelector}}, versions) {
			warn("change.scrub_css", rule)
		}
	}
	return all
}

// scrubbed returns what a rule leaves of a version, and what a rule of its kind leaves that matches nothing.
func scrubbed(rule, nothing digest.Spec, v aspect.Version) (left, whole []byte, err error) {
	with, err := digest.Compile(rule)
	if err != nil {
		return nil, nil, err
	}
	without, err := digest.Compile(nothing)
	if err != nil {
		return nil, nil, err
	}
	return with.Scrub(v.Content, v.MIME), without.Scrub(v.Content, v.MIME), nil
}

// matches reports whether a rule matches in any of the versions. nothing is a rule of its kind that matches nothing.
func matches(rule, nothing digest.Spec, versions []aspect.Version) bool {
	return slices.ContainsFunc(versions, func(v aspect.Version) bool {
		left, whole, err := scrubbed(rule, nothing, v)
		return err != nil || !bytes.Equal(left, whole)
	})
}
