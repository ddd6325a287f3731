package offload

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/warcout"
)

// Offload runs what takes finished WARC files to other places.
type Offload struct {
	movers   []*Mover  // one for the files of no series, and one for each series with a folder of its own
	uploader *Uploader // nil if there is no bucket
}

// Daemon holds what an Offload needs of the daemon.
type Daemon struct {
	Now        func() time.Time
	Background func(f func(ctx context.Context))                // runs f until the daemon closes
	Wait       func(ctx context.Context, d time.Duration) error // returns the error of ctx if it ends first
	Log        zerolog.Logger
}

// Start begins what a configuration asks for. The crawl never waits for it. What is left is done after the next start.
func Start(c *config.Config, d Daemon) (*Offload, error) {
	o := &Offload{}
	o.movers = moversOf(c, d)
	if c.Upload.Endpoint != "" {
		o.uploader = &Uploader{Dir: c.Storage.WARC, State: c.Storage.State, Bucket: c.Upload, Now: d.Now, Log: d.Log}
		if err := o.uploader.Open(fetch.OwnServers()); err != nil {
			return nil, err
		}
	}
	run := func(step func(context.Context) time.Duration) {
		d.Background(func(ctx context.Context) {
			for d.Wait(ctx, step(ctx)) == nil {
			}
		})
	}
	for _, m := range o.movers {
		run(m.Step)
	}
	if o.uploader != nil {
		run(o.uploader.Step)
	}
	return o, nil
}

// moversOf returns what moves finished files to further folders. The files of a series with folders of its own go there
// as soon as they are finished. The others stay as long as there is space.
func moversOf(c *config.Config, d Daemon) (all []*Mover) {
	s, series := c.Storage, warcout.SeriesIn(c.WARC.Prefix)
	for _, name := range append([]string{""}, c.Series...) {
		m := &Mover{
			Dir: s.WARC, Folders: s.Folders.Of(name), StateDir: s.State, Keep: s.FoldersFree, Order: s.FoldersOrder, Free: Free,
			SameDisk: SameDisk, Now: d.Now, Log: d.Log,
			Takes: func(file string) bool { return series(file) == "" || len(s.Folders.Of(series(file))) == 0 },
		}
		if name != "" {
			m.Keep, m.Always, m.SameDisk = s.MinFree, true, nil
			m.Takes = func(file string) bool { return series(file) == name }
		}
		if len(m.Folders) > 0 {
			all = append(all, m)
		}
	}
	return all
}

// State returns where finished files are, and what keeps them from going there.
func (o *Offload) State() (s api.Offload) {
	for _, m := range o.movers {
		one := m.State()
		s.Folders = append(s.Folders, one.Folders...)
		if one.Since != nil && (s.Since == nil || one.Since.Before(*s.Since)) {
			s.Error, s.Since = one.Error, one.Since
		}
	}
	if o.uploader != nil {
		s.Upload = o.uploader.Shown()
	}
	return s
}
