package daemon

import (
	"context"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/warcout"
)

const (
	// recordPause is the pause before the configuration is written into the archive again, if that failed.
	recordPause = time.Minute
	// recordGrace is the maximum time that writing the configuration may take when the daemon stops.
	recordGrace = 5 * time.Second
)

// recorder writes the configuration into the archive, in the background. A crawl does not wait for it.
type recorder struct {
	archive interface {
		WriteResource(now time.Time, r warcout.Resource) (warcout.Written, error)
	}
	index   func(record digest.Origin, contentType string) // adds a record to the index of the archive
	state   string                                         // path of [provenanceFile]
	version string                                         // of the program

	live    *config.Live
	changed chan struct{} // has a token if the configuration may have changed
}

// openRecorder begins to write each configuration in force into the archive.
func (d *Daemon) openRecorder(time.Time) error {
	r := &recorder{
		archive: d.parts.Archive, version: d.o.Version, live: d.live, changed: make(chan struct{}, 1),
		state: filepath.Join(d.live.Current().Storage.State, provenanceFile),
	}
	r.index = func(record digest.Origin, contentType string) {
		if err := d.parts.IndexCapture(crawler.Captured{Record: record, ContentType: contentType}); err != nil {
			d.log.Error().Err(err).
				Msg("could not index a record of the configuration: the index is incomplete until the next start")
		}
	}
	d.parts.SaveConfig = func(c *config.Config) error {
		r.offer()
		return saveLastGood(c)
	}
	d.background("record of the configuration", func(ctx context.Context) { r.run(ctx, d) })
	r.offer()
	return nil
}

// offer lets the configuration in force be compared with the one that was written last.
func (r *recorder) offer() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// run writes configurations until ctx ends. It then has recordGrace to write the one that is in force.
func (r *recorder) run(ctx context.Context, d *Daemon) {
	within, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer background(func(watching context.Context) {
		select {
		case <-ctx.Done():
			_ = wait(watching, recordGrace)
		case <-watching.Done():
		}
		end()
	})()
	for {
		select {
		case <-r.changed:
		case <-ctx.Done():
			select {
			case <-r.changed:
			default:
				return
			}
		}
		for {
			err := checkSpace(r.live.Current(), d.parts.FreeSpace)
			if err == nil {
				_, err = r.record(within, r.live.Current(), d.o.Now())
			}
			if err == nil {
				break
			}
			d.log.Warn().Err(err).Msg("could not write the configuration into the archive; trying again in a minute")
			if wait(ctx, recordPause) != nil {
				return
			}
		}
	}
}
