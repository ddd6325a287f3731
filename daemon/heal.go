package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/heal"
	"github.com/arcrawl/arcrawl/archive/survey"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/warcout"
)

const (
	// healPause is the pause between two steps through the store, so that healing does not delay the crawl.
	healPause = 50 * time.Millisecond
	// maxNamedLosses is the maximum number of lost files that are logged one by one.
	maxNamedLosses = 20
)

// healer makes URIs due whose payloads were in lost files, in the background.
type healer struct {
	asked chan struct{} // has a token if there is a new loss
}

// compareArchive records as lost what repaired WARC files have lost, and the files that are gone. Otherwise a revisit
// record could refer to a record that does not exist.
func (d *Daemon) compareArchive(repairs []warcout.Repair) error {
	cut, absent := map[string]int64{}, []string{}
	for _, r := range repairs {
		from, lost := r.LostFrom()
		switch {
		case r.Kind == warcout.Absent:
			absent = append(absent, r.Name())
			continue
		case lost:
			cut[r.Name()] = from
		}
		d.log.Warn().Str("file", r.File).Msg(r.String())
	}
	c := d.live.Current()
	moved, err := movedAway(c)
	elsewhere := func(file string) bool { _, ok := moved[file]; return ok }
	if err != nil && len(absent) > 0 {
		d.log.Error().Err(err).Int("files", len(absent)).
			Msg("could not check whether missing WARC files are elsewhere: taking none of them for lost until the next start")
		absent = nil
	}
	found, err := heal.Compare(d.parts.Dedup, c.Storage.WARC, cut, absent, elsewhere)
	if err != nil {
		return err
	}
	d.logLosses(found)
	return nil
}

// openHealer begins to make URIs due whose payloads are lost.
func (d *Daemon) openHealer(time.Time) error {
	d.healer = healer{asked: make(chan struct{}, 1)}
	stop := background(d.heal)
	d.closers.add(func() error { stop(); return nil })
	pending := func(l dedup.Loss) bool { return l.Pending }
	if slices.ContainsFunc(d.parts.Dedup.Losses(), pending) {
		d.healer.ask()
	}
	return nil
}

// movedAway returns the names of WARC files that are elsewhere on purpose: those that the configuration names, and
// those that a server or program has taken.
func movedAway(c *config.Config) (map[string]string, error) {
	moved, err := fixity.Elsewhere(c.Storage.Elsewhere)
	if err != nil || c.Sealed.URL == "" && c.Sealed.Command == "" {
		return moved, err
	}
	m, err := fixity.Read(c.Storage.WARC)
	if err != nil {
		return moved, nil // without a manifest no file was passed
	}
	taken, err := (&sealed{position: filepath.Join(c.Storage.State, sealedPosition)}).taken(len(m.Entries))
	for _, e := range m.Entries[:taken] {
		moved[filepath.Base(e.File)] = ""
	}
	return moved, err
}

// logLosses says which files are lost and which are back.
func (d *Daemon) logLosses(found heal.Comparison) {
	for i, l := range found.Lost {
		if i == maxNamedLosses {
			d.log.Error().Int("files", len(found.Lost)-i).Msg("more WARC files are lost: arcrawl dedup lost names them")
			break
		}
		d.log.Error().Str("file", l.File).Int64("from", l.From).Stringer("cause", l.Cause).
			Msg("a WARC file is lost: no new record refers to it, and its payloads are archived again; " +
				"if it was moved, name the place in storage.elsewhere; arcrawl deps --lost shows what cannot be replayed")
	}
	if len(found.Back) > 0 {
		d.log.Info().Strs("files", found.Back[:min(len(found.Back), maxNamedLosses)]).Int("count", len(found.Back)).
			Msg("lost WARC files are back: new records may refer to them again")
	}
	if found.Away+found.Absent > 0 {
		d.log.Info().Int("elsewhere", found.Away).Int("lost", found.Absent).
			Msg("some WARC files are not in their folder, as before")
	}
}

// ask makes the healer look for new losses.
func (h healer) ask() {
	select {
	case h.asked <- struct{}{}:
	default:
	}
}

// heal makes the URIs of new losses due, until ctx ends.
func (d *Daemon) heal(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.healer.asked:
		}
		began := time.Now()
		d.logImpact(ctx)
		due, err := heal.URIs(ctx, d.parts.Frontier, d.parts.Dedup, d.live.Current(), d.o.Now,
			func() error { d.crawler.Wake(); return wait(ctx, healPause) })
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			d.log.Error().Err(err).Msg("could not make the URIs of lost WARC files due; trying again at the next start")
		default:
			d.crawler.Wake()
			d.log.Info().Int64("uris", due).Dur("took", time.Since(began)).
				Msg("URIs whose payloads were in lost WARC files are due again, at the pace of their hosts")
		}
	}
}

// logImpact says how many captures can no longer be replayed, as far as the dependency index knows.
func (d *Daemon) logImpact(ctx context.Context) {
	var files []string
	for _, l := range d.parts.Dedup.Losses() {
		if l.Pending && l.From == 0 {
			files = append(files, l.File)
		}
	}
	if len(files) == 0 {
		return
	}
	skip := func(warc.Finding) error { return nil }
	x, err := depend.Open(ctx, d.live.Current().Storage.WARC, depend.Options{Covered: true}, skip)
	if err != nil {
		return // arcrawl deps --lost says why
	}
	defer x.Close() //nolint:errcheck // nothing was written
	var all survey.Loss
	losses, err := x.Impact(files, "", func(survey.Lost) error { return ctx.Err() })
	if err != nil {
		d.log.Info().Err(err).Msg("the dependency index does not know what the lost WARC files held; try arcrawl deps --lost")
		return
	}
	for _, l := range losses {
		all.Captures, all.Revisits, all.Saved = all.Captures+l.Captures, all.Revisits+l.Revisits, all.Saved+l.Saved
	}
	d.log.Error().Int("captures", all.Captures).Int("revisits_elsewhere", all.Revisits).Int("payload_left", all.Saved).
		Int("hosts", len(losses)).
		Msg("captures of lost WARC files can no longer be replayed; arcrawl deps --lost --list names them")
}

// lose records what the operator says of WARC files.
func (d *Daemon) lose(o api.LostFiles) (api.LostAnswer, error) {
	changed, err := d.Declare(o.Files, o.Are)
	if err == nil && d.o.Owner != nil {
		var names []string
		for _, file := range o.Files {
			names = append(names, filepath.Base(file))
		}
		err = d.o.Owner.Lose(names, o.Are)
	}
	return api.LostAnswer{Changed: changed, Losses: api.LossesOf(d.parts.Dedup.Losses())}, err
}
