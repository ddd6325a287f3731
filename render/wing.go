package render

import (
	"context"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/render/chromium"
)

// Wing returns what loads captured pages in browsers. The browsers see the archive and never the network.
func Wing() daemon.Wing {
	var pool *Pool
	return daemon.Wing{
		Name:    "render",
		Prepare: func(d *daemon.Daemon) error { d.Parts().Rendered = Aspect{}; return nil },
		Open:    func(d *daemon.Daemon) error { pool = open(d); return nil },
		Extend: func(*daemon.Daemon) admin.Extension {
			return admin.Extension{Status: func(s *api.Status) { s.Rendering = pool.Status() }}
		},
	}
}

// trial is a browser that shows what a page would request.
type trial struct{ *chromium.Browser }

// OpenTrial starts a browser that loads single pages. The caller calls end when it is done.
func OpenTrial(c *config.Config) (browser whatif.Browser, end func(), err error) {
	program, err := chromium.Find(c.Render.Browser)
	if err != nil {
		return nil, nil, err
	}
	b := chromium.NewBrowser(chromium.Options{Program: program, Memory: c.Render.Memory})
	return trial{b}, b.Close, nil
}

// Load loads a page.
func (b trial) Load(ctx context.Context, p whatif.Page) (whatif.Shown, error) {
	r, err := b.Render(ctx, chromium.Job{
		URI: p.URI, Limit: p.Limit, MaxRequests: p.MaxRequests, Picture: p.Picture, Steps: stepsOf(p.Do),
		Pictured: p.Pictured,
		Answer: func(ctx context.Context, q chromium.Request) chromium.Answer {
			return chromium.Answer(p.Answer(ctx, q.URI, q.Main))
		},
	})
	shown := whatif.Shown{Title: r.Title, Text: r.Text, DOM: r.DOM, Picture: r.Picture, Late: r.Late}
	for _, d := range r.Steps {
		shown.Steps = append(shown.Steps, whatif.Stepped{
			Step: d.Step, Times: d.Times, Requests: d.Requests, Took: d.Took.Milliseconds(), Ended: d.Ended,
		})
	}
	return shown, err
}

// Check returns a warning if pages are to be rendered and there is no browser.
func Check(c *config.Config) []config.Fault {
	if !isAsked(c) {
		return nil
	}
	if _, err := chromium.Find(c.Render.Browser); err != nil {
		return []config.Fault{{
			File: c.Path, Key: "render.pages", Problem: "no page is rendered: Chromium is not installed",
			Remedy: "install the package chromium, or set render.browser; everything else works without it",
		}}
	}
	return nil
}

// open starts the browsers of a daemon. They end when it closes.
func open(d *daemon.Daemon) *Pool {
	c, r, log := d.Live().Current(), *d.Parts(), d.Log()
	pool := Start(context.Background(), Parts{
		Config: d.Live(), Frontier: r.Frontier, IsTrapped: r.Traps.IsTrapped, Archive: r.Archive,
		Open: warc.StoredMessage(c.Storage.WARC),
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
