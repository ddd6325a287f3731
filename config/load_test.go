package config_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/arcrawl/arcrawl/aspects/articles"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

const operator = `
[operator]
name = "National Library"
contact = "https://library.example/crawler"
`

const day = 24 * time.Hour

// compare compares types of other packages by their own notion of equality.
var compare = cmp.Options{
	cmpopts.IgnoreUnexported(config.Config{}),
	cmpopts.IgnoreFields(config.Change{}, "Rules", "Seen"), // made of the other fields
	cmp.Comparer(func(a, b *regexp.Regexp) bool { return a == b || a != nil && b != nil && a.String() == b.String() }),
	cmp.Comparer(func(a, b uri.URI) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
}

// folder writes files, named by their paths, into a new folder and returns the path of its main file.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "arcrawl.toml")
}

// load loads a main file with an operator, and host files in pairs of name and text.
func load(t testing.TB, main string, hosts ...string) *config.Config {
	t.Helper()
	files := map[string]string{"arcrawl.toml": main + operator}
	for i := 0; i < len(hosts); i += 2 {
		files["hosts.d/"+hosts[i]] = hosts[i+1]
	}
	c, err := config.Load(folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mime(t testing.TB, expr string) *regexp.Regexp {
	t.Helper()
	re, err := evaluators.Pattern(expr)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

func parse(t testing.TB, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// plain is the rule of an entry that sets nothing.
var plain = evaluators.Classic{
	Initial: day, Min: time.Hour, Max: 28 * day, Unknown: 3 * day, ChangedFactor: 1.5, UnchangedFactor: 1.5,
}

func defaultSettings(t testing.TB) config.Settings {
	return config.Settings{
		Politeness: config.Politeness{
			Politeness:     frontier.Politeness{DelayFactor: 5, MinDelay: 2 * time.Second, MaxDelay: 30 * time.Second},
			CrawlDelayUpTo: 300 * time.Second, Valence: 1,
		},
		Wait:  evaluators.Default(),
		Retry: evaluators.Ladder{First: 10 * time.Minute, Factor: 2, Max: 7 * day},
		Midfetch: config.Midfetch{
			DecideBy: evaluators.Agree, Threshold: evaluators.Threshold{Proof: 3, Precision: 0.98},
			Audit: evaluators.Audit{Every: 50, Within: 30 * day, Share: 0.01},
		},
		Fetch: fetch.Limits{
			Connect: 20 * time.Second, Headers: 30 * time.Second, Body: 20 * time.Minute,
			MinRate: 100, Grace: 30 * time.Second,
			MaxBody: 1 << 30, MaxHead: 256 << 10, MaxContent: 1 << 30,
		},
		MaxPerDay: 50e9,
		Scope: scope.Rules{
			By: scope.ByHost, MaxHops: 20, MaxEmbedHops: 2, MaxRedirects: 5, MaxLinkHops: 1000, MaxManifestHops: 1000,
			MaxInferredHops: 1000, MaxSpeculativeHops: 1, SeedRedirects: scope.RedirectsAnywhere, EmbedsAnywhere: true,
		},
		Network: config.NetworkSettings{Family: fetch.AnyFamily, MinTLS: "1.2"}, TLS: config.TLS{Accept: config.AcceptValid},
		Cookies: config.CookiesOff, HTTP: fetch.AutoHTTP,
		Links: discover.Bounds{MaxLinks: 5000},
		Change: config.Change{
			Of: config.OfSource, Mode: config.Strict, MaxSize: 2 << 20, MaxTime: 10 * time.Second, MIME: mime(t, "^(text/.*|application/([a-z0-9.+-]*[+])?(xml|json)(;.*)?)$"),
			Auto: config.AutoSchedule, RestlessWait: day,
		},
		Dedup: dedup.Policy{By: dedup.Digest, MinSize: 1000, Certainty: dedup.Regular},
		Render: config.Rendering{
			Keep: config.KeepNothing, Age: day, Limit: 2 * time.Minute, MaxRequests: 500, MaxPerDay: 1000,
		},
		Names: uri.Naming{Set: uri.WHATWG},
		Own: []any{
			&robots.Options{Wait: day, ForbiddenWait: day, UnreachableWait: time.Hour},
			&misfortune.Options{KnownBlocks: true, GoneAfter: 4, GoneFirst: time.Hour, GoneWait: 28 * day},
			&spaces.Options{Detect: true, Wait: 28 * day},
			&feeds.Options{
				Discover: true, RobotsSitemaps: true, UsualSitemap: true, Wait: feeds.ByPolicy,
				Bounds: feeds.Bounds{MaxItems: 50_000},
				Policy: feeds.Policy{
					MinWait:   time.Minute,
					Feed:      feeds.Waits{Initial: 30 * time.Minute, Min: 5 * time.Minute, Max: 6 * time.Hour},
					Sitemap:   feeds.Waits{Initial: 6 * time.Hour, Min: time.Hour, Max: 7 * day},
					HintsUpTo: time.Hour, SilentAfter: 60 * day, SilentWait: 7 * day,
				},
			},
			&articles.Options{
				Ladder: []time.Duration{
					15 * time.Minute, time.Hour, 3 * time.Hour, 8 * time.Hour, day, 2 * day,
				}, Young: 2 * day, Recognise: true,
			},
		},
	}
}

func TestLoadDefaults(t *testing.T) {
	t.Parallel()
	c := load(t, "[seeds]\nuris = [\"https://www.news.example/#top\"]\n")
	dir := filepath.Dir(c.Path)
	want := &config.Config{
		Path:     filepath.Join(dir, "arcrawl.toml"),
		Operator: config.Operator{Name: "National Library", Contact: "https://library.example/crawler"},
		Storage: config.Storage{
			State: filepath.Join(dir, "state"), WARC: filepath.Join(dir, "warc"), Log: filepath.Join(dir, "crawl.log"), MinFree: 1e9,
			FoldersFree: 50e9, FoldersOrder: config.FillFolders,
			Secrets: filepath.Join(dir, "secrets"),
		},
		Admin: config.Admin{
			Socket: filepath.Join(dir, "state/admin.sock"), TokenFile: filepath.Join(dir, "state/admin.token"), Remote: config.Off,
			UserFile: filepath.Join(dir, "state/admin.users"), UserRole: config.NoRole,
			ReplayAssets: "/usr/share/arcrawl-replay",
		},
		Mail:   config.Mail{Security: config.StartTLS, Alarms: true},
		WebSub: config.WebSub{Lease: 10 * day},
		Crawl: config.Crawl{
			Workers: 50, Grace: 30 * time.Second, MaxURIsPerHost: 1_000_000, Order: frontier.ByValue,
			NewHosts: frontier.DefaultNewHosts(),
		},
		WARC:  warcout.Options{Prefix: "arcrawl", MaxSize: 1 << 30, MaxAge: day, Level: 6},
		Index: config.Index{Live: true}, Upload: config.Upload{Region: "us-east-1"}, DNSRecords: true, Render: config.DefaultPool(),
		Seeds: []config.Seed{
			{URI: parse(t, "https://www.news.example/"), File: filepath.Join(dir, "arcrawl.toml"), Line: 2},
		},
		Digest: c.Digest, Watch: true, HostsDir: filepath.Join(dir, "hosts.d"),
	}
	if diff := cmp.Diff(want, c, compare); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(defaultSettings(t), c.ForHost("www.news.example", time.Time{}), compare); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// everything sets each key to a value other than its default.
const everything = `
[storage]
state = "/var/lib/arcrawl/../arcrawl/state"
warc = "archive/warc"
log = "/var/log/arcrawl/crawl.log"
hosts = "curators"
min_free = "20GB"
[crawl]
workers = 7
grace = "1m30s"
max_uris_per_host = 1_000
max_hosts = 2000
new_hosts_per_page = 30
new_hosts_per_day = 400
canaries = ["https://provider.example/"]
order = "overdue"
[warc]
prefix = "NLX-2026"
max_size = "500MB"
max_age = "2d"
level = 9
[log]
extra_info = true
[politeness]
delay_factor = 2
min_delay = "500ms"
max_delay = "1m"
crawl_delay_up_to = "0s"
valence = 3
group = "press house"
[robots]
wait = "12h"
forbidden_wait = "2d"
unreachable_wait = "30m"
[[wait]]
mime = "^text/html.*"
initial = "6h"
min = "10m"
max = "1w"
changed_factor = 2.0
unchanged_factor = 1.25
use_overdue = true
unknown = "1d"
rule = "learned"
every = "12h"
capture_target = 0.9
[[wait]]
mime = "^text/css.*"
initial = "6h"
min = "10m"
max = "1w"
changed_factor = 2.0
unchanged_factor = 1.25
use_overdue = true
unknown = "1d"
rule = "target"
capture_target = 0.9
[[wait]]
mime = "^font/.*"
rule = "fixed"
every = "12h"
[[wait]]
mime = "^image/.*$"
max = "1y"
[[wait]]
mime = "^video/.*$"
[retry]
first = "1m"
factor = 3.0
max = "1d"
[change]
mode = "text"
scrub = ['\d+ views']
scrub_css = ["#clock"]
mime = "^text/html.*"
max_size = "1MB"
max_time = "2s"
tolerance = 3
keep_scrubbed = "once per 7d"
auto = "judge"
restless_wait = "36h"
[midfetch]
decide_by = "last-modified"
by_type = [{ mime = "^image/.*", decide_by = "either" }, { mime = ".*", decide_by = "etag" }]
proof = 0
precision = 0.5
audit_every = 0
audit_share = 0.25
audit_within = "7d"
[trouble]
known_blocks = false
blocked = ["captcha"]
not_found = ["no such page"]
gone_after = 2
gone_first = "1m"
gone_wait = "7d"
[fetch]
connect_timeout = "5s"
header_timeout = "6s"
body_timeout = "7m"
min_rate = "2kB"
min_rate_over = "1m"
max_per_day = "3GB"
max_body = "10MiB"
max_head = "64KiB"
max_content = "1TB"
http = "2"
allow_networks = ["127.0.0.0/8", "Intranet.Example=10.1.0.0/16", "fd00::/8"]
[scope]
by = "prefix"
prefixes = ["HTTPS://WWW.News.Example:443/a b/"]
max_hops = 3
max_embed_hops = 0
max_redirects = 50
max_link_hops = 4
max_manifest_hops = 5
max_inferred_hops = 6
max_speculative_hops = 7
seed_redirects = "domain"
max_uris = 8
max_uris_per_directory = 9
traps = false
trap_wait = "7d"
rules = ['reject /print/', 'accept ^https://media[.]']
embeds_anywhere = false
max_links = 100
speculative = true
[names]
set = "heritrix"
drop = ["utm_*"]
rewrite = ['/index[.]html$ -> /']
[seeds]
uris = ["https://www.news.example/", "http://münchen.example:8080/x?b=1&a"]
[cluster]
database = "postgres://arcrawl@db.library.example/arcrawl"
node = "a"
listen = "10.0.0.5:8475"
[admin]
instance = "press"
socket = "/run/arcrawl/admin.sock"
listen = "localhost:8471"
token_file = "token"
user_file = "users"
trusted_proxies = ["127.0.0.1", "10.1.2.0/28"]
user_header = "X-Remote-User"
user_role = "read"
webhook = "https://alarms.library.example/"
remote = "plain"
names = ["crawler.library.example"]
replay_listen = "localhost:8473"
replay_url = "https://replay.library.example/"
replay_assets = "/opt/replay"
tls_cert = "cert.pem"
tls_key = "key.pem"
url = "https://crawler.library.example/"
[mail]
server = "smtp.library.example:465"
security = "tls"
user = "arcrawl"
password_file = "mail.password"
from = "arcrawl@library.example"
to = ["crawler@library.example", "newspapers=press@library.example"]
alarms = false
digest = "07:30"
[feeds]
uris = ["https://www.news.example/rss.xml"]
sitemaps = ["https://www.news.example/sitemap.xml"]
implied = ["https://www.news.example/"]
implied_by = [{ feed = "https://www.news.example/sport.xml", pages = ["https://www.news.example/sport/"] }]
discover = false
robots_sitemaps = false
usual_sitemap = false
max_items = 100
wait = "stack"
min_wait = "2m"
initial = "1h"
min = "10m"
max = "2h"
sitemap_initial = "3h"
sitemap_min = "2h"
sitemap_max = "1d"
hints_up_to = "2h"
silent_after = "30d"
silent_wait = "28d"
[websub]
callback = "https://crawler.example/websub"
listen = "127.0.0.1:8472"
lease = "3d"
any_hub = true
[articles]
ladder = ["10m", "30m"]
young = "12h"
recognise = false
[reload]
watch = false
[dedup]
by = "uri"
equivalent = true
skip_mime = ['^text/.*', '^font/.*']
only_mime = ['^image/.*']
min_size = "1KiB"
max_age = "730d"
certainty = "compare"
revisits = "once per 7d"
[index]
live = false
outbackcdx = "http://localhost:8901/arcrawl"
`

// lineOf returns the line of a text in everything.
func lineOf(text string) int {
	return 1 + strings.Count(everything[:strings.Index(everything, text)], "\n")
}

func TestEachKeyReachesItsField(t *testing.T) {
	t.Parallel()
	main := folder(t, map[string]string{"arcrawl.toml": everything + operator, "curators/sport.example.toml": "[politeness]\nvalence = 3\n"})
	c, err := config.Load(main)
	if err != nil {
		t.Fatal(err)
	}
	want := &config.Config{
		Path:     main,
		Operator: config.Operator{Name: "National Library", Contact: "https://library.example/crawler"},
		Storage: config.Storage{
			State: "/var/lib/arcrawl/state", WARC: filepath.Join(filepath.Dir(main), "archive/warc"),
			Log: "/var/log/arcrawl/crawl.log", MinFree: 20e9,
			FoldersFree: 50e9, FoldersOrder: config.FillFolders,
			Secrets: filepath.Join(filepath.Dir(main), "secrets"),
		},
		Cluster: config.Cluster{Database: "postgres://arcrawl@db.library.example/arcrawl", Node: "a", Listen: "10.0.0.5:8475"},
		Admin: config.Admin{
			Instance: "press", Socket: "/run/arcrawl/admin.sock", Listen: "127.0.0.1:8471", TokenFile: filepath.Join(filepath.Dir(main), "token"),
			Webhook: "https://alarms.library.example/", Remote: config.Plain, Names: []string{"crawler.library.example"},
			TLSCert: filepath.Join(filepath.Dir(main), "cert.pem"), TLSKey: filepath.Join(filepath.Dir(main), "key.pem"),
			URL:      "https://crawler.library.example/",
			UserFile: filepath.Join(filepath.Dir(main), "users"), UserHeader: "X-Remote-User", UserRole: config.RoleRead,
			TrustedProxies: []string{"127.0.0.1", "10.1.2.0/28"},
			ReplayListen:   "127.0.0.1:8473", ReplayURL: "https://replay.library.example/", ReplayAssets: "/opt/replay",
		},
		Mail: config.Mail{
			Server: "smtp.library.example:465", Security: config.Implicit, User: "arcrawl",
			PasswordFile: filepath.Join(filepath.Dir(main), "mail.password"), From: "arcrawl@library.example",
			To: []string{"crawler@library.example", "newspapers=press@library.example"}, Digest: "07:30",
		},
		Crawl: config.Crawl{
			Workers: 7, Grace: 90 * time.Second, MaxURIsPerHost: 1000, Order: frontier.ByOverdue,
			NewHosts: frontier.NewHosts{Total: 2000, PerPage: 30, PerSeedDay: 400},
			Canaries: []uri.URI{parse(t, "https://provider.example/")},
		},
		WARC:  warcout.Options{Prefix: "NLX-2026", MaxSize: 500e6, MaxAge: 2 * day, Level: 9},
		Log:   config.Log{ExtraInfo: true},
		Index: config.Index{OutbackCDX: "http://localhost:8901/arcrawl"}, Upload: config.Upload{Region: "us-east-1"}, DNSRecords: true, Render: config.DefaultPool(),
		WebSub:        config.WebSub{Callback: "https://crawler.example/websub", Listen: "127.0.0.1:8472", Lease: 3 * day, AnyHub: true},
		AllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
		AllowHosts:    []fetch.HostNetwork{{Host: "intranet.example", Network: netip.MustParsePrefix("10.1.0.0/16")}},
		Seeds: []config.Seed{
			{URI: parse(t, "https://www.news.example/"), File: main, Line: lineOf("uris = [")},
			{URI: parse(t, "http://xn--mnchen-3ya.example:8080/x?b=1&a"), File: main, Line: lineOf("uris = [")},
		},
		Sources: []config.Source{
			{URI: parse(t, "https://www.news.example/sitemap.xml"), Seed: parse(t, "https://www.news.example/sitemap.xml"), File: main, Line: lineOf("sitemaps = [")},
			{URI: parse(t, "https://www.news.example/rss.xml"), Seed: parse(t, "https://www.news.example/rss.xml"), File: main, Line: lineOf("uris = [\"https://www.news.example/rss")},
		},
		Digest: c.Digest, HostsDir: filepath.Join(filepath.Dir(main), "curators"),
	}
	if diff := cmp.Diff(want, c, compare); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	settings := config.Settings{
		Politeness: config.Politeness{
			Politeness: frontier.Politeness{
				DelayFactor: 2, MinDelay: 500 * time.Millisecond, MaxDelay: time.Minute,
			}, Valence: 3, Group: "press house",
		},
		Wait: evaluators.Stack{
			{
				Name: "^text/html.*", MIME: mime(t, "^text/html.*"),
				Rule: evaluators.Learned{Min: 10 * time.Minute, Max: 7 * day, CaptureTarget: 0.9, Initial: 6 * time.Hour, Prefer: "pages"},
			},
			{
				Name: "^text/css.*", MIME: mime(t, "^text/css.*"),
				Rule: evaluators.Target{
					Classic: evaluators.Classic{
						Initial: 6 * time.Hour, Min: 10 * time.Minute, Max: 7 * day, Unknown: day,
						ChangedFactor: 2, UnchangedFactor: 1.25, UseOverdue: true,
					},
					CaptureTarget: 0.9,
				},
			},
			{Name: "^font/.*", MIME: mime(t, "^font/.*"), Rule: evaluators.Fixed{Every: 12 * time.Hour}},
			{
				Name: "^image/.*$", MIME: mime(t, "^image/.*$"),
				Rule: evaluators.Classic{
					Initial: 48 * time.Hour, Min: time.Hour, Max: 365 * day, Unknown: 3 * day,
					ChangedFactor: 1.5, UnchangedFactor: 1.5,
				},
			},
			{Name: "^video/.*$", MIME: mime(t, "^video/.*$"), Rule: plain},
		},
		Retry: evaluators.Ladder{First: time.Minute, Factor: 3, Max: day},
		Midfetch: config.Midfetch{
			DecideBy: evaluators.LastModified,
			ByType: []config.DecideByType{
				{MIME: mime(t, "^image/.*"), DecideBy: evaluators.Either}, {MIME: mime(t, ".*"), DecideBy: evaluators.ETag},
			},
			Threshold: evaluators.Threshold{Precision: 0.5}, Audit: evaluators.Audit{Within: 7 * day, Share: 0.25},
		},
		Fetch: fetch.Limits{
			Connect: 5 * time.Second, Headers: 6 * time.Second, Body: 7 * time.Minute,
			MinRate: 2000, Grace: time.Minute,
			MaxBody: 10 << 20, MaxHead: 64 << 10, MaxContent: 1e12,
		},
		HTTP: fetch.HTTP2, MaxPerDay: 3e9,
		Scope: scope.Rules{
			By: scope.ByPrefix, Prefixes: []string{"https://www.news.example/a%20b/"}, MaxHops: 3, MaxRedirects: 50,
			MaxLinkHops: 4, MaxManifestHops: 5, MaxInferredHops: 6, MaxSpeculativeHops: 7,
			SeedRedirects: scope.RedirectsInDomain,
			Exceptions: []scope.Exception{
				{Match: regexp.MustCompile("/print/"), File: main, Line: lineOf("rules =")},
				{Accept: true, Match: regexp.MustCompile("^https://media[.]"), File: main, Line: lineOf("rules =")},
			},
		},
		Limits:  frontier.Limits{URIs: 8, PerDirectory: 9},
		Network: config.NetworkSettings{Family: fetch.AnyFamily, MinTLS: "1.2"}, TLS: config.TLS{Accept: config.AcceptValid},
		Cookies: config.CookiesOff,
		Links:   discover.Bounds{MaxLinks: 100, Speculative: true}, Render: config.DefaultRendering(),
		Names: uri.Naming{
			Set: uri.Heritrix, Drop: []string{"utm_*"}, Rewrite: []uri.Rewrite{
				{Match: regexp.MustCompile(`/index[.]html$`), To: "/"},
			},
		},
		Change: config.Change{
			Of: config.OfSource, Mode: config.TextOnly, Scrub: []string{`\d+ views`}, ScrubCSS: []string{"#clock"}, MIME: mime(t, "^text/html.*"), MaxSize: 1e6, MaxTime: 2 * time.Second,
			Auto: config.AutoJudge, RestlessWait: 36 * time.Hour,
			Tolerance: 3, KeepScrubbed: config.KeepScrubbed{Response: true, Every: 7 * day},
		},
		Dedup: dedup.Policy{
			By: dedup.URI, Equivalent: true, Skip: []*regexp.Regexp{mime(t, "^text/.*"), mime(t, "^font/.*")},
			Only: []*regexp.Regexp{mime(t, "^image/.*")}, MinSize: 1024,
			MaxAge: 730 * day, Certainty: dedup.Compare, Revisits: dedup.Revisits{Once: 7 * day},
		},
		Own: []any{
			&robots.Options{Wait: 12 * time.Hour, ForbiddenWait: 2 * day, UnreachableWait: 30 * time.Minute},
			&misfortune.Options{
				Blocked: []*regexp.Regexp{regexp.MustCompile("captcha")}, NotFound: []*regexp.Regexp{
					regexp.MustCompile("no such page"),
				},
				GoneAfter: 2, GoneFirst: time.Minute, GoneWait: 7 * day,
			},
			&spaces.Options{Wait: 7 * day},
			&feeds.Options{
				Implied: []uri.URI{parse(t, "https://www.news.example/")},
				ImpliedBy: []feeds.ImpliedBy{
					{Feed: parse(t, "https://www.news.example/sport.xml"), Pages: []uri.URI{
						parse(t, "https://www.news.example/sport/"),
					}},
				},
				Bounds: feeds.Bounds{MaxItems: 100}, Wait: feeds.ByStack,
				Policy: feeds.Policy{
					MinWait:   2 * time.Minute,
					Feed:      feeds.Waits{Initial: time.Hour, Min: 10 * time.Minute, Max: 2 * time.Hour},
					Sitemap:   feeds.Waits{Initial: 3 * time.Hour, Min: 2 * time.Hour, Max: day},
					HintsUpTo: 2 * time.Hour, SilentAfter: 30 * day, SilentWait: 28 * day,
				},
			},
			&articles.Options{Ladder: []time.Duration{10 * time.Minute, 30 * time.Minute}, Young: 12 * time.Hour},
		},
	}
	for _, h := range []uri.Host{"www.news.example", "sport.example", "elsewhere.example"} {
		if diff := cmp.Diff(settings, c.ForHost(h, time.Time{}), compare); diff != "" {
			t.Errorf("settings of %s (-want +got):\n%s", h, diff)
		}
	}
}

func TestHostFileOverridesSingleKeys(t *testing.T) {
	t.Parallel()
	c := load(t, "[politeness]\nmin_delay = \"4s\"\nvalence = 2\n[scope]\nmax_hops = 7\n",
		"www.news.example.toml", "[politeness]\nmin_delay = \"6s\"\n[scope]\nembeds_anywhere = false\n[fetch]\nmax_body = \"1MB\"\n",
		"other.toml", "host = \"WWW.News.example:8080\"\nseeds.uris = [\"http://www.news.example:8080/a\"]\n[robots]\nwait = \"1h\"\n")

	main := defaultSettings(t)
	main.Politeness.MinDelay, main.Politeness.Valence, main.Scope.MaxHops = 4*time.Second, 2, 7
	news := main
	news.Politeness.MinDelay, news.Scope.EmbedsAnywhere, news.Fetch.MaxBody = 6*time.Second, false, 1e6
	port := news
	own := *schema.Find[robots.Options](&port)
	own.Wait = time.Hour
	port.Own = append([]any{&own}, port.Own[1:]...)

	for h, want := range map[uri.Host]config.Settings{
		"www.news.example": news, "www.news.example:8080": port, "news.example": main, "sub.www.news.example": news, "xwww.news.example": main,
	} {
		if diff := cmp.Diff(want, c.ForHost(h, time.Time{}), compare); diff != "" {
			t.Errorf("settings of %s (-want +got):\n%s", h, diff)
		}
	}
}

func TestForWithoutURIUsesTheMainFile(t *testing.T) {
	t.Parallel()
	c := load(t, "[politeness]\nmin_delay = \"4s\"\n[[when]]\nuri = \".\"\npoliteness = { min_delay = \"9s\" }\n",
		"www.news.example.toml", "[politeness]\nmin_delay = \"6s\"\n")
	if got := c.For(config.About{}).Politeness.MinDelay; got != 4*time.Second {
		t.Errorf("min_delay is %s, want 4s as in the main file", got)
	}
	if got := c.Effective(config.About{}); len(got) == 0 {
		t.Error("no setting is in force")
	}
}

func TestHostEntriesPrecedeAndShadowTheStack(t *testing.T) {
	t.Parallel()
	of := func(expr string, rule evaluators.Classic) evaluators.WaitEvaluator {
		return evaluators.WaitEvaluator{Name: expr, MIME: mime(t, expr), Rule: rule}
	}
	rule := plain
	rule.Initial, rule.Min, rule.Max, rule.ChangedFactor = 6*time.Hour, 2*time.Hour, 10*day, 3
	html := of("^text/html.*", rule)
	rule.Initial, rule.Min = 30*time.Minute, 5*time.Minute
	changed := of("^text/html.*", rule)
	rule = plain
	rule.UnchangedFactor = 4
	feed := of("^application/rss.*", rule)
	rule = evaluators.Default()[0].Rule.(evaluators.Classic)
	rule.Max = 14 * day
	text := of("^text/.*$", rule)
	shadowing := "[[wait]]\nmime = \"^text/html.*\"\ninitial = \"30m\"\nmin = \"5m\"\n"
	for _, tt := range []struct {
		name, main, host string
		want             evaluators.Stack
	}{
		{
			name: "an entry inherits from the main file's entry with the same pattern",
			main: "[[wait]]\nmime = \"^text/html.*\"\ninitial = \"6h\"\nmin = \"2h\"\nmax = \"10d\"\nchanged_factor = 3\n",
			host: shadowing, want: evaluators.Stack{changed, html},
		},
		{
			name: "an entry with a new pattern has the defaults",
			main: "[[wait]]\nmime = \"^text/html.*\"\ninitial = \"6h\"\nmin = \"2h\"\nmax = \"10d\"\nchanged_factor = 3\n",
			host: "wait = [{ mime = \"^application/rss.*\", unchanged_factor = 4 }]\n" + "# a comment",
			want: evaluators.Stack{feed, html},
		},
		{
			name: "without entries in the main file, the host's entries precede and shadow the built-in stack",
			host: "[[wait]]\nmime = \"^text/.*$\"\nmax = \"2w\"\n",
			want: append(evaluators.Stack{text}, evaluators.Default()...),
		},
		{
			name: "a host file without entries has the main file's stack",
			main: "[[wait]]\nmime = \"^text/html.*\"\ninitial = \"6h\"\nmin = \"2h\"\nmax = \"10d\"\nchanged_factor = 3\n",
			want: evaluators.Stack{html},
		},
		{name: "an empty list in the main file is the built-in stack", main: "wait = []\n", want: evaluators.Default()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := load(t, tt.main, "www.news.example.toml", tt.host)
			if diff := cmp.Diff(tt.want, c.ForHost("www.news.example", time.Time{}).Wait, compare); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrefixesAreTheFoldersOfTheSeedsUnlessSet(t *testing.T) {
	t.Parallel()
	c := load(t, "[scope]\nby = \"prefix\"\n[seeds]\nuris = [\"https://a.example/news/today.html?x=/\", \"http://a.example/news/\", \"http://b.example:8080/x\"]\n",
		"c.example.toml", "[seeds]\nuris = [\"https://c.example/one/two\"]\n[scope]\nprefixes = [\"https://c.example/one\"]\n",
		"d.example.toml", "[seeds]\nuris = [\"https://d.example/one/two\"]\n[scope]\nby = \"host\"\n")
	for h, want := range map[uri.Host][]string{
		"a.example":      {"http://a.example/news/", "https://a.example/news/"},
		"b.example:8080": {"http://b.example:8080/"},
		"c.example":      {"https://c.example/one"},
		"d.example":      nil,
		"e.example":      nil,
	} {
		if diff := cmp.Diff(want, c.ForHost(h, time.Time{}).Scope.Prefixes); diff != "" {
			t.Errorf("prefixes of %s (-want +got):\n%s", h, diff)
		}
	}
}

func TestHostsFolderCanBeNamed(t *testing.T) {
	t.Parallel()
	elsewhere := filepath.Dir(folder(t, map[string]string{"a.example.toml": "[politeness]\nvalence = 4\n"}))
	c := load(t, "[storage]\nhosts = \""+elsewhere+"\"\n", "a.example.toml", "[politeness]\nvalence = 5\n")
	if got := c.ForHost("a.example", time.Time{}).Politeness.Valence; got != 4 {
		t.Errorf("valence = %d, want 4 as in the named folder", got)
	}
}

func TestSeedsComeFromAllFilesInOrder(t *testing.T) {
	t.Parallel()
	c := load(t, "[seeds]\nuris = [\n  \"https://z.example/\",\n  \"https://b.example/\",\n]\n",
		"b.example.toml", "[seeds]\nuris = [\"http://b.example/x\"]\n", "a.example.toml", "[seeds]\nuris = [\"https://a.example/\"]\n")
	dir := filepath.Dir(c.Path)
	want := []config.Seed{
		{parse(t, "https://z.example/"), filepath.Join(dir, "arcrawl.toml"), 3},
		{parse(t, "https://b.example/"), filepath.Join(dir, "arcrawl.toml"), 4},
		{parse(t, "https://a.example/"), filepath.Join(dir, "hosts.d/a.example.toml"), 2},
		{parse(t, "http://b.example/x"), filepath.Join(dir, "hosts.d/b.example.toml"), 2},
	}
	if diff := cmp.Diff(want, c.Seeds, compare); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for h, want := range map[uri.Host]bool{
		"z.example": true, "b.example": true, "a.example": true, "c.example": false, "b.example:8080": false,
	} {
		if got := c.SeedHost(h); got != want {
			t.Errorf("SeedHost(%s) = %v, want %v", h, got, want)
		}
	}
}

func TestUserAgentNamesTheContact(t *testing.T) {
	t.Parallel()
	got := load(t, "").UserAgent("0.3.1")
	if want := "Mozilla/5.0 (compatible; arcrawl/0.3.1; +https://library.example/crawler)"; got != want {
		t.Errorf("UserAgent = %q, want %q", got, want)
	}
}

func TestDigestDependsOnNamesAndBytes(t *testing.T) {
	t.Parallel()
	base := load(t, "", "a.example.toml", "# a", "b.example.toml", "").Digest
	if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(base) {
		t.Errorf("Digest = %q, want sha256: and 64 hexadecimal digits", base)
	}
	for _, tt := range []struct {
		name, main string
		hosts      []string
		same       bool
	}{
		{name: "the same files in another folder", hosts: []string{
			"b.example.toml", "", "a.example.toml", "# a",
		}, same: true},
		{name: "a backup next to them", hosts: []string{
			"a.example.toml", "# a", "b.example.toml", "", "b.example.toml~", "[[",
		}, same: true},
		{name: "another main file", main: "# x", hosts: []string{"a.example.toml", "# a", "b.example.toml", ""}},
		{name: "another host file", hosts: []string{"a.example.toml", "# b", "b.example.toml", ""}},
		{name: "another file name", hosts: []string{"a.example.toml", "# a", "c.example.toml", ""}},
		{name: "the bytes in the other file", hosts: []string{"a.example.toml", "", "b.example.toml", "# a"}},
		{name: "the name and bytes of a file inside another", hosts: []string{"a.example.toml", "# ab.example.toml"}},
		{name: "a file less", hosts: []string{"a.example.toml", "# a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := load(t, tt.main, tt.hosts...).Digest; (got == base) != tt.same {
				t.Errorf("Digest = %s, before %s; want the same: %v", got, base, tt.same)
			}
		})
	}
}

func TestLoadIsRepeatable(t *testing.T) {
	t.Parallel()
	main := folder(t, map[string]string{
		"arcrawl.toml": everything + operator, "curators/a.example.toml": "[[wait]]\nmime = \".*\"\nmin = \"2h\"\n", "curators/b.example.toml": "",
	})
	first, err := config.Load(main)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := config.Load(main)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again, compare); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
		if diff := cmp.Diff(first.ForHost("a.example", time.Time{}), again.ForHost("a.example", time.Time{}), compare); diff != "" {
			t.Fatalf("settings (-first +again):\n%s", diff)
		}
	}
}
