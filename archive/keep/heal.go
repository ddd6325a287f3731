package keep

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
)

// healPause is the pause between two steps through the store, so that healing does not delay the crawl.
const healPause = 50 * time.Millisecond

// healer makes URIs due whose payloads were in lost files, in the background.
type healer struct {
	*daemon.Daemon
	asked chan struct{} // has a token if there is a new loss
}

// openHealer begins to make URIs due whose payloads are lost.
func openHealer(d *daemon.Daemon) healer {
	h := healer{d, make(chan struct{}, 1)}
	d.Background(h.heal)
	if slices.ContainsFunc(d.Parts().Dedup.Losses(), func(l dedup.Loss) bool { return l.Pending }) {
		h.ask()
	}
	return h
}

// ask makes the healer look for new losses.
func (h healer) ask() {
	select {
	case h.asked <- struct{}{}:
	default:
	}
}

// heal makes the URIs of new losses due, until ctx ends.
func (h healer) heal(ctx context.Context) {
	log := h.Log()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.asked:
		}
		began := time.Now()
		h.logImpact(ctx)
		due, err := MakeDue(ctx, h.Parts().Frontier, h.Parts().Dedup, h.Live().Current(), h.Now,
			func() error { h.Crawler().Wake(); return wait(ctx, healPause) })
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			log.Error().Err(err).Msg("could not make the URIs of lost WARC files due; trying again at the next start")
		default:
			h.Crawler().Wake()
			log.Info().Int64("uris", due).Dur("took", time.Since(began)).
				Msg("URIs whose payloads were in lost WARC files are due again, at the pace of their hosts")
		}
	}
}

// logImpact says how many captures can no longer be replayed, as far as the dependency index knows.
func (h healer) logImpact(ctx context.Context) {
	log := h.Log()
	var files []string
	for _, l := range h.Parts().Dedup.Losses() {
		if l.Pending && l.From == 0 {
			files = append(files, l.File)
		}
	}
	if len(files) == 0 {
		return
	}
	skip := func(warc.Finding) error { return nil }
	x, err := depend.Open(ctx, h.Live().Current().Storage.WARC, depend.Options{Covered: true}, skip)
	if err != nil {
		return // arcrawl deps --lost says why
	}
	defer x.Close() //nolint:errcheck // nothing was written
	var all depend.Loss
	losses, err := x.Impact(files, "", func(depend.Lost) error { return ctx.Err() })
	if err != nil {
		log.Info().Err(err).Msg("the dependency index does not know what the lost WARC files held; try arcrawl deps --lost")
		return
	}
	for _, l := range losses {
		all.Captures, all.Revisits, all.Saved = all.Captures+l.Captures, all.Revisits+l.Revisits, all.Saved+l.Saved
	}
	log.Error().Int("captures", all.Captures).Int("revisits_elsewhere", all.Revisits).Int("payload_left", all.Saved).
		Int("hosts", len(losses)).
		Msg("captures of lost WARC files can no longer be replayed; arcrawl deps --lost --list names them")
}
