package config

import (
	"time"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// fileKeys are the keys of a host file outside all tables.
func (d *draft) fileKeys() []schema.Var {
	return perFile([]schema.Var{
		schema.Value("host", InHost, schema.Type{Kind: schema.Host}, &d.host, readHost, nil,
			"The host that this file applies to, if it is not the file name without .toml."),
		schema.Value("until", InHost, schema.Type{Kind: schema.Moment}, &d.until,
			func(f schema.Field) (time.Time, bool) { return schema.ReadMoment(f, time.UTC) }, nil,
			"Date (that day included) or time at which all settings of this file expire, in UTC if it has no offset. Its seeds remain seeds."),
	})
}

// operatorKeys are the keys of [operator] and [storage].
func (d *draft) operatorKeys() []schema.Var {
	c := d.config
	return []schema.Var{
		schema.Needed(schema.String("operator.name", InMain, schema.CheckNameOf("institution"), &c.Operator.Name,
			"The institution. It is written into every WARC file.")),
		schema.Needed(schema.String("operator.contact", InMain, schema.CheckContact, &c.Operator.Contact,
			"Web page or e-mail address for webmasters. It is part of the User-Agent.")),
		schema.String("storage.state", InMain, schema.CheckPath, &c.Storage.State,
			"Folder of the frontier's store."),
		schema.String("storage.warc", InMain, schema.CheckPath, &c.Storage.WARC,
			"Folder of the WARC files."),
		schema.String("storage.log", InMain, schema.CheckPath, &c.Storage.Log,
			"File of the crawl log."),
		schema.String("storage.hosts", InMain, schema.CheckPath, &c.HostsDir,
			"Folder of the host files. The default folder may be absent."),
		schema.String("storage.secrets", InMain, schema.CheckPath, &c.Storage.Secrets,
			"Folder of the secrets that host files may name, as `\"file:NAME\"`. Only the user of the daemon should read it. It may be absent."),
		schema.Bytes("storage.min_free", InMain, 0, 1<<50, &c.Storage.MinFree,
			"Minimum of free space. The crawl pauses below it. `0B` switches the check off."),
		schema.Strings("storage.elsewhere", InMain, "paths", schema.CheckPath, &c.Storage.Elsewhere,
			"Where WARC files are that were moved away from `storage.warc`: folders, and lists of file names. At its start the daemon takes all other missing files for lost and archives their payloads again."),
		schema.Strings("storage.folders", InMain, "paths", schema.CheckPath, (*[]string)(&c.Storage.Folders),
			"Further folders for WARC files, usually on other disks. Finished files are moved there, the oldest first, while less than `storage.folders_free` is free on the disk of `storage.warc`. Each leaves a symbolic link. `\"embargo=/disk/warc\"` is for the files of the series `embargo` alone, which are moved there as soon as they are finished."),
		schema.Bytes("storage.folders_free", InMain, 0, 1<<50, &c.Storage.FoldersFree,
			"Free space that is kept on the disk of `storage.warc` by moving files to `storage.folders`, and on their disks by not moving more. It must be more than `storage.min_free`."),
		schema.Choice("storage.folders_order", InMain, &c.Storage.FoldersOrder,
			"Which of `storage.folders` takes the next file. `fill`: the first one that has room. `spread`: the one with most free space.",
			FillFolders, SpreadFolders),
	}
}

// crawlKeys are the keys of [crawl], [warc], [index], [log] and [reload].
func (d *draft) crawlKeys() []schema.Var {
	c, s := d.config, d.settings
	return []schema.Var{
		schema.Count("crawl.workers", InMain, 1, 10_000, &c.Crawl.Workers,
			"Number of simultaneous visits, over all hosts."),
		schema.Interval("crawl.grace", InMain, 0, time.Hour, &c.Crawl.Grace,
			"Maximum time that visits in progress get to finish when the daemon is stopped."),
		schema.Count("crawl.max_uris_per_host", InMain, 1, 1_000_000_000, &c.Crawl.MaxURIsPerHost,
			"Maximum number of URIs per host. URIs discovered beyond it are refused."),
		schema.Count("crawl.max_hosts", InMain, 1, 100_000_000, &c.Crawl.NewHosts.Total,
			"Maximum number of known hosts; each takes about 1 kB of memory. To make room, hosts that never answered are removed. URIs on further hosts are refused, except seeds."),
		schema.Count("crawl.new_hosts_per_page", InMain, 1, 1e6, &c.Crawl.NewHosts.PerPage,
			"Maximum number of hosts that one visit makes known. Its links to further new hosts are refused."),
		schema.Count("crawl.new_hosts_per_day", InMain, 1, 1e9, &c.Crawl.NewHosts.PerSeedDay,
			"Maximum number of hosts per day (UTC) that the pages found from one seed make known. A tenth of it may be of one registrable domain."),
		schema.Elements("crawl.canaries", InMain, "URIs", &c.Crawl.Canaries, schema.ReadURIs,
			"Hosts that are always up, for example your network provider's. If several strangers are unreachable at once, a connection to these shows whether your own network is down."),
		schema.Choice("crawl.order", InMain, &c.Crawl.Order,
			"Which due URI goes first if a host cannot serve all. `value`: the one of which most versions would be lost. `overdue`: the one with the largest delay relative to its wait. "+
				"`due`: the one that has been due for longest.",
			frontier.ByValue, frontier.ByOverdue, frontier.ByDue),
		schema.String("warc.prefix", InMain, schema.CheckFilePrefix, &c.WARC.Prefix,
			"Prefix of the names of WARC files."),
		schema.Optional("warc.collection", InMain, schema.CheckNameOf("collection"), &c.Collection,
			"Name of the collection that the crawl belongs to. It is written into every WARC file (`isPartOf`). Empty: none."),
		schema.Strings("warc.series_names", InMain, "names", checkSeries, &c.Series,
			"Names that `warc.series` of host files may have, at most 8."),
		schema.Optional("warc.series", InHost, checkSeries, &s.Dedup.Series,
			"Series of WARC files for the host and the hosts below it, one of `warc.series_names`: files of their own, without revisits of records in other files. Empty: the files of all other hosts."),
		schema.Rows("warc.about", InMain, partColumns, &c.Parts, readParts,
			"Title, rights, access class and end of the embargo of the files of no series, and of each series: `[{ title = \"The Press\", rights = \"legal deposit\" }, { series = \"embargo\", access = \"reading room\", embargo = \"2031-01-01\" }]`."),
		schema.Bytes("warc.max_size", InMain, 1<<10, 1<<40, &c.WARC.MaxSize,
			"A file that exceeds this size is finished and the next one begun."),
		schema.Interval("warc.max_age", InMain, time.Second, schema.Longest, &c.WARC.MaxAge,
			"A file is finished at this age."),
		schema.Count("warc.level", InMain, 1, 9, &c.WARC.Level,
			"Level of gzip, from 1 (fast) to 9 (small)."),
		schema.Bool("warc.dns", InMain, &c.DNSRecords,
			"Write a record `dns:HOST` with the addresses of a host when it is first looked up after a start, and when they have changed, at most once an hour for each host."),
		schema.Bool("warc.changes", InMain, &c.ChangesArchived,
			"Write what a reader sees that changed with a version as a metadata record too: `urn:change:URI`, with the JSON of `arcrawl changes`."),
		schema.Bool("warc.usual_requests", InMain, &c.UsualRequests,
			"Write a request record next to a revisit also if the request was the usual one, which the first record of the file shows."),
		schema.Secretly(schema.Optional("warc.sealed_url", InMain, schema.CheckWebhook, &c.Sealed.URL,
			"Address that receives one JSON object by POST for each finished WARC file: path, size, SHA-256, records, dates. Each file is sent again until the answer has a status 2xx, also after a restart. Empty: none.")),
		schema.Running(schema.Optional("warc.sealed_command", InMain, schema.CheckCommand, &c.Sealed.Command,
			"Program that is called for each finished WARC file, with the path of the file as argument and the same JSON object as input. It is called again until it exits with 0. The last line that it prints is added to the manifest. Empty: none.")),
		schema.Bool("index.live", InMain, &c.Index.Live,
			"Keep a CDXJ index in the folder of the WARC files that contains each capture as soon as it is archived."),
		schema.Secretly(schema.Optional("index.outbackcdx", InMain, schema.CheckCollection, &c.Index.OutbackCDX,
			"Collection of an OutbackCDX server, as `http://localhost:8901/arcrawl`, that receives each line of the live index. Empty: none. Requires index.live.")),
		schema.Bool("log.extra_info", InMain, &c.Log.ExtraInfo,
			"Add a JSON object as the thirteenth column, which some tools need and others refuse."),
		schema.Bool("reload.watch", InMain, &c.Watch,
			"Read the files again as soon as they change. Otherwise only at SIGHUP and by `arcrawl reload`."),
	}
}

// seedKeys are the keys of [seeds].
func (d *draft) seedKeys() []schema.Var {
	return perFile([]schema.Var{
		schema.Elements("seeds.uris", InBoth, "URIs", &d.seeds, readSeeds,
			"http and https URIs. A host file may list only URIs on its host and on hosts below it."),
		schema.Rows("seeds.about", InBoth, seedColumns, &d.seedSites, readSeedSites,
			"What people should know of single seeds; each is in `uris` too: `[{ uri = \"https://www.news.example/\", title = \"Front page\", labels = [\"newspapers\"], collections = [\"elections\"], owner = \"maria\", note = \"since 2019\" }]`. Every key except `uri` may be left out."),
	})
}

// readHost reads the host of a host file.
func readHost(f schema.Field) (uri.Host, bool) {
	s, ok := f.Text(`for example "www.news.example" or "www.news.example:8080"`)
	if !ok {
		return "", false
	}
	h, problem, remedy := schema.ParseHost(s)
	if problem != "" {
		f.Fault(problem, remedy)
	}
	return h, problem == ""
}

// readSeeds reads a list of seeds. Their hosts, and whether they are new, are checked when all files are read.
func readSeeds(f schema.Field) (all []seed) {
	f.Texts(`for example "https://www.news.example/"`, func(e schema.Field, s string) {
		if u, ok := schema.ReadURI(e, s); ok {
			all = append(all, seed{uri: u, at: e})
		}
	})
	return all
}

// defaultConfig returns the values of the main file's keys that no file has set. Paths are relative to the main file.
func defaultConfig() Config {
	return Config{
		Storage: Storage{
			State: "state", WARC: "warc", Log: "crawl.log", Secrets: "secrets", MinFree: 1e9,
			FoldersFree: 50e9, FoldersOrder: FillFolders,
		},
		Crawl: Crawl{
			Workers: 50, Grace: 30 * time.Second, MaxURIsPerHost: frontier.DefaultMaxURIs, Order: frontier.ByValue,
			NewHosts: frontier.DefaultNewHosts(),
		},
		Upload: Upload{Region: "us-east-1"}, Fixity: Fixity{Daily: 0.02, Rate: 10e6},
		WARC: warcout.Options{
			Prefix: warcout.DefaultPrefix, MaxSize: warcout.DefaultMaxSize, MaxAge: schema.Day, Level: warcout.DefaultLevel,
		},
		DNSRecords: true, Index: Index{Live: true}, Admin: Admin{Remote: Off, UserRole: NoRole},
		Mail:   Mail{Security: StartTLS, Alarms: true},
		WebSub: WebSub{Lease: feeds.DefaultLease}, HostsDir: "hosts.d", Watch: true,
		Render: BrowserPool{Workers: 1, Memory: 2e9, Pages: 100},
	}
}
