package crawler

import (
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/aspects/spaces/traps"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/crawler/trapped"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/uri"
)

// findings holds the discoveries of a visit.
type findings struct {
	candidates []frontier.Candidate
	title      string // of the page
	dropped    int    // links beyond the page's limit
	err        error  // why the content could not be read to its end; it stops nothing
	source     sourceReading
	traps      trapped.Findings
	born       time.Time // when the page came into being, if it turns out to be a new article
}

// discover lists what a page names. The content is read again only if it is the first one, has changed or was cut. Of a
// feed or sitemap it also finds what is new in it. An error is of the store.
func (c *Crawler) discover(v visit, s settings) (found findings, err error) {
	defer panics.Recover(&err)
	c.step("discovering")
	read := v.verdict.First || v.verdict.State == evaluators.Changed || v.capture.Truncated == fetch.TruncatedLength
	if !read {
		return findings{source: unreadSource(v)}, nil
	}
	f := finder{c: c, v: v, s: s}
	err = f.read()
	return f.found, err
}

// finder collects what a visit discovers.
type finder struct {
	c     *Crawler
	v     visit
	s     settings
	found findings

	seedScope  *scope.Scope              // of the visit's seed; nil until it is needed: most visits find nothing
	hostScopes map[uri.Host]*scope.Scope // of other hosts with seeds, as far as entries of feeds are on them
	dates      feeds.SourceDates         // of the source that is being read

	lastHost     uri.Host // the host that was last looked up in the store of traps
	unsuspected  bool     // whether that host has no traps and no suspected ones
	decisions    [4]hostDecision
	nextDecision int // where the next decision is stored
}

// read reads the content again and collects what it names.
func (f *finder) read() error {
	v, got := f.v, f.v.capture
	if err := f.readSource(); err != nil {
		return err
	}
	if v.robots && !v.failed && !v.isSubstitute() {
		f.addSitemaps()
	}
	if v.failed || got.Status >= http.StatusBadRequest {
		return nil
	}
	if v.robots && discover.IsRedirect(got.Status) {
		f.addSubstitute()
		return nil
	}
	content, err := got.Content()
	if err != nil {
		f.found.err = err
		return nil
	}
	defer content.Close()
	doc := discover.Document{URI: v.uri(), Status: got.Status, Header: got.Header}
	page, err := discover.Links(doc, content, f.s.Links)
	f.found.dropped += page.Dropped
	f.found.title = page.Title
	f.found.err = err
	if err := f.addLinks(page); err != nil {
		return err
	}
	f.detectArticle(page)
	if err := f.observeTraps(page); err != nil {
		return err
	}
	return f.removeTrapped()
}

// linksAtATime is the number of links of a page that are looked up together.
const linksAtATime = 64

// addLinks adds the links of a page that may be new. Most links on a page are already known. They are skipped early: a
// known link in scope that is not part of a trap changes nothing.
func (f *finder) addLinks(page discover.Result) error {
	parent := &f.v.claim.Record
	var uris [linksAtATime]uri.URI
	var known [linksAtATime]bool
	for links := page.Links; len(links) > 0; {
		n := min(len(links), linksAtATime)
		for i, l := range links[:n] {
			uris[i] = l.URI
		}
		f.c.parts.Frontier.RecentlyKnown(uris[:n], known[:n])
		for i, l := range links[:n] {
			if known[i] {
				outside, err := f.isOutsideTraps(l.URI)
				if err != nil {
					return err
				}
				if outside {
					continue
				}
			}
			f.addLink(l, parent)
		}
		links = links[n:]
	}
	return nil
}

// addLink adds one link if it is in scope.
func (f *finder) addLink(l discover.Link, parent *frontier.Record) {
	hop := l.Hop
	if hop == uri.Manifest && !f.s.Feeds.Discover {
		hop = uri.Link
	}
	f.add(l.URI, hop, func(c *frontier.Candidate) {
		switch hop {
		case uri.Manifest:
			c.Source = expectedSource()
		case uri.Redirect: // the same resource under another name
			c.Urgent, c.Born = parent.Urgent, parent.Born
			if parent.Source != "" {
				c.Source = expectedSource()
			}
		case uri.Embed: // the embeds of a new article are fetched with it
			c.Urgent = parent.Urgent
		}
	})
}

// isOutsideTraps reports whether it is certain that a URI is not part of a trap.
func (f *finder) isOutsideTraps(u uri.URI) (bool, error) {
	if !f.s.Scope.Traps {
		return true, nil
	}
	if h := u.Host(); h != f.lastHost {
		unsuspected, err := f.c.parts.Traps.NoneSuspected(h)
		if err != nil {
			return false, err
		}
		f.lastHost, f.unsuspected = h, unsuspected
	}
	return f.unsuspected && !traps.MayRepeat(u), nil
}

// add adds a candidate if it is in scope. change may change the candidate before; it may be nil.
func (f *finder) add(u uri.URI, hop uri.Hop, change func(*frontier.Candidate)) {
	cand, ok := f.candidate(u, hop)
	if !ok {
		return
	}
	if change != nil {
		change(&cand)
	}
	f.found.candidates = append(f.found.candidates, cand)
}

// candidate returns a URI that this visit found as a candidate. It reports false if the URI is out of scope.
func (f *finder) candidate(u uri.URI, hop uri.Hop) (frontier.Candidate, bool) {
	parent := &f.v.claim.Record
	decider := f.scopeOfSeed()
	cand := frontier.Candidate{URI: u, Via: parent.URI.String(), Seed: parent.Seed, Due: f.v.finished}
	if hop != uri.Manifest && decider.HostDecides() {
		d := f.decisionFor(u, hop)
		cand.Hops = d.hops
		return cand, d.accepted
	}
	hops := parent.Hops
	if f.v.robots && hop == uri.Manifest {
		hops = "" // a sitemap in robots.txt is not a prerequisite of anything
	}
	cand.Hops = hops.Then(hop)
	if hop == uri.Manifest && u.Host() != decider.Seed().Host() && f.s.config.SeedHost(u.Host()) {
		decider = f.scopeOfHost(u.Host())
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
func (f *finder) decisionFor(u uri.URI, hop uri.Hop) *hostDecision {
	host := u.Host()
	for i := range f.decisions {
		if d := &f.decisions[i]; d.hop == hop && d.host == host {
			return d
		}
	}
	d := &f.decisions[f.nextDecision%len(f.decisions)]
	f.nextDecision++
	parent := &f.v.claim.Record
	hops := parent.Hops.Then(hop)
	*d = hostDecision{host, hop, hops, f.scopeOfSeed().Accepts(scope.Discovery{URI: u, Hops: hops, Via: parent.URI})}
	return d
}

// scopeOfSeed returns the scope of the visit's seed.
func (f *finder) scopeOfSeed() *scope.Scope {
	if f.seedScope == nil {
		parent := f.v.record()
		f.seedScope = policy.Scope(f.s.config, parent.Seed, parent.URI, f.v.finished, f.c.parts.Frontier)
	}
	return f.seedScope
}

// scopeOfHost returns the scope of the first seed of a host. The rules of that host apply to what a feed lists on it.
func (f *finder) scopeOfHost(h uri.Host) *scope.Scope {
	if known := f.hostScopes[h]; known != nil {
		return known
	}
	if f.hostScopes == nil {
		f.hostScopes = map[uri.Host]*scope.Scope{}
	}
	seed := ""
	for _, s := range f.s.config.Seeds {
		if s.URI.Host() == h {
			seed = s.URI.String()
			break
		}
	}
	decider := f.scopeOfSeed()
	if seed != "" {
		decider = policy.Scope(f.s.config, seed, uri.FromCanonical(seed), f.v.finished, f.c.parts.Frontier)
	}
	f.hostScopes[h] = decider
	return decider
}

// addSubstitute adds the URI of another host that a robots.txt redirects to. It is fetched whether it is in scope or
// not. One on the same host is fetched before the next visit.
func (f *finder) addSubstitute() {
	u, err := f.v.uri().Join(f.v.capture.Header.Get("Location"))
	if err != nil || u.Host() == f.v.uri().Host() || u.HasBadPort() {
		return
	}
	f.found.candidates = append(f.found.candidates, policy.Substitute(f.v.record().Seed, u, f.v.uri(), f.v.finished))
}

// usualSitemap is the path at which a sitemap is looked for if no robots.txt names one, and usualSitemapAfter how long
// the first pages of a host go before it.
const (
	usualSitemap      = "/sitemap.xml"
	usualSitemapAfter = 10 * time.Minute
)

// addSitemaps adds the sitemaps that a robots.txt names. If there are none, it adds the usual one.
func (f *finder) addSitemaps() {
	named, ok := policy.Sitemaps(f.v.capture)
	if !ok || !f.s.Feeds.RobotsSitemaps {
		return
	}
	for _, ref := range named {
		f.addSitemap(ref, f.v.finished)
	}
	if len(named) == 0 && f.s.Feeds.UsualSitemap {
		f.addSitemap(usualSitemap, f.v.finished.Add(usualSitemapAfter))
	}
}

// addSitemap adds a sitemap that is due then.
func (f *finder) addSitemap(ref string, due time.Time) {
	if u, err := f.v.uri().Join(ref); err == nil && u != f.v.uri() {
		f.add(u, uri.Manifest, func(c *frontier.Candidate) { c.Source, c.Due = expectedSource(), due })
	}
}
