package daemon

import (
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/warcout"
)

// Keeper looks after the archive of a process for a wing. The archive is whole and has its index without it. What the
// keeper starts in the background, it starts with [Daemon.Background].
type Keeper interface {
	// Captured is called with each capture, before the live index has its line. Many goroutines call it.
	Captured(k crawler.Captured, line index.Entry) error
	// Again is called at the start, with each line that a crash may have kept away.
	Again(line []byte) error
	// Sync is called before lines are merged into the index. What the keeper needs of them must then be on disk.
	Sync() error

	// Elsewhere returns which WARC files are not in their folder on purpose. It is called before Open.
	Elsewhere() (func(file string) bool, error)
	// Open is called when the writer of the archive and the live index are open, and nothing is written yet.
	Open(w *warcout.Writer) error
	// Finish is called when the last WARC files are finished, before the live index is closed. What Open started in the
	// background has ended.
	Finish()
	// Archived adds to what the status of the crawl says of the archive.
	Archived(a *api.Archive)
}

// openKeepers calls the wings that look after the archive.
func (d *Daemon) openKeepers() error {
	for _, w := range d.wings {
		if w.Keep == nil {
			continue
		}
		k, err := w.Keep(d)
		if err != nil {
			return err
		}
		d.keepers = append(d.keepers, k)
	}
	return nil
}

// finishKeepers lets the keepers list the last files.
func (d *Daemon) finishKeepers() error {
	for _, k := range d.keepers {
		k.Finish()
	}
	return nil
}
