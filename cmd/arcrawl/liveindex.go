package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
)

// mergeEvery is how often lines of finished WARC files are put into the sorted index.
const mergeEvery = time.Minute

// openLiveIndex opens the index that is kept while the archive is written, and tells how it hears of captures. The returned function
// is called when nothing is archived any more and all WARC files are finished.
func openLiveIndex(c *config.Config, log zerolog.Logger) (hear func(crawler.Captured) error, shut func() error, err error) {
	if !c.Index.Live {
		if c.Index.OutbackCDX != "" {
			log.Warn().Msg("nothing is sent to index.outbackcdx, for index.live is off")
		}
		return nil, func() error { return nil }, nil
	}
	complain := func(f archive.Finding) error {
		log.Warn().Str("file", f.File).Int64("offset", f.Offset).Msg("a record could not be indexed: " + f.Text)
		return nil
	}
	push, err := openPusher(c, log)
	if err != nil {
		return nil, nil, err
	}
	var again func([]byte) error
	if push != nil {
		again = push.queue.Add
	}
	live, err := archive.OpenLive(context.Background(), c.Storage.WARC, again, complain)
	if err != nil {
		if push != nil {
			err = errors.Join(err, push.queue.Close())
		}
		return nil, nil, err
	}
	if push != nil {
		live.BeforeMerge(push.queue.Sync)
		push.start()
	}
	stopMerging := keepMerging(live, log)
	hear = func(k crawler.Captured) error {
		e := entryOf(k)
		if push == nil {
			return live.Add(e)
		}
		return errors.Join(push.queue.Add(e.AppendTo(nil)), live.Add(e)) // in this order: what is merged is in the queue
	}
	return hear, func() error {
		stopMerging()
		err := live.Close()
		if push != nil {
			err = errors.Join(err, push.close())
		}
		return err
	}, nil
}

// keepMerging merges the live index from time to time, until the returned function is called.
func keepMerging(live *archive.Live, log zerolog.Logger) (stop func()) {
	end := make(chan struct{})
	var merging sync.WaitGroup
	merging.Go(func() {
		tick := time.NewTicker(mergeEvery)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				if err := live.Merge(context.Background()); err != nil {
					log.Error().Err(err).Msg("the index of the archive could not be merged; it is tried again")
				}
			}
		}
	})
	return func() {
		close(end)
		merging.Wait()
	}
}

// entryOf is the line that an index has of a capture.
func entryOf(k crawler.Captured) archive.Entry {
	o := k.Record
	e := archive.Entry{
		Key: archive.Key(o.URI), Timestamp: o.Date.UTC().Format("20060102150405"), URL: o.URI, MIME: archive.MediaType(k.ContentType),
		Digest: o.Payload.String(), Length: o.Length, Offset: o.Offset, Filename: o.File,
	}
	if k.Status > 0 {
		e.Status = strconv.Itoa(k.Status)
	}
	switch {
	case k.Revisit:
		e.MIME = archive.RevisitMIME
	case e.MIME == "":
		e.MIME = archive.UnknownMIME
	}
	return e
}
