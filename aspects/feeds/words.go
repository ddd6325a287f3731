package feeds

import "github.com/arcrawl/arcrawl/crawllog"

// Meanings returns what the annotations of the aspect mean in words.
func Meanings() []crawllog.Meaning {
	return []crawllog.Meaning{
		{Annotation: "feedGap", Words: "entries of the feed were probably missed"},
		{Annotation: "feedSlow", Words: "seldom visited: the feed is dead, silent or unreadable"},
		{Annotation: "feedBroken", Words: "the feed is faulty and was read as far as possible"},
		{Annotation: "sitemapGap", Words: "entries of the sitemap were probably missed"},
		{Annotation: "sitemapSlow", Words: "seldom visited: the sitemap is dead, silent or unreadable"},
		{Annotation: "sitemapBroken", Words: "the sitemap is faulty and was read as far as possible"},
		{Annotation: "dated:its_entries", Words: "its entries say how often it changed"},
		{Annotation: "dated:its_feed_or_sitemap", Words: "its feed or sitemap says when it changed"},
		{Annotation: "feedListed:", Say: crawllog.Counted("first reading, with %s", "entry")},
		{Annotation: "feedNew:", Say: crawllog.Counted("%s new", "entry")},
		{Annotation: "feedUpdated:", Say: crawllog.Counted("%s changed", "entry")},
		{Annotation: "sitemapListed:", Say: crawllog.Counted("first reading, with %s", "entry")},
		{Annotation: "sitemapNew:", Say: crawllog.Counted("%s new", "entry")},
		{Annotation: "sitemapUpdated:", Say: crawllog.Counted("%s changed", "entry")},
	}
}
