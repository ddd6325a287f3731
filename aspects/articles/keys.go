package articles

import (
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Keys returns the keys of the aspect.
func Keys(o *Options) schema.Owned {
	return schema.Owned{
		Tables: []schema.Table{{
			Name: "articles", After: "feeds",
			Doc: "How new articles are followed up while they are young.",
		}},
		Vars: []schema.Var{
			schema.Ages("articles.ladder", schema.InBoth, &o.Ladder,
				"Ages at which a new article is visited at the latest, counted from its discovery. "+
					"The rule of its [[wait]] entry can make it visited earlier, never later. `[]` switches this off."),
			schema.Interval("articles.young", schema.InBoth, time.Minute, schema.Longest, &o.Young,
				"Maximum age of a page at its discovery, by the date of the feed or its own date, to be followed up."),
			schema.Bool("articles.recognise", schema.InBoth, &o.Recognise,
				"Treat pages that no feed names as new articles too if their address or their `article:published_time` contains a recent date."),
		},
	}
}
