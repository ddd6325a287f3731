package daemon

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/mediatype"
	"github.com/arcrawl/arcrawl/uri"
)

// mergeEvery is how often the lines of finished WARC files are merged into the sorted index.
const mergeEvery = time.Minute

// liveIndex keeps an index of the archive while it is written, and sends its lines to an OutbackCDX server if one is
// configured. Without index.live it does nothing.
type liveIndex struct {
	live    *index.Live
	reader  *index.LiveReader // for those who look captures up
	growing *depend.Growing   // captures for the dependency index
	push    *pusher           // nil without a server
	stop    func()            // ends the merging
}

// openLiveIndex opens the index that the configuration asks for. No WARC file may be written to before it returns.
func openLiveIndex(c *config.Config, version string, log zerolog.Logger) (*liveIndex, error) {
	if !c.Index.Live {
		if c.Index.OutbackCDX != "" {
			log.Warn().Msg("sending nothing to the OutbackCDX server: index.outbackcdx needs index.live = true")
		}
		return &liveIndex{}, nil
	}
	push, err := openPusher(c, version, log)
	if err != nil {
		return nil, err
	}
	var resend func([]byte) error
	if push != nil {
		resend = push.queue.Add
	}
	live, err := index.OpenLive(context.Background(), c.Storage.WARC, resend, func(f warc.Finding) error {
		log.Warn().Str("file", f.File).Int64("offset", f.Offset).Str("finding", f.Text).
			Msg("skipping a damaged record: it is not in the index")
		return nil
	})
	if err != nil {
		if push != nil {
			err = errors.Join(err, push.queue.Close())
		}
		return nil, err
	}
	if push != nil {
		live.BeforeMerge(push.queue.Sync)
		push.start()
	}
	return &liveIndex{
		live: live, reader: index.NewLiveReader(live), growing: depend.NewGrowing(spoolFolder(c)), push: push,
		stop: keepMerging(live, log),
	}, nil
}

// add adds a capture, for [crawler.Parts].Index.
func (x *liveIndex) add(k crawler.Captured) error {
	if x.live == nil {
		return nil
	}
	x.growing.Add(k.Record, k.Original)
	switch e := indexEntry(k); {
	case x.push == nil:
		return x.live.Add(e)
	default: // in this order: every line that is merged is also in the queue
		return errors.Join(x.push.queue.Add(e.AppendTo(nil)), x.live.Add(e))
	}
}

// close closes the index. All WARC files must be finished.
func (x *liveIndex) close() error {
	if x.live == nil {
		return nil
	}
	x.stop()
	err := errors.Join(x.reader.Close(), x.live.Close())
	if x.push != nil {
		err = errors.Join(err, x.push.close())
	}
	return err
}

// keepMerging merges the live index from time to time until stop is called.
func keepMerging(live *index.Live, log zerolog.Logger) (stop func()) {
	return background(func(ctx context.Context) {
		tick := time.NewTicker(mergeEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := live.Merge(context.Background()); err != nil {
					log.Error().Err(err).Msg("could not merge the index of the archive; trying again in a minute")
				}
			}
		}
	})
}

// indexEntry returns the line of the index for a capture.
func indexEntry(k crawler.Captured) index.Entry {
	o := k.Record
	e := index.Entry{
		Key: uri.ReplayKey(o.URI), Timestamp: o.Date.UTC().Format("20060102150405"),
		URL: o.URI, MIME: mediatype.Of(k.ContentType), Digest: o.Payload.String(),
		Length: o.Length, Offset: o.Offset, Filename: o.File,
	}
	if k.Status > 0 {
		e.Status = strconv.Itoa(k.Status)
	}
	switch {
	case !k.Original.IsZero():
		e.MIME = index.RevisitMIME
	case e.MIME == "":
		e.MIME = index.UnknownMIME
	}
	return e
}
