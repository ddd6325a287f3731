package main

import (
	"context"
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
		return nil, func() error { return nil }, nil
	}
	complain := func(f archive.Finding) error {
		log.Warn().Str("file", f.File).Int64("offset", f.Offset).Msg("a record could not be indexed: " + f.Text)
		return nil
	}
	live, err := archive.OpenLive(context.Background(), c.Storage.WARC, nil, complain)
	if err != nil {
		return nil, nil, err
	}
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
	return func(k crawler.Captured) error { return live.Add(entryOf(k)) }, func() error {
		close(end)
		merging.Wait()
		return live.Close()
	}, nil
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
