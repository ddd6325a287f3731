package misfortune

import "github.com/arcrawl/arcrawl/config/schema"

// Keys returns the keys of the aspect.
func Keys(o *Options) schema.Owned {
	return schema.Owned{
		Tables: []schema.Table{{
			Name: "trouble", After: "midfetch",
			Doc: "Answers that are not the requested page. They are archived and marked, and change nothing that was learned about the URI.",
		}},
		Vars: []schema.Var{
			schema.Bool("trouble.known_blocks", schema.InBoth, &o.KnownBlocks,
				"Detect common challenge pages, consent walls, and pages that say \"not found\" with status 200."),
			schema.Elements("trouble.blocked", schema.InBoth, "regular expressions", &o.Blocked, schema.ReadExpressions,
				"What identifies further challenge pages and walls with status 200, in the first 64 KiB of the page as it was sent."),
			schema.Elements("trouble.not_found", schema.InBoth, "regular expressions", &o.NotFound, schema.ReadExpressions,
				"What identifies pages that say \"not found\" with status 200."),
			schema.Count("trouble.gone_after", schema.InBoth, 1, 100, &o.GoneAfter,
				"Number of consecutive answers 404 or 410 after which a URI is gone. Until then nothing that was learned changes."),
			schema.Interval("trouble.gone_first", schema.InBoth, schema.Shortest, schema.Longest, &o.GoneFirst,
				"Wait after the first of these answers. Each further wait is four times as long."),
			schema.Interval("trouble.gone_wait", schema.InBoth, schema.Shortest, schema.Longest, &o.GoneWait,
				"Wait between visits of a URI that is gone. It is never removed."),
		},
	}
}
