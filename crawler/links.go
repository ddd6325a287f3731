package crawler

import (
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// linksAtATime is how many links of a page are looked at together.
const linksAtATime = 64

// links takes what a page names, as far as that may be new. Of a link in scope that is known and no part of a trap nothing would
// become, and of most pages that is most links: they are passed over here.
func (f *finder) links(named discover.Result) error {
	parent := &f.v.claim.Record
	var at [linksAtATime]uri.URI
	var known [linksAtATime]bool
	for links := named.Links; len(links) > 0; {
		n := min(len(links), linksAtATime)
		for i, l := range links[:n] {
			at[i] = l.URI
		}
		f.c.rooms.Frontier.RecentlyKnown(at[:n], known[:n])
		for i, l := range links[:n] {
			if known[i] {
				idle, err := f.isQuiet(l.URI)
				if err != nil {
					return err
				}
				if idle {
					continue
				}
			}
			f.link(l, parent)
		}
		links = links[n:]
	}
	return nil
}

// link takes one link.
func (f *finder) link(l discover.Link, parent *frontier.Record) {
	hop := l.Hop
	if hop == uri.Manifest && !f.s.Feeds.Discover {
		hop = uri.Link
	}
	f.add(l.URI, hop, func(c *frontier.Candidate) {
		switch hop {
		case uri.Manifest:
			c.Source = awaited()
		case uri.Redirect: // the same thing under another name
			c.Urgent, c.Born = parent.Urgent, parent.Born
			if parent.Source != "" {
				c.Source = awaited()
			}
		case uri.Embed: // what belongs to a new article is fetched with it
			c.Urgent = parent.Urgent
		}
	})
}

// isQuiet reports whether it is certain that a URI is no part of a trap, or that traps do not matter.
func (f *finder) isQuiet(u uri.URI) (bool, error) {
	if f.c.rooms.Traps == nil || !f.s.Scope.Traps {
		return true, nil
	}
	if h := u.Host(); h != f.quiet.host {
		quiet, err := f.c.rooms.Traps.Quiet(h)
		if err != nil {
			return false, err
		}
		f.quiet.host, f.quiet.is = h, quiet
	}
	return f.quiet.is && !traps.MayRepeat(u), nil
}

// saying is what the scope of the visit's seed says about all URIs of a host that are found by one kind of step.
type saying struct {
	host  uri.Host
	hop   uri.Hop
	hops  uri.HopPath
	takes bool
}

// ofHost is what the scope says about the host of a URI, where it says the same about all URIs of a host.
func (f *finder) ofHost(u uri.URI, hop uri.Hop) *saying {
	host := u.Host()
	for i := range f.said {
		if said := &f.said[i]; said.hop == hop && said.host == host {
			return said
		}
	}
	said := &f.said[f.next%len(f.said)]
	f.next++
	parent := &f.v.claim.Record
	hops := parent.Hops.Then(hop)
	*said = saying{host, hop, hops, f.scopeOfSeed().Accepts(scope.Discovery{URI: u, Hops: hops, Via: parent.URI})}
	return said
}
