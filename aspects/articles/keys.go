package articles

import (
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Section returns the keys of the aspect.
func Section() schema.Section {
	return schema.NewSection(DefaultOptions, []schema.Table{{
		Name: "articles", After: "feeds",
		Doc: "How new articles are followed up while they are young.",
	}},
		ladder(),
		schema.Interval("articles.young", schema.InBoth, time.Minute, schema.Longest,
			func(o *Options) *time.Duration { return &o.Young },
			"Maximum age of a page at its discovery, by the date of the feed or its own date, to be followed up."),
		schema.Bool("articles.recognise", schema.InBoth, func(o *Options) *bool { return &o.Recognise },
			"Treat pages that no feed names as new articles too if their address or their `article:published_time` contains a recent date."),
	)
}

// ladder returns the key of the ages of an article.
func ladder() schema.Of[Options] {
	return schema.Of[Options]{
		Key: schema.Key{
			Name: "articles.ladder", Type: schema.ListType("durations, each longer than the one before"), Scope: schema.InBoth,
			Doc: "Ages at which a new article is visited at the latest, counted from its discovery. " +
				"The rule of its [[wait]] entry can make it visited earlier, never later. `[]` switches this off.",
		},
		Read: func(f schema.Field, o *Options) { o.Ladder = schema.ReadAges(f) },
		Show: func(o *Options) string {
			rungs := make([]string, len(o.Ladder))
			for i, rung := range o.Ladder {
				rungs[i] = strconv.Quote(human.Duration(rung))
			}
			return "[" + strings.Join(rungs, ", ") + "]"
		},
	}
}
