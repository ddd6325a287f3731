package config

import (
	"net/netip"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/aspects/names"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/human"
)

// politenessKeys are the keys of [politeness] and [retry].
func (d *draft) politenessKeys() []schema.Var {
	s := d.settings
	return []schema.Var{
		schema.Float("politeness.delay_factor", InBoth, 0, 1000, &s.Politeness.DelayFactor,
			"Rest as a multiple of the duration of the last exchange."),
		schema.Interval("politeness.min_delay", InBoth, 0, schema.Day, &s.Politeness.MinDelay,
			"Minimum rest. Use less than `1s` only for your own servers: others treat it as an attack."),
		schema.Interval("politeness.max_delay", InBoth, 0, schema.Day, &s.Politeness.MaxDelay,
			"Maximum rest that delay_factor can lead to."),
		schema.Interval("politeness.crawl_delay_up_to", InBoth, 0, schema.Day, &s.Politeness.CrawlDelayUpTo,
			"Maximum of a Crawl-delay in robots.txt that is honored. `0s` ignores Crawl-delay."),
		schema.Count("politeness.valence", InBoth, 1, 16, &s.Politeness.Valence,
			"Maximum number of simultaneous visits to the host."),
		schema.Optional("politeness.group", InBoth, schema.CheckGroup, &s.Politeness.Group,
			"Hosts with the same group are on one machine. Together they get as many simultaneous visits, and rest as long, as a single one of them. Empty: the host is on its own."),
		schema.Interval("retry.first", InBoth, schema.Shortest, schema.Longest, &s.Retry.First,
			"Wait after the first failure."),
		schema.Float("retry.factor", InBoth, 1, 1000, &s.Retry.Factor,
			"Factor by which each further consecutive failure multiplies the wait."),
		schema.Interval("retry.max", InBoth, schema.Shortest, schema.Longest, &s.Retry.Max,
			"Maximum wait after a failure."),
	}
}

// The default bounds of the rule "learned" differ from the defaults that the keys show.
var learnedMin, learnedMax = evaluators.DefaultBounds("learned")

// waitKeys are the keys of each [[wait]].
func (d *draft) waitKeys() []schema.Var {
	e := &d.entry
	return []schema.Var{
		schema.Needed(schema.Value("wait.mime", InBoth, schema.Type{Kind: schema.Regex}, &e.MIME, schema.ReadTypePattern, nil,
			"Must match the whole Content-Type, parameters included, regardless of case: `^text/html.*`, not `^text/html`. Required.")),
		schema.Choice("wait.rule", InBoth, &e.Rule,
			"How the wait is chosen. `classic`: it is multiplied or divided after each visit. `fixed`: it is always the same, in a phase that does not drift. "+
				"`target`: it is multiplied so that a given share of versions is captured. `learned`: it follows from the rate of change that was learned of the URI.",
			evaluators.RuleNames()...),
		schema.Interval("wait.every", InBoth, schema.Shortest, schema.Longest, &e.Every,
			"Wait of the rule `fixed`. The bounds min and max do not apply to it."),
		schema.Float("wait.capture_target", InBoth, 0.01, 0.99, &e.CaptureTarget,
			"Share of all versions that the rules `target` and `learned` aim to capture."),
		schema.Choice("wait.prefer", InBoth, &e.Prefer,
			"What the rule `learned` prefers if it cannot have both. `pages`: little is lost of any page, so pages that change less often than every 2.5 days are visited more. `versions`: most versions of all pages together.",
			evaluators.Preferences()...),
		schema.Interval("wait.initial", InBoth, schema.Shortest, schema.Longest, &e.Initial,
			"Wait after the first capture. With `rule = \"learned\"` it is estimated from similar URIs of the host, unless a file sets it."),
		schema.Interval("wait.min", InBoth, schema.Shortest, schema.Longest, &e.Min,
			"Minimum wait. With `rule = \"learned\"` the default is `\""+human.Duration(learnedMin)+"\"`."),
		schema.Interval("wait.max", InBoth, schema.Shortest, schema.Longest, &e.Max,
			"Maximum wait. With `rule = \"learned\"` the default is `\""+human.Duration(learnedMax)+"\"`."),
		schema.Float("wait.changed_factor", InBoth, 1, 1000, &e.ChangedFactor,
			"Divisor of the wait when the content changed."),
		schema.Float("wait.unchanged_factor", InBoth, 1, 1000, &e.UnchangedFactor,
			"Factor of the wait when the content did not change."),
		schema.Bool("wait.use_overdue", InBoth, &e.UseOverdue,
			"Start from the time that really passed, including the delay of the crawler."),
		schema.Interval("wait.unknown", InBoth, schema.Shortest, schema.Longest, &e.Unknown,
			"Wait when the content state is unknown and no interval was learned."),
	}
}

// midfetchKeys are the keys of [midfetch].
func (d *draft) midfetchKeys() []schema.Var {
	s := d.settings
	return []schema.Var{
		schema.Choice("midfetch.decide_by", InBoth, &s.Midfetch.DecideBy,
			"Which validators decide: all that the answer has (`agree`), any of them (`either`), only the named one, or none (`off`). Only validators that have proven reliable on the host count.",
			validators...),
		schema.Rows("midfetch.by_type", InBoth, byTypeColumns, &s.Midfetch.ByType, readByType,
			"What decides for certain types instead. The first match wins: `[{ mime = '^image/.*', decide_by = \"either\" }]`."),
		schema.Count("midfetch.proof", InBoth, 0, 64, &s.Midfetch.Threshold.Proof,
			"Number of correct predictions of no change after which a validator of a host is trusted; four times as many if it never announced a change. 0 trusts it at once."),
		schema.Float("midfetch.precision", InBoth, 0, 1, &s.Midfetch.Threshold.Precision,
			"Minimum share of correct ones among the last 64 predictions of no change. Below it a validator is not trusted until it is correct again. 0 trusts always."),
		schema.Float("midfetch.audit_share", InBoth, 0, 1, &s.Midfetch.Audit.Share,
			"Share of visits that read the whole body to check the validators: three times as many on a new host, ten times as many after a wrong prediction. 0 = none."),
		schema.Count("midfetch.audit_every", InBoth, 0, 1_000_000, &s.Midfetch.Audit.Every,
			"Maximum number of consecutive visits without reading the body. 0 = no limit."),
		schema.Interval("midfetch.audit_within", InBoth, 0, schema.Longest, &s.Midfetch.Audit.Within,
			"The first visit at least this long after the body was last read reads it. A server with wrong validators hides a version at most for this time and one wait. `0s` = no limit."),
	}
}

// fetchKeys are the keys of [fetch].
func (d *draft) fetchKeys() []schema.Var {
	c, s := d.config, d.settings
	return []schema.Var{
		schema.Interval("fetch.connect_timeout", InBoth, schema.Shortest, schema.Day, &s.Fetch.Connect,
			"Maximum for name resolution, connection and TLS handshake together."),
		schema.Interval("fetch.header_timeout", InBoth, schema.Shortest, schema.Day, &s.Fetch.Headers,
			"Maximum from the sent request to the end of the response head."),
		schema.Interval("fetch.body_timeout", InBoth, schema.Shortest, schema.Day, &s.Fetch.Body,
			"Maximum for the whole body. What arrived by then is kept and marked as cut."),
		schema.Bytes("fetch.min_rate", InBoth, 0, 1<<40, &s.Fetch.MinRate,
			"Minimum rate of a body in bytes a second, over any period of fetch.min_rate_over. A slower body is cut and marked. While slow visits hold most of the workers, a hundred times as much is required. `0B` allows any rate."),
		schema.Interval("fetch.min_rate_over", InBoth, time.Second, schema.Day, &s.Fetch.Grace,
			"Period of fetch.min_rate. A body that is complete within it is never cut."),
		schema.Bytes("fetch.max_body", InBoth, 1<<10, 1<<40, &s.Fetch.MaxBody,
			"Maximum size of the body as sent. A longer body is cut there and marked."),
		schema.Bytes("fetch.max_per_day", InBoth, 0, 1<<50, &s.MaxPerDay,
			"Maximum of compressed bytes that the hosts of one registrable domain add to the archive in a day (UTC). Bodies beyond it are tried again as after a failure. `0B` = no limit."),
		schema.Bytes("fetch.max_head", InBoth, 1<<10, 16<<20, &s.Fetch.MaxHead,
			"Maximum size of the response head."),
		schema.Bytes("fetch.max_content", InBoth, 1<<10, 1<<40, &s.Fetch.MaxContent,
			"Maximum size of the content after decoding, against decompression bombs."),
		schema.Choice("fetch.http", InBoth, &s.HTTP,
			"Versions of HTTP: `auto` is HTTP/1.1, and HTTP/2 where the TLS of a server refuses HTTP/1.1; `1.1` is no other; `2` is HTTP/2 where the server knows it. The archive has HTTP/2 in the form of HTTP/1.1. HTTP/2 needs https.",
			fetch.AutoHTTP, fetch.OnlyHTTP1, fetch.HTTP2),
		schema.Elements("fetch.allow_networks", InMain, "networks (CIDR)", &c.AllowNetworks,
			func(f schema.Field) (all []netip.Prefix) { all, c.AllowHosts = readNetworks(f); return all },
			"Networks that may be fetched from although they are private, loopback or otherwise not public: `\"10.1.0.0/16\"` for all hosts, which strangers' names can point to, or `\"intranet.library.example=10.1.0.0/16\"` for one host only."),
	}
}

// dedupKeys are the keys of [dedup].
func (d *draft) dedupKeys() []schema.Var {
	s := d.settings
	return []schema.Var{
		schema.Choice("dedup.by", InBoth, &s.Dedup.By,
			"Which earlier record with the same payload, status and type replaces an answer. `digest`: a record of any URI. `uri-first`: a record of the same URI, else of any URI. "+
				"`uri`: only a record of the same URI. `off`: none; every fetched payload is archived.",
			dedup.Off, dedup.URI, dedup.URIFirst, dedup.Digest),
		schema.Bool("dedup.equivalent", InBoth, &s.Dedup.Equivalent,
			"With `uri` and `uri-first`, a URI with the same payload counts as the same if it differs only in what replay tools ignore (scheme, leading www, letter case, order of the query, session ids)."),
		schema.Elements("dedup.skip_mime", InBoth, "regular expressions", &s.Dedup.Skip, schema.ReadTypePatterns,
			"Types that are archived whole: `['^text/.*']`."),
		schema.Elements("dedup.only_mime", InBoth, "regular expressions", &s.Dedup.Only, schema.ReadTypePatterns,
			"If set, all other types are archived whole."),
		schema.Bytes("dedup.min_size", InBoth, 0, 1<<40, &s.Dedup.MinSize,
			"Smaller payloads are archived whole."),
		schema.Interval("dedup.max_age", InBoth, 0, schema.Longest, &s.Dedup.MaxAge,
			"An earlier record that is older than this counts no more: the body is fetched and archived whole again, and later revisits refer to the new record. `\"0s\"` is any age."),
		schema.Count("dedup.copies", InBoth, 0, 1_000_000_000, &s.Dedup.Copies,
			"An original with this number of revisits counts no more, as with max_age. `0` = no limit."),
		schema.Choice("dedup.certainty", InBoth, &s.Dedup.Certainty,
			"`regular`: the payload must have the digest and size of the record. `compare`: in addition, every byte is compared with the record. "+
				"`force-new`: the answer is always archived whole.",
			dedup.Regular, dedup.Compare, dedup.ForceNew),
		d.revisits(),
	}
}

// scopeKeys are the keys of [scope] and [names].
func (d *draft) scopeKeys() []schema.Var {
	s := d.settings
	return slices.Concat(
		scope.Keys(&s.Scope, scope.Others{
			URIs: &s.Limits.URIs, PerDirectory: &s.Limits.PerDirectory,
			Links: &s.Links.MaxLinks, Speculative: &s.Links.Speculative,
		}),
		names.Keys(&s.Names),
	)
}
