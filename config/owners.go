package config

import (
	"github.com/arcrawl/arcrawl/aspects/articles"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config/schema"
)

// aspectSections lists the aspects that have keys of their own. A new aspect is one line here.
func aspectSections() []schema.Section {
	return []schema.Section{
		schema.NewSection(robots.DefaultOptions, robots.Keys),
		schema.NewSection(misfortune.DefaultOptions, misfortune.Keys),
		schema.NewSection(spaces.DefaultOptions, spaces.Keys),
		schema.NewSection(feeds.DefaultOptions, feeds.Keys),
		schema.NewSection(articles.DefaultOptions, articles.Keys),
	}
}
