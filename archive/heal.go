package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	if len(pendingLosses(d.Parts().Dedup)) > 0 {
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
	work := newHealing(h.Parts().Frontier, h.Parts().Dedup, h.Live().Current, h.Crawler().Cycle, h.Now)
	pause := func() error { h.Crawler().Wake(); return cli.Wait(ctx, healPause) }
	var again <-chan time.Time
	for ahead := healAhead; ; {
		select {
		case <-ctx.Done():
			return
		case <-h.asked:
			h.list(lineLoss, pendingLosses(h.Parts().Dedup))
			h.logImpact(ctx)
		case <-again:
		}
		again = nil
		began, pending := time.Now(), pendingLosses(h.Parts().Dedup)
		due, later, err := work.makeDue(ctx, ahead, pause)
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			log.Error().Err(err).Msg("could not make the URIs of lost WARC files due; trying again at the next start")
		default:
			h.Crawler().Wake()
			log.Info().Int64("uris", due).Int64("later", later).Dur("took", time.Since(began)).
				Msg("URIs whose payloads were in lost WARC files are due again, at the pace of their hosts")
		}
		if later == 0 {
			if err == nil {
				h.list(lineRecovery, pending)
			}
			ahead = healAhead
			continue
		}
		again, ahead = time.After(ahead), 2*ahead
	}
}

// list adds losses to the list of the archive.
func (h healer) list(event string, losses []dedup.Loss) {
	dir := h.Live().Current().Storage.WARC
	if err := addLosses(dir, event, "arcrawl/"+h.Version(), losses, h.Now()); err != nil {
		log := h.Log()
		log.Error().Err(err).Msg("the list of losses lacks an event; correct the folder")
	}
}

// logImpact says how many captures can no longer be replayed, as far as the dependency index knows.
func (h healer) logImpact(ctx context.Context) {
	log := h.Log()
	var files []string
	cut := 0
	for _, l := range h.Parts().Dedup.Losses() {
		switch {
		case l.Pending && l.From == 0:
			files = append(files, l.File)
		case l.Pending:
			cut++
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
		Int("hosts", len(losses)).Int("files_not_indexed", x.Left()).Int("files_cut", cut).
		Msg("captures of lost WARC files can no longer be replayed; not counted are the ends that files_cut have lost, and " +
			"revisits in files that the dependency index does not cover yet; arcrawl deps --lost --list names all")
}

const (
	// healRounds is how often the store is gone through for URIs that were being visited.
	healRounds = 3
	// minHealPace is the minimum time between two URIs of a host.
	minHealPace = 100 * time.Millisecond
	// healShare is which part of a host's requests, at most, archive lost payloads again: one in two.
	healShare = 2
	// healAhead is how far ahead URIs are made due at first; each time twice as far. What is due later follows then, at
	// the pace that the host has by then.
	healAhead = time.Hour
	// maxHealHosts is the maximum number of hosts whose last due time is remembered, of some 100 bytes each.
	maxHealHosts = 100_000
)

// healStore is the part of [frontier.Frontier] that healing needs.
type healStore interface {
	Recapture(
		now time.Time, from frontier.Cursor, isLost func(digest.Origin) bool, due func(uri.Host) time.Time,
	) (frontier.Steered, frontier.Cursor, error)
}

// healing makes every URI due whose payload is lost, at the pace of its host.
type healing struct {
	store  healStore
	index  *dedup.Index
	config func() *config.Config
	cycle  func(uri.Host, config.Politeness) time.Duration // returns the time between two requests to a host
	now    func() time.Time

	taken map[string]time.Time // until when URIs of a host or group are due
}

func newHealing(
	s healStore, index *dedup.Index, c func() *config.Config,
	cycle func(uri.Host, config.Politeness) time.Duration, now func() time.Time,
) *healing {
	return &healing{s, index, c, cycle, now, map[string]time.Time{}}
}

// makeDue makes the URIs due that are to be visited until ahead from now. It returns their number, and how many are
// left. pause is called between two steps and ends the work with its error. If it is interrupted, it can be repeated.
// The losses stay pending until no URI is left.
func (h *healing) makeDue(ctx context.Context, ahead time.Duration, pause func() error) (due, later int64, err error) {
	losses, began := h.index.Losses(), h.now()
	maps.DeleteFunc(h.taken, func(_ string, last time.Time) bool { return last.Before(began) })
	for round := 1; ; round++ {
		done, err := h.makeDueOnce(ctx, began.Add(ahead), pause)
		due += done.Changed
		if err != nil {
			return due, 0, fmt.Errorf("make URIs due whose payloads are in lost files: %w", err)
		}
		if later = done.Matched - done.Changed - done.InProgress; later > 0 {
			return due, later, nil
		}
		if done.InProgress == 0 || round == healRounds {
			return due, 0, h.index.Healed(losses)
		}
	}
}

// makeDueOnce goes through the store once.
func (h *healing) makeDueOnce(
	ctx context.Context, end time.Time, pause func() error,
) (all frontier.Steered, err error) {
	for from := frontier.Cursor(""); ; {
		at := h.now()
		part, following, err := h.store.Recapture(at, from, h.index.Lost, h.spread(at, end))
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

// spread returns a function that returns a due time for each of the following URIs, which come host by host: one after
// now for every second request to the host; zero if it would be after end.
func (h *healing) spread(now, end time.Time) func(uri.Host) time.Time {
	var host uri.Host
	var key string
	var last time.Time
	var pace time.Duration
	return func(of uri.Host) time.Time {
		if of != host {
			p := h.config().ForHost(of, now).Politeness
			host, key = of, string(of)
			if p.Group != "" {
				key = "group " + p.Group
			}
			pace = max(healShare*h.cycle(of, p), minHealPace)
			if last = h.taken[key]; last.Before(now) {
				last = now
			}
		}
		next := last.Add(pace)
		if next.After(end) {
			return time.Time{}
		}
		last = next
		if _, known := h.taken[key]; known || len(h.taken) < maxHealHosts {
			h.taken[key] = last
		}
		return last
	}
}

// loseResult is the result of lose.
type loseResult struct {
	api.LostAnswer
	Running bool  // a running daemon makes the URIs due
	Due     int64 // URIs that were made due, in the store of a stopped daemon
	Later   int64 // URIs that the daemon makes due when it runs
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
		cycle := func(_ uri.Host, p config.Politeness) time.Duration {
			return p.Cycle() / time.Duration(max(p.Valence, 1))
		}
		work := newHealing(s, index, func() *config.Config { return c }, cycle, now)
		pending, agent := pendingLosses(index), "arcrawl/"+cli.Version()
		err = addLosses(c.Storage.WARC, lineLoss, agent, pending, now())
		if err == nil {
			l.Due, l.Later, err = work.makeDue(ctx, healAhead, ctx.Err)
		}
		if err == nil && l.Later == 0 {
			err = addLosses(c.Storage.WARC, lineRecovery, agent, pending, now())
		}
	}
	l.Losses = api.LossesOf(index.Losses())
	if len(o.Files) > 0 {
		order, _ := json.Marshal(o)
		s.Record("archive/lost", json.RawMessage(order), map[string]int64{"changed": int64(l.Changed), "due": l.Due}, err)
	}
	return l, err
}
