package feeds

import (
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Keys returns the keys of the aspect.
func Keys(o *Options) schema.Owned {
	return schema.Owned{
		Tables: []schema.Table{{
			Name: "feeds", After: "scope",
			Doc: "Feeds and sitemaps: how they are found, and how often they are visited. New entries are visited at once.",
		}},
		Vars: []schema.Var{
			schema.PerFile(schema.Elements("feeds.uris", schema.InBoth, "URIs", &o.URIs,
				schema.ReadURIsLike("https://www.news.example/rss.xml"),
				"Feeds to follow, on any host. They are also seeds: what they list on their host is in scope.")),
			schema.PerFile(schema.Elements("feeds.sitemaps", schema.InBoth, "URIs", &o.Sitemaps,
				schema.ReadURIsLike("https://www.news.example/sitemap.xml"),
				"Sitemaps and sitemap indexes to follow.")),
			schema.Elements("feeds.implied", schema.InBoth, "URIs", &o.Implied, schema.ReadURIs,
				"Pages, such as the front page and the sections, that become due as soon as a feed of the host has a new entry."),
			schema.Rows("feeds.implied_by", schema.InBoth, impliedByColumns(), &o.ImpliedBy, readImpliedBy,
				"The same for single feeds, instead of `implied`: `[{ feed = \"https://www.news.example/sport.xml\", pages = [\"https://www.news.example/sport/\"] }]`."),
			schema.Bool("feeds.discover", schema.InBoth, &o.Discover,
				"Follow feeds that pages name with `<link rel=\"alternate\">`, if they are in scope."),
			schema.Bool("feeds.robots_sitemaps", schema.InBoth, &o.RobotsSitemaps,
				"Follow sitemaps that robots.txt names, if they are in scope."),
			schema.Bool("feeds.usual_sitemap", schema.InBoth, &o.UsualSitemap,
				"Look for `/sitemap.xml` on hosts in scope that have no robots.txt, or whose robots.txt names no sitemap. Needs `robots_sitemaps`."),
			schema.Count("feeds.max_items", schema.InBoth, 1, DefaultMaxItems, &o.Bounds.MaxItems,
				"Maximum number of entries from one feed or sitemap."),
			schema.Choice("feeds.wait", schema.InBoth, &o.Wait,
				"`own`: feeds and sitemaps are visited as often as they have new entries, within the bounds below, and always before all their entries are replaced. `stack`: the [[wait]] entry that matches their type applies.",
				ByPolicy, ByStack),
			schema.Interval("feeds.min_wait", schema.InBoth, time.Second, schema.Day, &o.MinWait,
				"Minimum wait between two visits of a feed, sitemap or implied page."),
			schema.Interval("feeds.initial", schema.InBoth, time.Second, schema.Longest, &o.Feed.Initial,
				"Wait after the first reading of a feed or news sitemap."),
			schema.Interval("feeds.min", schema.InBoth, time.Second, schema.Longest, &o.Feed.Min,
				"Minimum wait of a feed or news sitemap."),
			schema.Interval("feeds.max", schema.InBoth, time.Second, schema.Longest, &o.Feed.Max,
				"Maximum wait of a feed or news sitemap, except on the slow lane."),
			schema.Interval("feeds.sitemap_initial", schema.InBoth, time.Second, schema.Longest, &o.Sitemap.Initial,
				"Wait after the first reading of any other sitemap."),
			schema.Interval("feeds.sitemap_min", schema.InBoth, time.Second, schema.Longest, &o.Sitemap.Min,
				"Minimum wait of such a sitemap. While one is followed whose readings take less than 100 kB on average, it is shorter by as much, and at least `min`."),
			schema.Interval("feeds.sitemap_max", schema.InBoth, time.Second, schema.Longest, &o.Sitemap.Max,
				"Maximum wait of such a sitemap, except on the slow lane."),
			schema.Interval("feeds.hints_up_to", schema.InBoth, 0, schema.Longest, &o.HintsUpTo,
				"Maximum to which hints of a source (ttl, sy:updatePeriod, skipHours, skipDays, Cache-Control) lengthen a wait. They never lengthen it so much that entries would be missed. `0s` ignores hints."),
			schema.Interval("feeds.silent_after", schema.InBoth, time.Hour, schema.Longest, &o.SilentAfter,
				"A source without a new entry for this long moves to the slow lane, and crawl.log reports it."),
			schema.Interval("feeds.silent_wait", schema.InBoth, time.Minute, schema.Longest, &o.SilentWait,
				"Wait between visits of a source on the slow lane."),
		},
		Sources: []schema.Sources{{Key: "feeds.sitemaps", URIs: &o.Sitemaps}, {Key: "feeds.uris", URIs: &o.URIs}},
		Bounds: []schema.Bounds{
			{Low: "feeds.min", High: "feeds.max", Lower: &o.Feed.Min, Upper: &o.Feed.Max},
			{Low: "feeds.sitemap_min", High: "feeds.sitemap_max", Lower: &o.Sitemap.Min, Upper: &o.Sitemap.Max},
		},
	}
}

func impliedByColumns() []schema.Column {
	return []schema.Column{
		{Name: "feed", Type: schema.Type{Kind: schema.Text}},
		{Name: "pages", Type: schema.ListType("URIs")},
	}
}

// readImpliedBy reads a list of tables, each with a feed and its pages.
func readImpliedBy(f schema.Field) (all []ImpliedBy) {
	const example = `write for example ` +
		`[{ feed = "https://www.news.example/rss.xml", pages = ["https://www.news.example/"] }]`
	tables, ok := f.Tables(example)
	if !ok {
		return nil
	}
	for _, table := range tables {
		fields, ok := schema.ReadColumns(table, impliedByColumns(), example)
		if !ok {
			continue
		}
		text, ok := fields["feed"].Text(`for example "https://www.news.example/rss.xml"`)
		if !ok {
			continue
		}
		if feed, ok := schema.ReadURI(fields["feed"], text); ok {
			all = append(all, ImpliedBy{Feed: feed, Pages: schema.ReadURIs(fields["pages"])})
		}
	}
	return all
}
