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
		robots.Section(), misfortune.Section(), spaces.Section(), feeds.Section(), articles.Section(),
	}
}
