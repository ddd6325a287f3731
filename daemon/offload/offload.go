package offload

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
)

// Offload runs what takes finished WARC files to other places.
type Offload struct {
	mover    *Mover    // nil if there are no further folders
	uploader *Uploader // nil if there is no bucket
	stops    []func()
}

// Daemon holds what an Offload needs of the daemon.
type Daemon struct {
	Now        func() time.Time
	Background func(f func(ctx context.Context)) (stop func())  // runs f until stop is called
	Wait       func(ctx context.Context, d time.Duration) error // returns the error of ctx if it ends first
	Log        zerolog.Logger
}

// Start begins what a configuration asks for. The crawl never waits for it.
func Start(c *config.Config, d Daemon) (*Offload, error) {
	o := &Offload{}
	if s := c.Storage; len(s.Folders) > 0 {
		o.mover = &Mover{
			Dir: s.WARC, Folders: s.Folders, StateDir: s.State, Keep: s.FoldersFree, Order: s.FoldersOrder, Free: Free,
			SameDisk: SameDisk, Now: d.Now, Log: d.Log,
		}
	}
	if c.Upload.Endpoint != "" {
		o.uploader = &Uploader{Dir: c.Storage.WARC, State: c.Storage.State, Bucket: c.Upload, Now: d.Now, Log: d.Log}
		if err := o.uploader.Open(fetch.OwnServers()); err != nil {
			return nil, err
		}
	}
	run := func(step func(context.Context) time.Duration) {
		o.stops = append(o.stops, d.Background(func(ctx context.Context) {
			for d.Wait(ctx, step(ctx)) == nil {
			}
		}))
	}
	if o.mover != nil {
		run(o.mover.Step)
	}
	if o.uploader != nil {
		run(o.uploader.Step)
	}
	return o, nil
}

// Close ends everything. What is left is done after the next start.
func (o *Offload) Close() error {
	for _, stop := range o.stops {
		stop()
	}
	return nil
}

// State returns where finished files are, and what keeps them from going there.
func (o *Offload) State() (s api.Offload) {
	if o.mover != nil {
		s = o.mover.State()
	}
	if o.uploader != nil {
		s.Upload = o.uploader.Shown()
	}
	return s
}
