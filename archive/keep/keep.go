// Package keep is what the wing adds to a running crawl: it looks after the archive.
//
// It lists finished WARC files in the manifest of their folder, passes them to a server or a program, takes them to
// further folders and into a bucket, keeps the dependency index, and sends the lines of the live index to an OutbackCDX
// server. The crawl never waits for any of this.
//
// A file that is taken to another folder leaves a symbolic link under its old name. So all who read the archive find
// it, and the manifest, the indexes and the records that refer to it stay true. Only files that the manifest lists are
// taken away or uploaded, and each copy is compared with the manifest.
//
// It also has what lost files held archived again. A file is lost from the moment when the dedup index has its loss: no
// new record refers to it, and no request is conditional on a payload in it. That alone would not bring the payloads
// back soon. So [MakeDue] goes through the store and makes the URIs due whose payload was in a lost file, one after the
// other at the pace of their host.
package keep

import (
	"context"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/warcout"
)

// Wing returns what looks after the archive of a running crawl.
func Wing() daemon.Wing {
	var h healer
	return daemon.Wing{
		Name: "archive",
		Keep: func(d *daemon.Daemon) (daemon.Keeper, error) { return openKeeper(d) },
		Open: func(d *daemon.Daemon) error { h = openHealer(d); return nil },
		Lost: func() { h.ask() },
	}
}

// keeper looks after the archive of a process.
type keeper struct {
	*daemon.Daemon
	growing *depend.Growing // captures for the dependency index; nil without a live index
	push    *pusher         // nil without a server
	sealed  *sealed
	offload *offload
}

// openKeeper begins to send lines that were left by the last run.
func openKeeper(d *daemon.Daemon) (*keeper, error) {
	c := d.Live().Current()
	k := &keeper{Daemon: d}
	if c.Index.Live {
		k.growing = depend.NewGrowing(daemon.SpoolFolder(c))
	}
	var err error
	if k.push, err = openPusher(c, d.Version(), d.Log()); k.push != nil {
		d.OnClose(k.push.close)
		d.Background(k.push.run)
	}
	return k, err
}

// Captured adds a capture to the dependency index and its line to the queue for the OutbackCDX server.
func (k *keeper) Captured(captured crawler.Captured, line index.Entry) error {
	k.growing.Add(captured.Record, captured.Original)
	if k.push == nil {
		return nil
	}
	return k.push.queue.Add(line.AppendTo(nil))
}

// Again adds a line to the queue for the OutbackCDX server.
func (k *keeper) Again(line []byte) error {
	if k.push == nil {
		return nil
	}
	return k.push.queue.Add(line)
}

// Sync writes the queue for the OutbackCDX server to disk.
func (k *keeper) Sync() error {
	if k.push == nil {
		return nil
	}
	return k.push.queue.Sync()
}

// Elsewhere returns which WARC files are elsewhere on purpose.
func (k *keeper) Elsewhere() (func(file string) bool, error) {
	moved, err := movedAway(k.Live().Current())
	return func(file string) bool { _, is := moved[file]; return is }, err
}

// Open begins to list finished WARC files and to take them to other places.
func (k *keeper) Open(w *warcout.Writer) (err error) {
	c := k.Live().Current()
	k.sealed = newSealed(c, k.Version(), w.Summary, k.growing, k.Now, k.Log())
	k.Background(k.sealed.run)
	k.offload, err = startOffload(k.Daemon)
	return err
}

// Finish lists the last WARC files.
func (k *keeper) Finish() { k.sealed.finish() }

// Archived adds where finished WARC files are.
func (k *keeper) Archived(a *api.Archive) {
	a.Handover, a.Offload = k.sealed.handover(), k.offload.State()
}

// wait waits for d. It returns the error of ctx if ctx ends first.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
