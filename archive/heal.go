package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
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
		due, err := makeDue(ctx, h.Parts().Frontier, h.Parts().Dedup, h.Live().Current(), h.Now,
			func() error { h.Crawler().Wake(); return cli.Wait(ctx, healPause) })
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
	losses, err := x.Impact(files, "", func(depend.Lost) error { return ctx.Err() })
	if err != nil {
		log.Info().Err(err).Msg("the dependency index does not know what the lost WARC files held; try arcrawl deps --lost")
		return
	}
	all := depend.Sum(losses)
	log.Error().Int("captures", all.Captures).Int("revisits_elsewhere", all.Revisits).Int("payload_left", all.Saved).
		Int("hosts", len(losses)).
		Msg("captures of lost WARC files can no longer be replayed; arcrawl deps --lost --list names them")
}

const (
	// healRounds is how often the store is gone through for URIs that were being visited.
	healRounds = 3
	// minHealPace is the minimum time between two URIs of a host.
	minHealPace = 100 * time.Millisecond
	// healShare is which part of a host's requests, at most, archive lost payloads again: one in two.
	healShare = 2
)

// healStore is the part of [frontier.Frontier] that healing needs.
type healStore interface {
	Recapture(
		now time.Time, from frontier.Cursor, isLost func(digest.Origin) bool, due func(uri.Host) time.Time,
	) (frontier.Steered, frontier.Cursor, error)
}

// makeDue makes every URI due whose payload is lost, at the pace of its host, and returns their number. pause is called
// between two steps and ends the work with its error. If it is interrupted, it can be repeated. The losses stay pending
// until it has finished.
func makeDue(
	ctx context.Context, s healStore, index *dedup.Index, c *config.Config, now func() time.Time, pause func() error,
) (due int64, err error) {
	losses := index.Losses()
	for round := 1; ; round++ {
		done, err := makeDueOnce(ctx, s, index, c, now, pause)
		due += done.Changed
		if err != nil {
			return due, fmt.Errorf("make URIs due whose payloads are in lost files: %w", err)
		}
		if done.InProgress == 0 || round == healRounds {
			return due, index.Healed(losses)
		}
	}
}

// makeDueOnce goes through the store once.
func makeDueOnce(
	ctx context.Context, s healStore, index *dedup.Index, c *config.Config, now func() time.Time, pause func() error,
) (all frontier.Steered, err error) {
	var host uri.Host
	var next time.Time
	var pace time.Duration
	for from := frontier.Cursor(""); ; {
		at := now()
		due := func(h uri.Host) time.Time {
			if h != host {
				host, next = h, at
				p := c.ForHost(h, at).Politeness
				pace = max(healShare*max(p.MinDelay, p.MaxDelay), minHealPace)
			}
			next = next.Add(pace)
			return next
		}
		part, following, err := s.Recapture(at, from, index.Lost, due)
		all = all.Plus(part)
		if err == nil {
			err = ctx.Err()
		}
		if from = following; err != nil || from == "" {
			return all, err
		}
		if err := pause(); err != nil {
			return all, err
		}
	}
}

// loseResult is the result of lose.
type loseResult struct {
	api.LostAnswer
	Running bool  // a running daemon makes the URIs due
	Due     int64 // URIs that are due now, in the store of a stopped daemon
}

// lose records that WARC files are lost, moved or found. A running daemon then makes the URIs of lost files due in the
// background; for a stopped one lose does so itself. Without files it only returns all losses.
func lose(ctx context.Context, path string, o api.LostFiles, now func() time.Time) (l loseResult, err error) {
	at, err := config.Where(path)
	if err == nil && at.Socket != "" {
		l.LostAnswer, err = api.NewClient(at.Socket).Lose(ctx, o)
		if !errors.Is(err, api.ErrNoDaemon) {
			l.Running = true
			return l, err
		}
	}
	s, c, err := cli.OpenStopped(ctx, at, path, now)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	index, err := dedup.Open(s.DB(), dedup.Options{Name: uri.ReplayKey})
	if err != nil {
		return l, err
	}
	if l.Changed, err = index.Declare(c.Storage.WARC, o.Files, o.Are); err == nil && l.Changed > 0 {
		l.Due, err = makeDue(ctx, s, index, c, now, ctx.Err)
	}
	l.Losses = api.LossesOf(index.Losses())
	if len(o.Files) > 0 {
		order, _ := json.Marshal(o)
		s.Record("archive/lost", json.RawMessage(order), map[string]int64{"changed": int64(l.Changed), "due": l.Due}, err)
	}
	return l, err
}
