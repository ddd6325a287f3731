package config

import (
	"time"

	"github.com/arcrawl/arcrawl/discover/feeds"
	"github.com/arcrawl/arcrawl/uri"
)

// Feeds says how feeds and sitemaps are found and followed. Those that files name, feeds.uris ([]) and feeds.sitemaps ([]), are
// in [Config].Sources.
type Feeds struct {
	// Discover is feeds.discover (true): feeds that pages name as their alternate are followed.
	Discover bool
	// RobotsSitemaps is feeds.robots_sitemaps (true): sitemaps that robots.txt names are followed.
	RobotsSitemaps bool
	// Implied is feeds.implied ([]): pages that are due whenever any feed of the host has something new.
	Implied []uri.URI
	// ImpliedBy is feeds.implied_by ([]): the same for single feeds.
	ImpliedBy []ImpliedBy
	// Bounds is the cost of one feed or sitemap: feeds.max_items (50000).
	Bounds feeds.Bounds
	// Wait is feeds.wait ("own"). Policy applies only with [FeedsOwn].
	Wait FeedsWait
	feeds.Policy
}

// ImpliedBy names the pages that are due whenever a feed has something new.
type ImpliedBy struct {
	Feed  uri.URI
	Pages []uri.URI
}

// FeedsWait says which rule gives the waits of feeds and sitemaps.
type FeedsWait string

// The rules.
const (
	FeedsOwn   FeedsWait = "own"   // from how much is new how often, before the stack of [[wait]] entries
	FeedsStack FeedsWait = "stack" // the [[wait]] entry that matches its type
)

// ImpliedPages are the pages that are due when this feed has something new.
func (f Feeds) ImpliedPages(feed uri.URI) []uri.URI {
	for _, by := range f.ImpliedBy {
		if by.Feed == feed {
			return by.Pages
		}
	}
	return f.Implied
}

// Source is a feed or sitemap that a file names.
type Source struct {
	URI  uri.URI
	Seed uri.URI // whose scope its entries are measured by: the first seed of the file's host, or itself
	File string  // as it stands in a [Fault]
	Line int
}

// Articles says how young articles are followed up.
type Articles struct {
	// Ladder is articles.ladder (["15m", "1h", "3h", "8h", "1d", "2d"]): ages, counted from the discovery of an article, at
	// which it is visited at the latest. Empty switches it off.
	Ladder []time.Duration
	// Young is articles.young ("48h"): how old an article may be when it is discovered.
	Young time.Duration
	// Recognise is articles.recognise (true): pages that no feed names are taken for articles by a date in their address, or by
	// what they say of themselves.
	Recognise bool
}

// sources reads a list of feeds or sitemaps.
func sources() reader {
	return seeds(`"https://www.news.example/rss.xml"`, func(d *draft) *[]seed { return &d.sources })
}

// uris reads a list of URIs.
func uris(example string, at func(*draft) *[]uri.URI) reader {
	return reader{
		kind: "list of URIs",
		read: func(f field, d *draft) { *at(d) = f.uris(example) },
	}
}

func (f field) uris(example string) (out []uri.URI) {
	f.texts("for example "+example, func(e field, s string) {
		if u, ok := e.uri(s); ok {
			out = append(out, u)
		}
	})
	return out
}

// impliedBy reads a list of tables, each a feed and its pages.
func impliedBy() reader {
	const example = `write for example [{ feed = "https://www.news.example/rss.xml", pages = ["https://www.news.example/"] }]`
	return reader{
		kind: "list of tables with feed and pages",
		read: func(f field, d *draft) {
			list, ok := listOfTables(f.value)
			if !ok {
				f.wrongType("a list of tables", example)
				return
			}
			d.settings.Feeds.ImpliedBy = nil
			for i, m := range list {
				e := field{doc: f.doc, name: f.name, path: element(f.path, i), value: m}
				if by, ok := e.impliedBy(m, example); ok {
					d.settings.Feeds.ImpliedBy = append(d.settings.Feeds.ImpliedBy, by)
				}
			}
		},
	}
}

// impliedBy reads one of them.
func (f field) impliedBy(m map[string]any, example string) (by ImpliedBy, ok bool) {
	for name := range m {
		if name != "feed" && name != "pages" {
			at := field{doc: f.doc, name: f.name, path: under(f.path, name), value: m[name]}
			at.fault("has a key that is not known", "the keys are feed and pages")
			return by, false
		}
	}
	feed, has1 := m["feed"].(string)
	_, has2 := m["pages"]
	if !has1 || !has2 {
		f.fault("lacks feed or pages", example)
		return by, false
	}
	at := field{doc: f.doc, name: f.name, path: under(f.path, "feed"), value: feed}
	by.Feed, ok = at.uri(feed)
	by.Pages = field{doc: f.doc, name: f.name, path: under(f.path, "pages"), value: m["pages"]}.uris(`"https://www.news.example/"`)
	return by, ok
}

// maxRungs bounds a ladder.
const maxRungs = 50

// ladder reads a list of durations, each longer than the one before.
func ladder(at func(*draft) *[]time.Duration) reader {
	return reader{
		kind: "list of durations, each longer than the one before",
		read: func(f field, d *draft) {
			var rungs []time.Duration
			f.texts(`for example ["15m", "1h", "3h"]`, func(e field, s string) {
				v, problem, remedy := parseDuration(s)
				switch {
				case problem != "":
					e.fault(problem, remedy)
				case v < time.Second || v > longWait:
					e.fault("is too short or too long", "write between 1s and "+spell(longWait))
				case len(rungs) > 0 && v <= rungs[len(rungs)-1]:
					e.fault("is not longer than the one before", "put them in order")
				case len(rungs) == maxRungs:
					e.fault("is one too many", "50 will do")
				default:
					rungs = append(rungs, v)
				}
			})
			*at(d) = rungs
		},
	}
}

// checkSources gathers the feeds and sitemaps of all files; none counts twice.
func (l *loader) checkSources() {
	seen := map[uri.URI]bool{}
	take := func(s seed, host uri.Host) {
		if seen[s.uri] {
			s.at.warn("is listed twice", "remove one")
			return
		}
		seen[s.uri] = true
		from := Source{URI: s.uri, Seed: s.uri, File: s.at.doc.file, Line: s.at.doc.line(s.at.path)}
		for _, seed := range l.config.Seeds {
			if seed.URI.Host() == host && host != s.uri.Host() {
				from.Seed = seed.URI
				break
			}
		}
		l.config.Sources = append(l.config.Sources, from)
	}
	for _, s := range l.draft.sources {
		take(s, s.uri.Host())
	}
	for _, f := range l.files {
		for _, s := range f.draft.sources {
			take(s, f.host)
		}
	}
}

// feedsKeys are the keys of [feeds] and [articles].
var feedsKeys = []key{
	{
		Key:    Key{Name: "feeds.uris", Default: "[]", Scope: inBoth, Doc: "Feeds to follow, on any host. They are seeds too: what they list on their host is in scope."},
		reader: sources(),
	},
	{
		Key:    Key{Name: "feeds.sitemaps", Default: "[]", Scope: inBoth, Doc: "Sitemaps and sitemap indexes to follow."},
		reader: sources(),
	},
	{
		Key:    Key{Name: "feeds.implied", Default: "[]", Scope: inBoth, Doc: "Pages, such as the front page and the sections, that are due as soon as a feed of the host has something new."},
		reader: uris(`"https://www.news.example/"`, func(d *draft) *[]uri.URI { return &d.settings.Feeds.Implied }),
	},
	{
		Key:    Key{Name: "feeds.implied_by", Default: "[]", Scope: inBoth, Doc: "The same for single feeds, in the place of `implied`: `[{ feed = \"https://www.news.example/sport.xml\", pages = [\"https://www.news.example/sport/\"] }]`."},
		reader: impliedBy(),
	},
	{
		Key:    Key{Name: "feeds.discover", Default: "true", Scope: inBoth, Doc: "Feeds that pages name with `<link rel=\"alternate\">` are followed, if they are in scope."},
		reader: boolean(func(d *draft) *bool { return &d.settings.Feeds.Discover }),
	},
	{
		Key:    Key{Name: "feeds.robots_sitemaps", Default: "true", Scope: inBoth, Doc: "Sitemaps that robots.txt names are followed, if they are in scope."},
		reader: boolean(func(d *draft) *bool { return &d.settings.Feeds.RobotsSitemaps }),
	},
	{
		Key:    Key{Name: "feeds.max_items", Default: "50000", Scope: inBoth, Doc: "Entries taken from one feed or sitemap."},
		reader: whole(1, 50_000, func(d *draft) *int { return &d.settings.Feeds.Bounds.MaxItems }),
	},
	{
		Key: Key{Name: "feeds.wait", Default: `"own"`, Scope: inBoth, Doc: "`own`: feeds and sitemaps are visited as often as they have something new, within the bounds below, and always before all that they list is replaced. " +
			"`stack`: by the [[wait]] entry that matches their type."},
		reader: choice(func(d *draft) *FeedsWait { return &d.settings.Feeds.Wait }, FeedsOwn, FeedsStack),
	},
	{
		Key:    Key{Name: "feeds.min_wait", Default: `"60s"`, Scope: inBoth, Doc: "No feed, sitemap or implied page is visited again sooner than this."},
		reader: duration(time.Second, day, func(d *draft) *time.Duration { return &d.settings.Feeds.MinWait }),
	},
	{
		Key:    Key{Name: "feeds.initial", Default: `"30m"`, Scope: inBoth, Doc: "Wait after the first reading of a feed or news sitemap."},
		reader: duration(time.Second, longWait, func(d *draft) *time.Duration { return &d.settings.Feeds.Feed.Initial }),
	},
	{
		Key:    Key{Name: "feeds.min", Default: `"5m"`, Scope: inBoth, Doc: "No wait of a feed or news sitemap is shorter."},
		reader: duration(time.Second, longWait, func(d *draft) *time.Duration { return &d.settings.Feeds.Feed.Min }),
	},
	{
		Key:    Key{Name: "feeds.max", Default: `"6h"`, Scope: inBoth, Doc: "None is longer, but for the slow lane."},
		reader: duration(time.Second, longWait, func(d *draft) *time.Duration { return &d.settings.Feeds.Feed.Max }),
	},
	{
		Key:    Key{Name: "feeds.sitemap_initial", Default: `"6h"`, Scope: inBoth, Doc: "Wait after the first reading of any other sitemap."},
		reader: duration(time.Second, longWait, func(d *draft) *time.Duration { return &d.settings.Feeds.Sitemap.Initial }),
	},
	{
		Key:    Key{Name: "feeds.sitemap_min", Default: `"1h"`, Scope: inBoth, Doc: "No wait of such a sitemap is shorter."},
		reader: duration(time.Second, longWait, func(d *draft) *time.Duration { return &d.settings.Feeds.Sitemap.Min }),
	},
	{
		Key:    Key{Name: "feeds.sitemap_max", Default: `"7d"`, Scope: inBoth, Doc: "None is longer, but for the slow lane."},
		reader: duration(time.Second, longWait, func(d *draft) *time.Duration { return &d.settings.Feeds.Sitemap.Max }),
	},
	{
		Key:    Key{Name: "feeds.hints_up_to", Default: `"1h"`, Scope: inBoth, Doc: "What a source asks for by ttl, sy:updatePeriod, skipHours, skipDays or Cache-Control lengthens a wait at most to this, and never so much that entries would be missed. `0s` heeds nothing."},
		reader: duration(0, longWait, func(d *draft) *time.Duration { return &d.settings.Feeds.HintsUpTo }),
	},
	{
		Key:    Key{Name: "feeds.silent_after", Default: `"60d"`, Scope: inBoth, Doc: "A source that brought nothing new for so long goes to the slow lane, and says so in crawl.log."},
		reader: duration(time.Hour, longWait, func(d *draft) *time.Duration { return &d.settings.Feeds.SilentAfter }),
	},
	{
		Key:    Key{Name: "feeds.silent_wait", Default: `"7d"`, Scope: inBoth, Doc: "How often a source on the slow lane is visited."},
		reader: duration(time.Minute, longWait, func(d *draft) *time.Duration { return &d.settings.Feeds.SilentWait }),
	},
	{
		Key: Key{Name: "articles.ladder", Default: `["15m", "1h", "3h", "8h", "1d", "2d"]`, Scope: inBoth, Doc: "Ages, counted from the discovery of a new article, at which it is visited at the latest, since most versions of an article appear in its first hours. " +
			"The rule of its [[wait]] entry may visit it earlier, never later. `[]` switches it off."},
		reader: ladder(func(d *draft) *[]time.Duration { return &d.settings.Articles.Ladder }),
	},
	{
		Key:    Key{Name: "articles.young", Default: `"48h"`, Scope: inBoth, Doc: "How old a page may be, by the date of the feed or its own, when it is discovered, to be followed up."},
		reader: duration(time.Minute, longWait, func(d *draft) *time.Duration { return &d.settings.Articles.Young }),
	},
	{
		Key:    Key{Name: "articles.recognise", Default: "true", Scope: inBoth, Doc: "Pages that no feed names are taken for new articles too, if a recent date stands in their address or in their `article:published_time`."},
		reader: boolean(func(d *draft) *bool { return &d.settings.Articles.Recognise }),
	},
}
