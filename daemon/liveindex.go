package daemon

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// mergeEvery is how often the lines of finished WARC files are merged into the sorted index.
const mergeEvery = time.Minute

// liveIndex keeps an index of the archive while it is written. Without index.live it does nothing.
type liveIndex struct {
	live    *index.Live
	keepers []keeperOf
	stop    func() // ends the merging
}

// openLiveIndex opens the index that the configuration asks for. No WARC file may be written to before it returns.
func openLiveIndex(c *config.Config, keepers []keeperOf, log zerolog.Logger) (*liveIndex, error) {
	if !c.Index.Live {
		return &liveIndex{}, nil
	}
	again := func(line []byte) error {
		return each(keepers, func(k Keeper) error { return k.Again(line) })
	}
	live, err := index.OpenLive(context.Background(), c.Storage.WARC, again, func(f warc.Finding) error {
		log.Warn().Str("file", f.File).Int64("offset", f.Offset).Str("finding", f.Text).
			Msg("skipping a damaged record: it is not in the index")
		return nil
	})
	if err != nil {
		return nil, err
	}
	live.BeforeMerge(func() error { return each(keepers, Keeper.Sync) })
	return &liveIndex{live, keepers, keepMerging(live, log)}, nil
}

// each calls a function with each keeper, and returns all errors.
func each(keepers []keeperOf, call func(k Keeper) error) (err error) {
	for _, k := range keepers {
		err = errors.Join(err, call(k))
	}
	return err
}

// add adds a capture, for [crawler.Parts].Index.
func (x *liveIndex) add(k crawler.Captured) error {
	if x.live == nil {
		return nil
	}
	line := indexEntry(k)
	err := each(x.keepers, func(keeper Keeper) error { return keeper.Captured(k.Record, k.Original, line) })
	return errors.Join(err, x.live.Add(line)) // in this order: the keepers have every line that is merged
}

// close closes the index. All WARC files must be finished.
func (x *liveIndex) close() error {
	if x.live == nil {
		return nil
	}
	x.stop()
	return x.live.Close()
}

// keepMerging merges the live index from time to time until stop is called.
func keepMerging(live *index.Live, log zerolog.Logger) (stop func()) {
	return background(func(ctx context.Context) {
		for wait(ctx, mergeEvery) == nil {
			if err := live.Merge(context.Background()); err != nil {
				log.Error().Err(err).Msg("could not merge the index of the archive; trying again in a minute")
			}
		}
	})
}

// indexEntry returns the line of the index for a capture.
func indexEntry(k crawler.Captured) index.Entry {
	o := k.Record
	e := index.Entry{
		Key: uri.ReplayKey(o.URI), Timestamp: o.Date.UTC().Format("20060102150405"),
		URL: o.URI, MIME: digest.MediaType(k.ContentType), Digest: o.Payload.String(),
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
