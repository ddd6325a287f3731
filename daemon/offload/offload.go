package offload

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
)

// Offload runs what takes finished WARC files to other places.
type Offload struct {
	mover *Mover // nil if there are no further folders
	wait  Wait
}

// Wait waits for a time. It returns the error of ctx if that ends first.
type Wait func(ctx context.Context, d time.Duration) error

// New returns what a configuration asks for. Nothing happens before Run.
func New(c *config.Config, now func() time.Time, wait Wait, log zerolog.Logger) *Offload {
	o := &Offload{wait: wait}
	if s := c.Storage; len(s.Folders) > 0 {
		o.mover = &Mover{
			Dir: s.WARC, Folders: s.Folders, Keep: s.FoldersFree, Order: s.FoldersOrder, Free: Free, Now: now, Log: log,
		}
	}
	return o
}

// Run moves files until ctx ends. The crawl never waits for it.
func (o *Offload) Run(ctx context.Context) {
	if o.mover == nil {
		return
	}
	for o.wait(ctx, o.mover.Step(ctx)) == nil {
	}
}

// State returns where finished files are, and what keeps them from going there.
func (o *Offload) State() api.Offload {
	if o.mover == nil {
		return api.Offload{}
	}
	return o.mover.State()
}
