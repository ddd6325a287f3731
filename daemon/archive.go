package daemon

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/daemon/offload"
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
	if n := d.o.node; n != nil {
		stop := background(func(ctx context.Context) { n.Ship(ctx, d.parts.CrawlLog.Sync) })
		d.closers.add(func() error { stop(); return nil })
	}
	return nil
}

// openArchive opens the archive, which repairs the WARC files that a crash has left open, and then the live index,
// which reads the repaired files. Closing the archive finishes its last WARC files, which are then listed in the
// manifest, and closing the index puts their lines into it.
func (d *Daemon) openArchive(now time.Time) error {
	c := d.live.Current()
	w, repairs, err := openWARC(c, d.o.Version, now)
	if err != nil {
		return err
	}
	index, err := openLiveIndex(c, d.o.Version, d.log)
	if err != nil {
		return errors.Join(err, w.Close(now))
	}
	d.index = index
	d.sealed = openSealed(c, d.o.Version, w.Summary, index.growing, d.log)
	d.closers.add(index.close)
	d.closers.add(func() error { d.sealed.finish(); return nil })
	d.closers.add(func() error { return w.Close(d.o.Now()) })
	d.closers.add(func() error { d.sealed.close(); return nil })
	d.offload = offload.New(c, d.o.Now, wait, d.log)
	stop := background(d.offload.Run)
	d.closers.add(func() error { stop(); return nil })
	d.parts.Archive, d.parts.IndexCapture, d.parts.OpenPayload = w, index.add, warc.Stored(c.Storage.WARC)
	return errors.Join(d.compareArchive(repairs), d.proveOrigins(now))
}

// openNetwork opens the client that makes all exchanges. Its dialer is the only way out to the network.
func (d *Daemon) openNetwork(time.Time) error {
	c := d.live.Current()
	d.parts.Fetch = fetch.New(fetch.Options{Dial: d.o.Dial, Now: d.o.Now, SpoolDir: spoolFolder(c)})
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
	o.Dir, o.Host, o.Info = c.Storage.WARC, host, warcinfo(c, version, host, sum)
	o.TempDir, o.Journal = spoolFolder(c), filepath.Join(c.Storage.State, "warc.journal")
	return warcout.Open(o, now)
}

// warcinfo returns the fields of the warcinfo record of each WARC file: who made it, with which software and settings.
// sum is the digest of the settings.
func warcinfo(c *config.Config, version, host, sum string) []warcout.Field {
	names := c.NamesNotation()
	fields := []warcout.Field{
		{Name: "software", Value: "arcrawl/" + version + " (https://github.com/arcrawl/arcrawl)"},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "operator", Value: c.Operator.Name + " <" + c.Operator.Contact + ">"},
		{Name: "hostname", Value: host},
		{Name: "http-header-user-agent", Value: c.UserAgent(version)},
		{Name: "robots", Value: "obey (RFC 9309), except where a metadata record has robotsPermission"},
		{Name: "canonicalization", Value: "whatwg; without fragment and user information"},
		{Name: "nameRules", Value: joinNameRules(names)},
		{Name: "nameRulesDigest", Value: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(names, "\n"))))},
		{Name: "configDigest", Value: sum},
		{Name: "description", Value: "WARC-Payload-Digest is of the payload with transfer encoding removed and content encoding kept"},
	}
	if c.Collection != "" {
		fields = append(fields, warcout.Field{Name: "isPartOf", Value: c.Collection})
	}
	return fields
}

// maxNameRules is the maximum length, in bytes, of the name rules in a warcinfo record. Their digest covers all rules.
const maxNameRules = 8 << 10

// joinNameRules writes on one line the rules by which several URIs have one name: first the rules of all hosts, then
// the rules of single hosts, as far as they fit into maxNameRules.
func joinNameRules(lines []string) string {
	all := strings.Join(lines, "; ")
	if len(all) <= maxNameRules {
		return all
	}
	size, n := len(lines[0]), 1
	for ; size+2+len(lines[n]) <= maxNameRules; n++ {
		size += 2 + len(lines[n])
	}
	return fmt.Sprintf("%s; and the rules of %d more hosts", strings.Join(lines[:n], "; "), len(lines)-n)
}
