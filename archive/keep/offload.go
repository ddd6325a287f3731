package keep

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/warcout"
)

// offload runs what takes finished WARC files to other places.
type offload struct {
	movers   []*Mover  // one for the files of no series, and one for each series with a folder of its own
	uploader *Uploader // nil if there is no bucket
}

// startOffload begins what a configuration asks for. The crawl never waits for it. What is left is done after the next
// start.
func startOffload(d *daemon.Daemon) (*offload, error) {
	c, o := d.Live().Current(), &offload{}
	o.movers = moversOf(c, d.Now, d.Log())
	if c.Upload.Endpoint != "" {
		o.uploader = &Uploader{Dir: c.Storage.WARC, State: c.Storage.State, Bucket: c.Upload, Now: d.Now, Log: d.Log()}
		if err := o.uploader.Open(fetch.OwnServers()); err != nil {
			return nil, err
		}
	}
	run := func(step func(context.Context) time.Duration) {
		d.Background(func(ctx context.Context) {
			for wait(ctx, step(ctx)) == nil {
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
func moversOf(c *config.Config, now func() time.Time, log zerolog.Logger) (all []*Mover) {
	s, series := c.Storage, warcout.SeriesIn(c.WARC.Prefix)
	for _, name := range append([]string{""}, c.Series...) {
		m := &Mover{
			Dir: s.WARC, Folders: s.Folders.Of(name), StateDir: s.State, Keep: s.FoldersFree, Order: s.FoldersOrder, Free: Free,
			SameDisk: SameDisk, Now: now, Log: log,
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
func (o *offload) State() (s api.Offload) {
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
