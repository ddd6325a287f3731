package config

import (
	"cmp"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// Fault is a mistake in a configuration file, or something odd in it if it is a warning.
type Fault = schema.Fault

// Faults are all mistakes in a configuration. [Load] returns them as its error.
type Faults = schema.Faults

// Config is a whole, valid configuration. It is immutable by convention and may be shared between goroutines.
type Config struct {
	Path       string // of the main file, absolute
	Operator   Operator
	Storage    Storage
	Crawl      Crawl
	WARC       warcout.Options // the daemon fills the fields that have no key in [warc]
	Collection string          // of which the WARC files are part; "" = none
	Series     []string        // names of the series of WARC files that hosts may have
	Parts      []Part          // what people should know of the files of each
	Index      Index
	// UsualRequests says that the usual request of a revisit has a record. Its key is warc.usual_requests.
	UsualRequests bool
	// DNSRecords says that look-ups of hosts are archived. Its key is warc.dns.
	DNSRecords bool
	// ChangesArchived says that what changed on pages is archived. Its key is warc.changes.
	ChangesArchived bool

	Upload  Upload
	Fixity  Fixity
	Sealed  struct{ URL, Command string } // the server and the program that receive each finished WARC file; "" = none
	Log     Log
	Admin   Admin
	Cluster Cluster
	Mail    Mail
	// Subscriptions say who gets which changes of pages.
	Subscriptions []Subscription
	WebSub        WebSub
	Render        BrowserPool

	AllowNetworks []netip.Prefix      // networks that may be fetched from although they are not public
	AllowHosts    []fetch.HostNetwork // the same for single hosts
	HostsDir      string              // folder of the host files, absolute
	Watch         bool                // read the files again as soon as they change

	// Seeds are the seeds of the main file in their order, then the seeds of the host files in the order of file names. No
	// URI appears twice.
	Seeds []Seed
	// Sources are the feeds and sitemaps that the files name, in the same order. No URI appears twice.
	Sources []Source
	// Digest is "sha256:" and the hexadecimal digest of the names (without folder) and bytes of all files.
	Digest string
	// Warnings report what is odd but harmless, sorted by file and position.
	Warnings []Fault
	// Broken are the faults of host files that are not in force; see [LoadKept]. It is empty after [Load].
	Broken []Fault

	cat       *catalog
	doc       *schema.Document // of the main file
	files     []*hostFile
	held      map[uri.Host]Fault
	unreached []unreached
	main      *profile // of hosts without a file
	AtRestart []string // keys whose values in the files take effect when the daemon starts again

	hosts     map[uri.Host]*profile // of hosts with a file
	folders   map[uri.Host][]string // of the seeds of each host
	seedHosts map[uri.Host]bool
	feedHosts map[uri.Host]bool // hosts of Sources
	sites     map[uri.Host]Site // of hosts with a file, and of hosts with a seed that is described
	seedSites map[uri.URI]Site
}

// Operator names the institution that is responsible for the crawl.
type Operator struct {
	Name    string // the institution, as written into each WARC file
	Contact string // web page or e-mail address in the User-Agent
}

// Storage says where data is stored. All paths are absolute.
type Storage struct {
	State   string // folder of the frontier's store
	WARC    string // folder of the WARC files
	Log     string // file of the crawl log
	Secrets string // folder of the secrets that host files may name
	MinFree int64  // bytes that must stay free; the crawl pauses below it; 0 = no check

	Elsewhere []string // folders and lists of WARC files that were moved away on purpose

	Folders      Folders // to which finished WARC files are moved
	FoldersFree  int64   // bytes that stay free on the disk of each of them, and of the first folder
	FoldersOrder FolderOrder
}

// FolderOrder says which of several folders takes the next WARC file.
type FolderOrder string

// The orders.
const (
	FillFolders   FolderOrder = "fill"   // the first one that has room
	SpreadFolders FolderOrder = "spread" // the one with most free space
)

// Crawl limits the whole crawl.
type Crawl struct {
	Workers        int           // simultaneous visits, over all hosts
	Grace          time.Duration // maximum time that visits in progress get to finish when the daemon is stopped
	MaxURIsPerHost int64         // URIs discovered beyond it are refused
	Order          frontier.Order
	NewHosts       frontier.NewHosts
	Canaries       []uri.URI // hosts to which a connection is opened to find out whether our own network is down
}

// CanaryAddresses returns host and port of each canary.
func (c Crawl) CanaryAddresses() (addresses []string) {
	for _, u := range c.Canaries {
		addresses = append(addresses, u.Address())
	}
	return addresses
}

// Index says how the index of the archive is kept.
type Index struct {
	Live       bool   // keep a CDXJ index in the folder of the WARC files
	OutbackCDX string // collection of an OutbackCDX server that receives each line of the index; "" = none
}

// Log says how crawl.log is written.
type Log struct {
	ExtraInfo bool // add a JSON object as the thirteenth column
}

// Admin and WebSub say how a running daemon is reached.
type (
	Admin  = Reach
	WebSub = webSub
)

// Instance returns the name of this crawl among several: admin.instance, or the institution if it is not set.
func (c *Config) Instance() string { return cmp.Or(c.Admin.Instance, c.Operator.Name) }

// Seed is a URI that the crawl starts from, and where it is listed.
type Seed struct {
	URI  uri.URI
	File string // as in a [Fault]
	Line int
}

// Source is a feed or sitemap that a file names.
type Source struct {
	URI  uri.URI
	Seed uri.URI // the seed whose scope applies to its entries: the first seed of the file's host, or URI itself
	File string  // as in a [Fault]
	Line int
}

// Lacks returns the first table or key of a wing that is not linked into the program although a file sets it, as
// "[render]"; "" if there is none.
func (c *Config) Lacks(linked func(wing string) bool) (name string) {
	for _, t := range c.cat.tables {
		if t.Wing != "" && !linked(t.Wing) && c.sets(t.Name, "") {
			return brackets(t)
		}
	}
	for _, k := range c.cat.keys {
		if table, name := k.Split(); k.Wing != "" && !linked(k.Wing) && c.sets(table, name) {
			return k.Name
		}
	}
	return ""
}

// sets reports whether any file sets a key of a table, or any of its keys if key is "".
func (c *Config) sets(table, key string) bool {
	has := func(tables map[string]any) bool {
		if list, _ := tables[table].([]map[string]any); key == "" && len(list) > 0 {
			return true
		}
		keys, _ := tables[table].(map[string]any)
		_, found := keys[key]
		return found || key == "" && len(keys) > 0
	}
	return has(c.doc.Root) || slices.ContainsFunc(c.files, func(f *hostFile) bool { return has(f.doc.Root) }) ||
		c.Anywhere(func(*Settings) bool { return false }, has)
}

// UserAgent returns the User-Agent for servers, with the operator's contact. version is the version of arcrawl.
func (c *Config) UserAgent(version string) string {
	return "Mozilla/5.0 (compatible; arcrawl/" + version + "; +" + c.Operator.Contact + ")"
}

// acceptEncoding lists the codings that fetch can decode. The archive keeps the bytes as they were sent.
const acceptEncoding = "gzip, deflate, br, zstd"

// maxFields is the number of header fields of a request with all conditions.
const maxFields = 6

// Request returns the plain request for a URI: without conditions, and without what aspects add. version is the
// version of arcrawl.
func (c *Config) Request(u uri.URI, s *Settings, version string, now time.Time) fetch.Request {
	return fetch.Request{
		URI: u, Limits: s.Fetch, AcceptExpired: s.TLS.Expired(now), HTTP: s.HTTP, Way: s.Way,
		Header: c.PlainHeader(version),
	}
}

// PlainHeader returns the first header fields of each request.
func (c *Config) PlainHeader(version string) []fetch.Field {
	return append(make([]fetch.Field, 0, maxFields),
		fetch.Field{Name: "User-Agent", Value: c.UserAgent(version)},
		fetch.Field{Name: "Accept", Value: "*/*"},
		fetch.Field{Name: "Accept-Encoding", Value: acceptEncoding})
}

// SeedHost reports whether a host has a seed.
func (c *Config) SeedHost(h uri.Host) bool { return c.seedHosts[h] }

// FileHosts returns the hosts that have a file of their own.
func (c *Config) FileHosts() []uri.Host {
	hosts := make([]uri.Host, 0, len(c.files))
	for _, f := range c.files {
		hosts = append(hosts, f.host)
	}
	return hosts
}

// NamesHost reports whether a host has a file of its own, a seed, or a feed or sitemap that a file names.
func (c *Config) NamesHost(h uri.Host) bool {
	return c.hosts[h] != nil || c.seedHosts[h] || c.feedHosts[h]
}

// NetworksFor returns the networks that the host of a URI may be at although they are not public.
func (c *Config) NetworksFor(u uri.URI) []netip.Prefix {
	allow := slices.Clone(c.AllowNetworks)
	for _, n := range c.AllowHosts {
		if n.Host == u.Hostname() {
			allow = append(allow, n.Network)
		}
	}
	return allow
}

// Live holds the configuration in force. It may be shared between goroutines. Take the configuration once for each
// piece of work and use it to the end.
type Live struct {
	current atomic.Pointer[Config]
}

// NewLive returns a Live with c in force.
func NewLive(c *Config) *Live {
	l := new(Live)
	l.current.Store(c)
	return l
}

// Current returns the configuration in force.
func (l *Live) Current() *Config { return l.current.Load() }

// Replace puts c in force. Visits in progress end under the configuration that they began with.
func (l *Live) Replace(c *Config) { l.current.Store(c) }
