package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/warcout"
)

// openLog opens crawl.log.
func (d *Daemon) openLog(time.Time) (err error) {
	c := d.live.Current()
	if d.parts.CrawlLog, err = crawllog.Open(c.Storage.Log, c.Log.ExtraInfo); err != nil {
		return err
	}
	d.closers.add(d.parts.CrawlLog.Close)
	if owner := d.o.Owner; owner != nil {
		d.background(ownerPart, func(ctx context.Context) { owner.Follow(ctx, d.parts.CrawlLog.Sync) })
	}
	return nil
}

// openArchive opens the archive, which repairs the WARC files that a crash has left open, and then the live index,
// which reads the repaired files. Then it compares the archive with the store. Closing the archive finishes its last
// WARC files, and closing the index puts their lines into it.
func (d *Daemon) openArchive(now time.Time) error {
	c := d.live.Current()
	if err := d.openKeepers(); err != nil {
		return err
	}
	w, repairs, err := openWARC(c, d.o.Version, now)
	if err != nil {
		return err
	}
	if d.index, err = openLiveIndex(c, d.keepers, d.log); err != nil {
		return errors.Join(err, w.Close(now))
	}
	d.closers.add(d.index.close)
	for _, k := range d.keepers {
		d.closers.part(k.wing, func() error { k.Finish(); return nil })
	}
	d.closers.add(func() error { return w.Close(d.o.Now()) })
	for _, k := range d.keepers {
		d.opening = k.wing
		if err := k.Open(w); err != nil {
			return err
		}
	}
	d.parts.Archive, d.parts.IndexCapture, d.parts.OpenPayload = w, d.index.add, warc.Stored(c.Storage.WARC)
	return d.compareArchive(repairs)
}

// openNetwork opens the client that makes all exchanges. Its dialer is the only way out to the network.
func (d *Daemon) openNetwork(time.Time) error {
	c := d.live.Current()
	d.parts.Fetch = fetch.New(fetch.Options{Dial: d.o.Dial, Now: d.o.Now, SpoolDir: SpoolFolder(c)})
	d.closers.add(d.parts.Fetch.Close)
	return nil
}

// openWARC opens the writer of WARC files.
func openWARC(c *config.Config, version string, now time.Time) (*warcout.Writer, []warcout.Repair, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	o := c.WARC
	sum, err := c.PublicDigest()
	if err != nil {
		return nil, nil, err
	}
	o.Dir, o.Host, o.Info = c.Storage.WARC, host, provenanceInfo(c, version, host, sum)
	o.TempDir, o.Journal = SpoolFolder(c), filepath.Join(c.Storage.State, "warc.journal")
	if !c.UsualRequests {
		o.Usual.Before, o.Usual.After = fetch.PlainRequest(c.PlainHeader(version))
	}
	return warcout.Open(o, now)
}
