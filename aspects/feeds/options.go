package feeds

import (
	"github.com/arcrawl/arcrawl/uri"
)

// Options say how feeds and sitemaps are found and followed. Those that the files name are in the configuration.
type Options struct {
	Policy                     // applies only with ByPolicy
	Wait           WaitBy      // which rule decides when they are visited
	Bounds         Bounds      // of one feed or sitemap
	Discover       bool        // follow feeds that pages name as their alternate
	RobotsSitemaps bool        // follow sitemaps that robots.txt names
	UsualSitemap   bool        // look for /sitemap.xml if it names none
	Implied        []uri.URI   // pages that become due when any feed of the host has a new entry
	ImpliedBy      []ImpliedBy // replaces Implied for single feeds
}

// WaitBy says which rule decides when feeds and sitemaps are visited.
type WaitBy string

// The rules.
const (
	ByPolicy WaitBy = "own"   // [Policy]
	ByStack  WaitBy = "stack" // the [[wait]] entry that matches the type
)

// ImpliedBy names the pages that become due when a feed has a new entry.
type ImpliedBy struct {
	Feed  uri.URI
	Pages []uri.URI
}

// ImpliedPages returns the pages that become due when a feed has a new entry.
func (f Options) ImpliedPages(feed uri.URI) []uri.URI {
	for _, by := range f.ImpliedBy {
		if by.Feed == feed {
			return by.Pages
		}
	}
	return f.Implied
}

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options {
	return Options{
		Policy: DefaultPolicy(), Wait: ByPolicy, Bounds: Bounds{MaxItems: DefaultMaxItems},
		Discover: true, RobotsSitemaps: true, UsualSitemap: true,
	}
}
