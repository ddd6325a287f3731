package config

// tables lists the tables in the order of the reference page.
var tables = []Table{
	{Name: "operator", Doc: "Who is responsible for the crawl. Both keys are required, so that webmasters and later readers of the archive can ask."},
	{Name: "storage", Doc: "Where data is stored. Relative paths start at the folder of the main file."},
	{Name: "upload", Wing: "archive", Doc: "A bucket of an S3-compatible server that receives a copy of each finished WARC file; see docs/archive.md."},
	{Name: "fixity", Wing: "archive", Doc: "How finished WARC files are checked again; see docs/archive.md."},
	{Name: "crawl", Doc: "Limits of the whole crawl."},
	{Name: "warc", Doc: "How WARC files are written; see docs/archive.md."},
	{Name: "index", Doc: "How the index of the archive is kept."},
	{Name: "log", Doc: "How crawl.log is written."},
	{Name: "cluster", Wing: "cluster", Doc: "Several nodes that share a crawl, and a PostgreSQL database: others take over when one dies, and each may crawl its own hosts; see docs/cluster.md. Experimental."},
	{Name: "admin", Doc: "Where a running daemon is reached: by commands such as `arcrawl status`, the dashboard and the metrics."},
	{Name: "mail", Wing: "messages", Doc: "Alarms by e-mail. Off unless mail.server is set."},
	{
		Name: subscriptionTable, List: true, Wing: "messages",
		Doc: "Who gets which changes of pages; see docs/curators.md.",
	},
	{Name: "reload", Doc: "How a changed configuration is applied; see docs/reload.md."},
	{Name: "politeness", Doc: "How long a host rests between requests: delay_factor times the duration of the last exchange, but at least min_delay and at most max_delay."},
	{
		Name: "wait", List: true,
		Doc: "One evaluator of the stack that decides when a URI is visited again. The first whose pattern matches the Content-Type decides. " +
			"Without any [[wait]] in the main file, `learned` decides about all types; `wait = [{ mime = \".*\", rule = \"classic\" }]` at the top chooses Heritrix's rule. " +
			"The entries of a host file come before the entries of the main file. A key that an entry does not set is inherited from the entry with the same pattern that it shadows. " +
			"If there is no such entry, it keeps the rule and capture target that decided about these types in the main file; the other keys have their defaults.",
	},
	{Name: "retry", Doc: "How long a URI waits after consecutive failures."},
	{Name: "midfetch", Doc: "When the response headers alone prove that nothing changed, so that the body is not read."},
	{Name: "dedup", Doc: "When an answer is archived as a revisit of an earlier record instead of whole."},
	{Name: "fetch", Doc: "Limits of one exchange."},
	{Name: "network", Doc: "How connections to a host are made: through which proxy, from and to which addresses. What is unusual is written into crawl.log (`way:`) and into the metadata record of each visit; see docs/curators.md."},
	{Name: "tls", Doc: "Which certificates and versions of TLS are accepted."},
	{Name: "scope", Doc: "Which discovered URIs are crawled. The settings of the seed's host decide."},
	{Name: "render", Wing: "render", Doc: "Pages whose scripts load what they show: a browser without a network loads the captured page, and what it requests is visited. Needs Chromium; see docs/rendering.md."},
	{Name: "names", Doc: "When two URIs are the same. A URI is always fetched and archived as it was first found; its name only decides whether it is already known. The settings of the URI's own host apply."},
	{Name: "websub", Doc: "Hubs that notify the crawl at once when a feed has a new entry. Off unless both addresses are set."},
	{Name: "seeds", Doc: "Where the crawl starts."},
	{
		Name: whenTable, List: true,
		Doc: "Settings for some of the visits. They apply when all criteria hold, and then override everything outside. " +
			"Of two refinements that apply, the later one wins key by key. A host file's refinements override those in the file of its parent domain, and these override those in the main file. " +
			"Next to the criteria it holds any of the tables that a host file may contain, except seeds: `[when.politeness]`, or `wait = [{ mime = \".*\", min = \"1m\" }]`.",
	},
}
