// Package testcrawl opens the parts of a crawl for tests: the real ones, in a folder, with a small archive. A [World]
// runs a crawl of a scripted web, for tests of what is shown and ordered of it: of the API, and of what wings add to
// it.
//
// A [Town] is the scripted web. Its pages change by the clock and are reached through pipes instead of a network, so
// that a test under testing/synctest plays months in seconds. [Maze] is a site by itself, with traps. [Noisy] adds
// noise and searches without end to another site. [NewsPages] are pages whose news is easily mistaken for what differs
// at each fetch.
package testcrawl

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// Options say where a crawl is, and how it reaches the network.
type Options struct {
	Dir      string // of the journal and of temporary files
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Frontier func(*frontier.Options) // changes the options of the frontier; nil = nothing
	Log      zerolog.Logger
}

const version = "test"

// Open opens the parts of a crawl. [Close] closes them. The caller sets FreeSpace, and what reports to it.
func Open(t testing.TB, cfg *config.Config, o Options) crawler.Parts {
	t.Helper()
	now := time.Now()
	var learned *spaces.Store
	fo := frontier.Options{Dir: cfg.Storage.State, Compactors: -1, Now: now, RestAfterCrash: 1}
	fo.Names = func(h uri.Host) *uri.Naming {
		n := cfg.ForHost(h, time.Now()).Names
		if learned != nil {
			return learned.Naming(h, &n)
		}
		return &n
	}
	if o.Frontier != nil {
		o.Frontier(&fo)
	}
	f := must(frontier.Open(fo))(t)
	Untick(t, f.DB())
	learned = spaces.Open(f.DB())
	var usual warcout.Usual
	if !cfg.UsualRequests {
		usual.Before, usual.After = fetch.PlainRequest(cfg.PlainHeader(version))
	}
	archive, _, err := warcout.Open(warcout.Options{
		Dir: cfg.Storage.WARC, Prefix: "test", Host: "crawler.example", MaxSize: cfg.WARC.MaxSize, MaxAge: cfg.WARC.MaxAge,
		Usual:   usual,
		TempDir: o.Dir, Journal: o.Dir + "/warc.journal", Info: []warcout.Field{{Name: "software", Value: "arcrawl/test"}},
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	return crawler.Parts{
		Config: config.NewLive(cfg), Frontier: f, Traps: learned, Archive: archive,
		Fetch: fetch.New(fetch.Options{Dial: o.Dial, SpoolDir: o.Dir}),
		Dedup: must(dedup.Open(f.DB(), dedup.Options{
			Name: uri.ReplayKey, View: f.View, Series: warcout.SeriesIn("test"),
		}))(t),
		Reputation:   hosts.OpenReputation(f.DB()),
		Similar:      hosts.OpenSimilar(f.DB()),
		Daily:        hosts.OpenDaily(f.DB()),
		Cookies:      hosts.OpenCookies(f.DB()),
		CrawlLog:     must(crawllog.Open(cfg.Storage.Log, true))(t),
		OpenPayload:  warc.Stored(cfg.Storage.WARC),
		NoiseFinder:  clockFinder{},
		Now:          time.Now,
		IndexCapture: func(crawler.Captured) error { return nil },
		SaveConfig:   func(*config.Config) error { return nil },
		Observe:      func(crawler.Report) {},
		Beat:         func(time.Time) {},
		NotifyHub:    func(time.Time, uri.URI, uri.URI, uri.URI) {},
		Version:      version, Log: o.Log,
	}
}

// Close checks the frontier, closes the parts of a crawl, and fails the test if one reports an error.
func Close(t testing.TB, p crawler.Parts) {
	t.Helper()
	err := errors.Join(p.Frontier.Check(), p.Fetch.Close(), p.Archive.Close(time.Now()), p.CrawlLog.Close(),
		p.Frontier.Close())
	if err != nil {
		t.Error(err)
	}
}

// must returns a function that returns the value, or ends the test because of the error.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
