package config

import (
	"net/netip"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// Config is a whole, valid configuration as [Load] gives it. It is immutable by convention and may be shared between
// goroutines.
type Config struct {
	// Path is the main file, absolute.
	Path string
	// Operator is who answers for the crawl.
	Operator Operator
	// Storage is where things are kept.
	Storage Storage
	// Crawl bounds the whole crawl.
	Crawl Crawl
	// WARC holds warc.prefix ("arcrawl"), warc.max_size ("1GiB"), warc.max_age ("24h") and warc.level (6). The daemon fills
	// the other fields.
	WARC warcout.Options
	// Index says how the index of the archive is kept.
	Index Index
	// Log says how crawl.log is written.
	Log Log
	// Admin says where the daemon can be asked and steered.
	Admin Admin
	// WebSub says where hubs reach the crawl.
	WebSub WebSub
	// AllowNetworks is fetch.allow_networks ([]): the networks that may be fetched from though they are not public.
	AllowNetworks []netip.Prefix
	// Seeds are those of the main file in its order, then those of the host files in the order of file names. No URI
	// stands there twice.
	Seeds []Seed
	// Sources are the feeds and sitemaps that the files name, in the same order. No URI stands there twice.
	Sources []Source
	// Digest is "sha256:" and the hexadecimal sum over the names (without folder) and bytes of all files read.
	Digest string
	// Warnings are about what is odd but harmless, sorted by file and position.
	Warnings []Fault
	// Broken is what is wrong with host files that are not in force as they are: see [LoadKept]. It is empty after [Load].
	Broken []Fault
	// HostsDir is the folder of the host files, storage.hosts, absolute.
	HostsDir string
	// Watch is reload.watch (true): whether the files are read again as soon as they change.
	Watch bool

	doc       *document // of the main file
	files     []*hostFile
	held      map[uri.Host]Fault
	main      *profile              // of hosts without a file
	hosts     map[uri.Host]*profile // of hosts with one
	folders   map[uri.Host][]string // of the seeds of each host
	seedHosts map[uri.Host]bool
}

// Operator is who answers for the crawl.
type Operator struct {
	// Name is operator.name, required: the institution, as it stands in each WARC file.
	Name string
	// Contact is operator.contact, required: a web page or e-mail address in the User-Agent.
	Contact string
}

// Storage is where things are kept. Folders are absolute; relative ones in the file are seen from the main file's folder.
type Storage struct {
	// State is storage.state ("state"): the folder of the frontier's store.
	State string
	// WARC is storage.warc ("warc"): the folder of the archive files.
	WARC string
	// Log is storage.log ("crawl.log"): the file of the crawl log.
	Log string
	// MinFree is storage.min_free ("1GB"): bytes that must stay free; the crawl pauses below it. Zero switches it off.
	MinFree int64
}

// Crawl bounds the whole crawl.
type Crawl struct {
	// Workers is crawl.workers (50): visits at once, over all hosts.
	Workers int
	// Grace is crawl.grace ("30s"): how long visits in progress may take to end when the daemon is told to stop.
	Grace time.Duration
	// MaxURIsPerHost is crawl.max_uris_per_host (1000000): discovered URIs beyond it are refused.
	MaxURIsPerHost int64
	// Order is crawl.order ("value"): which of the due URIs of a host goes first that has more due than it can serve.
	Order frontier.Order
}

// Log says how crawl.log is written.
type Log struct {
	// ExtraInfo is log.extra_info (false): adds a JSON object as thirteenth column, which some tools need and others
	// refuse.
	ExtraInfo bool
}

// Seed is a URI that the crawl starts from, and where it was listed.
type Seed struct {
	URI  uri.URI
	File string // as it stands in a [Fault]
	Line int
}

// UserAgent is what arcrawl calls itself towards servers, with the operator's contact; version is the program's own.
func (c *Config) UserAgent(version string) string {
	return "Mozilla/5.0 (compatible; arcrawl/" + version + "; +" + c.Operator.Contact + ")"
}

// SeedHost reports whether a seed is on the host.
func (c *Config) SeedHost(h uri.Host) bool { return c.seedHosts[h] }
