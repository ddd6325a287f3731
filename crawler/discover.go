package crawler

import (
	"context"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// finder holds the scopes that were looked up while a visit is read.
type finder struct {
	seedScope  *scope.Scope              // of the visit's seed; nil until it is needed: most visits find nothing
	hostScopes map[uri.Host]*scope.Scope // of other hosts with seeds, as far as entries of feeds are on them

	decisions    [4]hostDecision
	nextDecision int // where the next decision is stored
}

func finderOf(v *aspects.Visit) *finder { return &aspects.Of[own](v).finder }

// readLinks is the plain rule: it reads the content again, and finds the links that are in scope.
func (c *Crawler) readLinks(ctx context.Context, v *aspects.Visit) error {
	got := v.Capture
	if !v.Found.Read || v.Failed || got.Status >= http.StatusBadRequest || v.IsRobots && discover.IsRedirect(got.Status) {
		return nil
	}
	content, err := got.Content()
	if err != nil {
		v.Found.Err = err
		return nil
	}
	defer content.Close()
	doc := discover.Document{URI: v.URI(), Status: got.Status, Header: got.Header}
	bounds := settingsOf(v).Links
	bounds.Words = feeds.IsFront(v)
	page, err := discover.Links(ctx, doc, content, bounds)
	v.Found.Dropped += page.Dropped
	v.Found.Title = page.Title
	v.Found.Err = err
	v.Found.Page = &page
	return c.addLinks(ctx, v, page)
}

// linksAtATime is the number of links of a page that are looked up together.
const linksAtATime = 64

// addLinks adds the links of a page that may be new. Most links on a page are already known. They are skipped early: a
// known link in scope that is not part of a trap changes nothing.
func (c *Crawler) addLinks(ctx context.Context, v *aspects.Visit, page discover.Result) error {
	var uris [linksAtATime]uri.URI
	var known [linksAtATime]bool
	for links := page.Links; len(links) > 0; {
		n := min(len(links), linksAtATime)
		for i, l := range links[:n] {
			uris[i] = l.URI
		}
		c.parts.Frontier.RecentlyKnown(uris[:n], known[:n])
		for i, l := range links[:n] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if known[i] {
				outside, err := c.aspects.spaces.IsOutside(v, l.URI)
				if err != nil {
					return err
				}
				if outside {
					continue
				}
			}
			c.addLink(v, l)
		}
		links = links[n:]
	}
	return nil
}

// addLink adds one link if it is in scope.
func (c *Crawler) addLink(v *aspects.Visit, l discover.Link) {
	parent := v.Record()
	hop := l.Hop
	if hop == uri.Manifest && !aspects.OptionsOf[feeds.Options](v).Discover {
		hop = uri.Link
	}
	cand, ok := c.candidate(v, l.URI, hop)
	if !ok {
		return
	}
	switch hop {
	case uri.Manifest:
		cand.Source = feeds.Expected()
	case uri.Redirect: // the same resource under another name
		cand.Urgent, cand.Born = parent.Urgent, parent.Born
		if parent.Source != "" {
			cand.Source = feeds.Expected()
		}
	case uri.Embed: // the embeds of a new article are fetched with it
		cand.Urgent = parent.Urgent
	}
	v.Found.Candidates = append(v.Found.Candidates, cand)
}

// candidate returns a URI that this visit found as a candidate. It reports false if the URI is out of scope.
func (c *Crawler) candidate(v *aspects.Visit, u uri.URI, hop uri.Hop) (frontier.Candidate, bool) {
	parent := v.Record()
	decider := c.scopeOfSeed(v)
	cand := frontier.Candidate{URI: u, Via: parent.URI.String(), Seed: parent.Seed, Due: v.Finished}
	if hop != uri.Manifest && decider.HostDecides() {
		d := c.decisionFor(v, u, hop)
		cand.Hops = d.hops
		return cand, d.accepted
	}
	hops := parent.Hops
	if v.IsPrerequisite() && hop == uri.Manifest {
		hops = "" // a sitemap in robots.txt is not a prerequisite of anything
	}
	cand.Hops = hops.Then(hop)
	if hop == uri.Manifest && u.Host() != decider.Seed().Host() && settingsOf(v).config.SeedHost(u.Host()) {
		decider = c.scopeOfHost(v, u.Host())
		cand.Seed = decider.Seed().String()
	}
	return cand, decider.Accepts(scope.Discovery{URI: cand.URI, Hops: cand.Hops, Via: parent.URI})
}

// hostDecision is the decision of the seed's scope about all URIs of a host that are found by one kind of hop.
type hostDecision struct {
	host     uri.Host
	hop      uri.Hop
	hops     uri.HopPath
	accepted bool
}

// decisionFor returns the decision about the host of a URI. It remembers the last few decisions.
func (c *Crawler) decisionFor(v *aspects.Visit, u uri.URI, hop uri.Hop) *hostDecision {
	host, f := u.Host(), finderOf(v)
	for i := range f.decisions {
		if d := &f.decisions[i]; d.hop == hop && d.host == host {
			return d
		}
	}
	d := &f.decisions[f.nextDecision%len(f.decisions)]
	f.nextDecision++
	parent := v.Record()
	hops := parent.Hops.Then(hop)
	*d = hostDecision{host, hop, hops, c.scopeOfSeed(v).Accepts(scope.Discovery{URI: u, Hops: hops, Via: parent.URI})}
	return d
}

// scopeOfSeed returns the scope of the visit's seed.
func (c *Crawler) scopeOfSeed(v *aspects.Visit) *scope.Scope {
	f := finderOf(v)
	if f.seedScope == nil {
		parent := v.Record()
		f.seedScope = config.ScopeOf(settingsOf(v).config, parent.Seed, parent.URI, v.Finished, c.parts.Frontier)
	}
	return f.seedScope
}

// scopeOfHost returns the scope of the first seed of a host. The rules of that host apply to what a feed lists on it.
func (c *Crawler) scopeOfHost(v *aspects.Visit, h uri.Host) *scope.Scope {
	f, conf := finderOf(v), settingsOf(v).config
	if known := f.hostScopes[h]; known != nil {
		return known
	}
	if f.hostScopes == nil {
		f.hostScopes = map[uri.Host]*scope.Scope{}
	}
	seed := ""
	for _, s := range conf.Seeds {
		if s.URI.Host() == h {
			seed = s.URI.String()
			break
		}
	}
	decider := c.scopeOfSeed(v)
	if seed != "" {
		decider = config.ScopeOf(conf, seed, uri.FromCanonical(seed), v.Finished, c.parts.Frontier)
	}
	f.hostScopes[h] = decider
	return decider
}

// addSitemap adds a sitemap that is due then.
func (c *Crawler) addSitemap(v *aspects.Visit, at uri.URI, due time.Time) {
	if cand, ok := c.candidate(v, at, uri.Manifest); ok {
		cand.Source, cand.Due = feeds.Expected(), due
		v.Found.Candidates = append(v.Found.Candidates, cand)
	}
}
