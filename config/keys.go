package config

import (
	"regexp"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// Key is one key of the configuration files, as [Load] reads it and the reference page shows it.
type Key struct {
	Name    string // table and key, "politeness.min_delay"; "wait.…" stands in each [[wait]]
	Type    string // what the value has to be, bounds included
	Default string // as TOML would write it; "" where there is none
	Scope   string // where it may stand: "main", "host" or "both" files
	Doc     string // what it means
}

// The places where a key may stand.
const (
	inMain = "main"
	inHost = "host"
	inBoth = "both"
	inWhen = "when" // in a [[when]] of either
)

// Keys is every key there is, table by table. It is the table that [Load] itself goes by.
func Keys() []Key {
	out := make([]Key, len(keys))
	for i, k := range keys {
		out[i] = k.Key
		out[i].Type = k.reader.kind
	}
	return out
}

// table is a TOML table, or a list of them, that holds keys.
type table struct {
	name, doc string
	list      bool // [[name]]
}

// key is a Key and how its value is read.
type key struct {
	Key
	reader   reader
	required bool
}

var tables = []table{
	{name: "operator", doc: "Who answers for the crawl. Both keys are required: webmasters and later readers of the archive must be able to ask."},
	{name: "storage", doc: "Where things are kept. Relative paths are seen from the folder of the main file."},
	{name: "crawl", doc: "Bounds of the whole crawl."},
	{name: "warc", doc: "How archive files are written."},
	{name: "index", doc: "How the index of the archive is kept."},
	{name: "log", doc: "How crawl.log is written."},
	{name: "admin", doc: "Where a running daemon can be asked and steered: `arcrawl status` and its like, the dashboard, metrics."},
	{name: "reload", doc: "How a running daemon takes a new configuration; see docs/reload.md."},
	{name: "politeness", doc: "How long a host rests between requests: delay_factor times the duration of the last exchange, at least min_delay and at most max_delay."},
	{name: "robots", doc: "How long the answers of robots.txt hold."},
	{name: "wait", list: true, doc: "One evaluator of the stack that says when a URI is visited again; the first whose pattern matches the Content-Type decides. " +
		"Without any, the stack is text (`^text/.*$`, initial 12h), image (`^image/.*$`, initial 48h) and plain (`.*`, initial 24h). " +
		"The entries of a host file stand before those of the main file. A key that an entry does not set is taken from the entry with the same pattern that it shadows; " +
		"if there is none, from the defaults shown here."},
	{name: "retry", doc: "How long a URI waits after failures in a row."},
	{name: "change", doc: "How two versions of a URI are compared."},
	{name: "midfetch", doc: "When the response headers alone prove that nothing changed, so that the body is not read."},
	{name: "trouble", doc: "Answers that are not the page that was asked for. They are archived as evidence and marked, and change nothing that was learned."},
	{name: "dedup", doc: "When an answer is archived as a revisit of an earlier record, in the place of its payload."},
	{name: "fetch", doc: "Bounds of one exchange."},
	{name: "scope", doc: "Which discovered URIs are taken. The settings of the seed's host decide."},
	{name: "feeds", doc: "Feeds and sitemaps: how they are found, and how often they are visited. What is new in them is visited at once."},
	{name: "articles", doc: "How new articles are followed up while they are young."},
	{name: "names", doc: "Which URIs are one. What is fetched and archived is always the URI as it was first found; its name only tells whether it is known already. The settings of the URI's own host decide."},
	{name: "websub", doc: "Hubs that tell at once when a feed has something new. Off unless both addresses are set."},
	{name: "seeds", doc: "Where the crawl starts."},
	{name: whenTable, list: true, doc: whenDoc},
}

// The longest durations that make sense; beyond them a unit was mistaken.
const (
	day      = 24 * time.Hour
	longWait = 3650 * day
)

// keys are those of all topics.
var keys = slices.Concat(coreKeys, adminKeys, dedupKeys, indexKeys, scopeKeys, namesKeys, feedsKeys, websubKeys, queueKeys)

var coreKeys = []key{
	{
		Key:    Key{Name: "host", Scope: inHost, Doc: "The host that this file speaks for, if the file name without .toml is not it. Stands before the first table."},
		reader: hostName(),
	},
	hostUntil,
	{
		Key:      Key{Name: "operator.name", Scope: inMain, Doc: "The institution; stands in every WARC file."},
		reader:   text(operatorName, func(d *draft) *string { return &d.config.Operator.Name }),
		required: true,
	},
	{
		Key:      Key{Name: "operator.contact", Scope: inMain, Doc: "Web page or e-mail address for webmasters; stands in the User-Agent."},
		reader:   text(contact, func(d *draft) *string { return &d.config.Operator.Contact }),
		required: true,
	},
	{
		Key:    Key{Name: "storage.state", Default: `"state"`, Scope: inMain, Doc: "Folder of the frontier's store."},
		reader: text(path, func(d *draft) *string { return &d.config.Storage.State }),
	},
	{
		Key:    Key{Name: "storage.warc", Default: `"warc"`, Scope: inMain, Doc: "Folder of the archive files."},
		reader: text(path, func(d *draft) *string { return &d.config.Storage.WARC }),
	},
	{
		Key:    Key{Name: "storage.log", Default: `"crawl.log"`, Scope: inMain, Doc: "File of the crawl log."},
		reader: text(path, func(d *draft) *string { return &d.config.Storage.Log }),
	},
	{
		Key:    Key{Name: "storage.hosts", Default: `"hosts.d"`, Scope: inMain, Doc: "Folder of the host files. The default one may be absent."},
		reader: text(path, func(d *draft) *string { return &d.hosts }),
	},
	{
		Key:    Key{Name: "storage.min_free", Default: `"1GB"`, Scope: inMain, Doc: "Space that must stay free; the crawl pauses below it. `0B` switches it off."},
		reader: size(0, 1<<50, func(d *draft) *int64 { return &d.config.Storage.MinFree }),
	},
	{
		Key:    Key{Name: "crawl.workers", Default: "50", Scope: inMain, Doc: "Visits at once, over all hosts."},
		reader: whole(1, 10_000, func(d *draft) *int { return &d.config.Crawl.Workers }),
	},
	{
		Key:    Key{Name: "crawl.grace", Default: `"30s"`, Scope: inMain, Doc: "How long visits in progress may take to end when the daemon is told to stop."},
		reader: duration(0, time.Hour, func(d *draft) *time.Duration { return &d.config.Crawl.Grace }),
	},
	{
		Key:    Key{Name: "crawl.max_uris_per_host", Default: "1000000", Scope: inMain, Doc: "URIs kept for one host; those discovered beyond it are refused."},
		reader: whole(1, 1_000_000_000, func(d *draft) *int64 { return &d.config.Crawl.MaxURIsPerHost }),
	},
	{
		Key:    Key{Name: "warc.prefix", Default: `"arcrawl"`, Scope: inMain, Doc: "How the names of archive files begin."},
		reader: text(warcPrefix, func(d *draft) *string { return &d.config.WARC.Prefix }),
	},
	{
		Key:    Key{Name: "warc.max_size", Default: `"1GiB"`, Scope: inMain, Doc: "A file that has grown beyond this is finished and the next begun."},
		reader: size(1<<10, 1<<40, func(d *draft) *int64 { return &d.config.WARC.MaxSize }),
	},
	{
		Key:    Key{Name: "warc.max_age", Default: `"24h"`, Scope: inMain, Doc: "A file is finished at this age."},
		reader: duration(time.Second, longWait, func(d *draft) *time.Duration { return &d.config.WARC.MaxAge }),
	},
	{
		Key:    Key{Name: "warc.level", Default: "6", Scope: inMain, Doc: "Effort of gzip, from fast to small."},
		reader: whole(1, 9, func(d *draft) *int { return &d.config.WARC.Level }),
	},
	{
		Key:    Key{Name: "log.extra_info", Default: "false", Scope: inMain, Doc: "Adds a JSON object as thirteenth column, which some tools need and others refuse."},
		reader: boolean(func(d *draft) *bool { return &d.config.Log.ExtraInfo }),
	},
	{
		Key:    Key{Name: "reload.watch", Default: "true", Scope: inMain, Doc: "The files are read again as soon as they change. Without it, at SIGHUP and by `arcrawl reload` only."},
		reader: boolean(func(d *draft) *bool { return &d.config.Watch }),
	},
	{
		Key:    Key{Name: "politeness.delay_factor", Default: "5.0", Scope: inBoth, Doc: "The rest as a multiple of how long the last exchange took."},
		reader: number(0, 1000, func(d *draft) *float64 { return &d.settings.Politeness.DelayFactor }),
	},
	{
		Key:    Key{Name: "politeness.min_delay", Default: `"2s"`, Scope: inBoth, Doc: "The shortest rest. Less than `1s` is for servers of your own: others see an attack in it."},
		reader: duration(0, day, func(d *draft) *time.Duration { return &d.settings.Politeness.MinDelay }),
	},
	{
		Key:    Key{Name: "politeness.max_delay", Default: `"30s"`, Scope: inBoth, Doc: "The longest rest that delay_factor can lead to."},
		reader: duration(0, day, func(d *draft) *time.Duration { return &d.settings.Politeness.MaxDelay }),
	},
	{
		Key:    Key{Name: "politeness.crawl_delay_up_to", Default: `"300s"`, Scope: inBoth, Doc: "A Crawl-delay in robots.txt is honoured up to this; `0s` ignores it."},
		reader: duration(0, day, func(d *draft) *time.Duration { return &d.settings.Politeness.CrawlDelayUpTo }),
	},
	{
		Key:    Key{Name: "politeness.valence", Default: "1", Scope: inBoth, Doc: "Visits to the host at once."},
		reader: whole(1, 16, func(d *draft) *int { return &d.settings.Politeness.Valence }),
	},
	{
		Key:    Key{Name: "robots.wait", Default: `"24h"`, Scope: inBoth, Doc: "How long a fetched robots.txt is in force."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.settings.Robots.Wait }),
	},
	{
		Key:    Key{Name: "robots.forbidden_wait", Default: `"24h"`, Scope: inBoth, Doc: "When a forbidden URI is looked at again, if the rules do not change before."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.settings.Robots.ForbiddenWait }),
	},
	{
		Key:    Key{Name: "robots.unreachable_wait", Default: `"1h"`, Scope: inBoth, Doc: "How long the host rests after a server error or network failure on robots.txt."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.settings.Robots.UnreachableWait }),
	},
	{
		Key:      Key{Name: "wait.mime", Scope: inBoth, Doc: "Regular expression (RE2) that the whole Content-Type has to match, parameters included, case apart: `^text/html.*`, not `^text/html`. Required."},
		reader:   pattern(),
		required: true,
	},
	{
		Key:    Key{Name: "wait.rule", Default: `"classic"`, Scope: inBoth, Doc: "How the wait is found: multiplied and divided (`classic`), always the same and in a phase that does not drift (`fixed`), multiplied by what a wanted share of captured versions asks for (`target`), or from the rate of change that was learned of the URI (`learned`)."},
		reader: choice(func(d *draft) *string { return &d.entry.Rule }, evaluators.RuleNames()...),
	},
	{
		Key:    Key{Name: "wait.every", Default: `"24h"`, Scope: inBoth, Doc: "The wait of the rule `fixed`. The bounds do not apply to it."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.entry.Every }),
	},
	{
		Key:    Key{Name: "wait.capture_target", Default: "0.8", Scope: inBoth, Doc: "The share of all versions that the rules `target` and `learned` are to capture."},
		reader: number(0.01, 0.99, func(d *draft) *float64 { return &d.entry.CaptureTarget }),
	},
	{
		Key:    Key{Name: "wait.initial", Default: `"24h"`, Scope: inBoth, Doc: "Wait after the first capture."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.entry.Initial }),
	},
	{
		Key:    Key{Name: "wait.min", Default: `"1h"`, Scope: inBoth, Doc: "No wait is shorter. With `rule = \"learned\"` the default is `\"5m\"`."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.entry.Min }),
	},
	{
		Key:    Key{Name: "wait.max", Default: `"28d"`, Scope: inBoth, Doc: "No wait is longer. With `rule = \"learned\"` the default is `\"90d\"`."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.entry.Max }),
	},
	{
		Key:    Key{Name: "wait.changed_factor", Default: "1.5", Scope: inBoth, Doc: "Divides the wait when the content changed."},
		reader: number(1, 1000, func(d *draft) *float64 { return &d.entry.ChangedFactor }),
	},
	{
		Key:    Key{Name: "wait.unchanged_factor", Default: "1.5", Scope: inBoth, Doc: "Multiplies the wait when the content did not change."},
		reader: number(1, 1000, func(d *draft) *float64 { return &d.entry.UnchangedFactor }),
	},
	{
		Key:    Key{Name: "wait.use_overdue", Default: "false", Scope: inBoth, Doc: "Counts from the time that really passed, lateness of the crawler included."},
		reader: boolean(func(d *draft) *bool { return &d.entry.UseOverdue }),
	},
	{
		Key:    Key{Name: "wait.unknown", Default: `"3d"`, Scope: inBoth, Doc: "Wait when no content state could be told and no interval was learned."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.entry.Unknown }),
	},
	{
		Key:    Key{Name: "retry.first", Default: `"10m"`, Scope: inBoth, Doc: "Wait after the first failure."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.settings.Retry.First }),
	},
	{
		Key:    Key{Name: "retry.factor", Default: "2.0", Scope: inBoth, Doc: "Each further failure in a row multiplies the wait by this."},
		reader: number(1, 1000, func(d *draft) *float64 { return &d.settings.Retry.Factor }),
	},
	{
		Key:    Key{Name: "retry.max", Default: `"7d"`, Scope: inBoth, Doc: "No wait after a failure is longer."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.settings.Retry.Max }),
	},
	{
		Key:    Key{Name: "change.mode", Default: `"strict"`, Scope: inBoth, Doc: "`strict` compares every byte, `scrubbed` what the rules below leave over, `text` what a reader sees of that."},
		reader: changeMode(),
	},
	{
		Key:    Key{Name: "change.scrub", Default: "[]", Scope: inBoth, Doc: "What these expressions match does not count; each match is compared as one space. They see the page as text, one after the other. One that matches the empty text or whole documents is a fault."},
		reader: scrubRegexes(),
	},
	{
		Key:    Key{Name: "change.scrub_css", Default: "[]", Scope: inBoth, Doc: "Elements of HTML pages that do not count."},
		reader: scrubSelectors(),
	},
	{
		Key:    Key{Name: "change.mime", Default: "'^(text/.*|application/([a-z0-9.+-]*[+])?(xml|json)(;.*)?)$'", Scope: inBoth, Doc: "The types that this is for; others are compared byte by byte. Has to match the whole Content-Type, as in [[wait]]."},
		reader: changeTypes(),
	},
	{
		Key:    Key{Name: "change.max_size", Default: `"2MiB"`, Scope: inBoth, Doc: "Longer contents are compared byte by byte."},
		reader: size(1<<10, 64<<20, func(d *draft) *int64 { return &d.settings.Change.MaxSize }),
	},
	{
		Key:    Key{Name: "change.tolerance", Default: "0", Scope: inBoth, Doc: "Two contents whose 64-bit sketches differ in at most so many bits are the same; 3 forgives some words on a long page. Not with `strict`."},
		reader: whole(0, 16, func(d *draft) *int { return &d.settings.Change.Tolerance }),
	},
	{
		Key:    Key{Name: "change.keep_scrubbed", Default: `"nothing"`, Scope: inBoth, Doc: "What becomes of an answer that differs only in what does not count: `nothing` is archived, the whole `response` each time, or at most `once per 7d`."},
		reader: keepScrubbed(),
	},
	{
		Key:    Key{Name: "midfetch.decide_by", Default: `"agree"`, Scope: inBoth, Doc: "Which validators decide: each that the answer has (`agree`), one of them (`either`), only the named one, or none (`off`). Only those that have proven right on the host count."},
		reader: choice(func(d *draft) *evaluators.DecideBy { return &d.settings.Midfetch.DecideBy }, validatorChoices...),
	},
	{
		Key:    Key{Name: "midfetch.by_type", Default: "[]", Scope: inBoth, Doc: "What decides for certain types instead, the first match first: `[{ mime = '^image/.*', decide_by = \"either\" }]`. The pattern has to match the whole Content-Type, as in [[wait]]."},
		reader: decideByTypes(),
	},
	{
		Key:    Key{Name: "midfetch.proof", Default: "3", Scope: inBoth, Doc: "A validator of a host is believed after this many right predictions of no change there, and four times as many if it was never seen to tell of a change; 0 believes it at once."},
		reader: whole(0, 64, func(d *draft) *int { return &d.settings.Midfetch.Bar.Proof }),
	},
	{
		Key:    Key{Name: "midfetch.precision", Default: "0.98", Scope: inBoth, Doc: "Share of right ones among the last 64 predictions of no change; below it a validator is not believed until it is right again. 0 believes always."},
		reader: number(0, 1, func(d *draft) *float64 { return &d.settings.Midfetch.Bar.Precision }),
	},
	{
		Key:    Key{Name: "midfetch.audit_share", Default: "0.01", Scope: inBoth, Doc: "Share of visits that read the whole body to check that the server tells the truth: three times as many on a new host, ten times as many after a lie. 0 draws none."},
		reader: number(0, 1, func(d *draft) *float64 { return &d.settings.Midfetch.Audit.Share }),
	},
	{
		Key:    Key{Name: "midfetch.audit_every", Default: "50", Scope: inBoth, Doc: "After this many visits in a row that read no body, the next one does, whatever was drawn. 0 sets no limit."},
		reader: whole(0, 1_000_000, func(d *draft) *int { return &d.settings.Midfetch.Audit.Every }),
	},
	{
		Key:    Key{Name: "midfetch.audit_within", Default: `"30d"`, Scope: inBoth, Doc: "The first visit so long after the body was last read does read it. No version is hidden by a lying server for longer than this and one wait. `0s` sets no limit."},
		reader: duration(0, longWait, func(d *draft) *time.Duration { return &d.settings.Midfetch.Audit.Within }),
	},
	{
		Key:    Key{Name: "trouble.known_blocks", Default: "true", Scope: inBoth, Doc: "Challenge pages, consent walls and pages that say \"not found\" with status 200 are recognised by what is known of them."},
		reader: boolean(func(d *draft) *bool { return &d.settings.Trouble.KnownBlocks }),
	},
	{
		Key:    Key{Name: "trouble.blocked", Default: "[]", Scope: inBoth, Doc: "Expressions that single out further such pages with status 200. They are looked for in how the page begins, 64 KiB, as it was sent."},
		reader: expressions(func(d *draft) *[]*regexp.Regexp { return &d.settings.Trouble.Blocked }),
	},
	{
		Key:    Key{Name: "trouble.not_found", Default: "[]", Scope: inBoth, Doc: "Expressions that single out pages that say \"not found\" with status 200."},
		reader: expressions(func(d *draft) *[]*regexp.Regexp { return &d.settings.Trouble.NotFound }),
	},
	{
		Key:    Key{Name: "trouble.gone_after", Default: "4", Scope: inBoth, Doc: "A URI is gone when so many visits in a row were answered 404 or 410. Until then nothing that was learned changes."},
		reader: whole(1, 100, func(d *draft) *int { return &d.settings.Trouble.GoneAfter }),
	},
	{
		Key:    Key{Name: "trouble.gone_first", Default: `"1h"`, Scope: inBoth, Doc: "Wait after the first of them; each further wait is four times as long."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.settings.Trouble.GoneFirst }),
	},
	{
		Key:    Key{Name: "trouble.gone_wait", Default: `"28d"`, Scope: inBoth, Doc: "How often a URI that is gone is visited. It is never dropped."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.settings.Trouble.GoneWait }),
	},
	{
		Key:    Key{Name: "fetch.connect_timeout", Default: `"20s"`, Scope: inBoth, Doc: "For name look-up, connection and TLS handshake together."},
		reader: duration(shortest, day, func(d *draft) *time.Duration { return &d.settings.Fetch.Connect }),
	},
	{
		Key:    Key{Name: "fetch.header_timeout", Default: `"30s"`, Scope: inBoth, Doc: "From the sent request to the end of the response head."},
		reader: duration(shortest, day, func(d *draft) *time.Duration { return &d.settings.Fetch.Headers }),
	},
	{
		Key:    Key{Name: "fetch.body_timeout", Default: `"20m"`, Scope: inBoth, Doc: "For the whole body; what came until then is kept and marked as cut."},
		reader: duration(shortest, day, func(d *draft) *time.Duration { return &d.settings.Fetch.Body }),
	},
	{
		Key:    Key{Name: "fetch.max_body", Default: `"1GiB"`, Scope: inBoth, Doc: "Longest body as sent; a longer one is cut there and marked."},
		reader: size(1<<10, 1<<40, func(d *draft) *int64 { return &d.settings.Fetch.MaxBody }),
	},
	{
		Key:    Key{Name: "fetch.max_head", Default: `"256KiB"`, Scope: inBoth, Doc: "Longest response head."},
		reader: size(1<<10, 16<<20, func(d *draft) *int64 { return &d.settings.Fetch.MaxHead }),
	},
	{
		Key:    Key{Name: "fetch.max_content", Default: `"1GiB"`, Scope: inBoth, Doc: "Longest content once its coding is undone, against decompression bombs."},
		reader: size(1<<10, 1<<40, func(d *draft) *int64 { return &d.settings.Fetch.MaxContent }),
	},
	{
		Key:    Key{Name: "fetch.allow_networks", Default: "[]", Scope: inMain, Doc: "Networks that may be fetched from though they are private, loopback or otherwise not public."},
		reader: networks(),
	},
	{
		Key:    Key{Name: "seeds.uris", Default: "[]", Scope: inBoth, Doc: "http and https URIs. Those in a host file must be on its host."},
		reader: seeds(`"https://www.news.example/"`, func(d *draft) *[]seed { return &d.seeds }),
	},
	whenURI, whenMIME, whenPort, whenHop, whenTime, whenWeekdays, whenZone, whenUntil,
}
