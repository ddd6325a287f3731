package rendering

import (
	"context"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/digest"
)

// Wing returns what loads captured pages in browsers. The browsers see the archive and never the network.
func Wing() daemon.Wing {
	var pool *Pool
	return daemon.Wing{
		Name: "render",
		Open: func(d *daemon.Daemon) error { pool = open(d); return nil },
		Extend: func(*daemon.Daemon) admin.Extension {
			return admin.Extension{Status: func(s *api.Status) { s.Rendering = pool.Status() }}
		},
	}
}

// open starts the browsers of a daemon. They end when it closes.
func open(d *daemon.Daemon) *Pool {
	c, r, log := d.Live().Current(), *d.Parts(), d.Log()
	pool := Start(context.Background(), Parts{
		Config: d.Live(), Frontier: r.Frontier, Traps: r.Traps, Archive: r.Archive, Open: warc.StoredMessage(c.Storage.WARC),
		Index: func(record digest.Origin, contentType string) {
			if err := r.IndexCapture(crawler.Captured{Record: record, ContentType: contentType}); err != nil {
				log.Error().Err(err).Msg("could not index a rendered page: the index is incomplete until the next start")
			}
		},
		Held: d.Crawler().Held, Wake: d.Crawler().Wake, Now: d.Now, Log: log,
	}, c.Render)
	d.OnVisit(pool.Observe)
	d.OnClose(func() error { pool.Close(); return nil })
	return pool
}
