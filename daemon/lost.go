package daemon

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/warcout"
)

// maxNamedLosses is the maximum number of lost files that are logged one by one.
const maxNamedLosses = 20

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
	elsewhere, err := d.elsewhereOnPurpose()
	if err != nil && len(absent) > 0 {
		d.log.Error().Err(err).Int("files", len(absent)).
			Msg("could not check whether missing WARC files are elsewhere: taking none of them for lost until the next start")
		absent = nil
	}
	found, err := d.parts.Dedup.Compare(d.live.Current().Storage.WARC, cut, absent, elsewhere)
	if err != nil {
		return err
	}
	d.logLosses(found)
	return nil
}

// elsewhereOnPurpose returns which of the missing WARC files are not lost, as far as the wings know.
func (d *Daemon) elsewhereOnPurpose() (func(file string) bool, error) {
	var all []func(string) bool
	for _, k := range d.keepers {
		elsewhere, err := k.Elsewhere()
		if err != nil {
			return nil, err
		}
		all = append(all, elsewhere)
	}
	return func(file string) bool {
		return slices.ContainsFunc(all, func(elsewhere func(string) bool) bool { return elsewhere(file) })
	}, nil
}

// logLosses says which files are lost and which are back.
func (d *Daemon) logLosses(found dedup.Comparison) {
	for i, l := range found.Lost {
		if i == maxNamedLosses {
			d.log.Error().Int("files", len(found.Lost)-i).Msg("more WARC files are lost: arcrawl dedup lost names them")
			break
		}
		d.log.Error().Str("file", l.File).Int64("from", l.From).Stringer("cause", l.Cause).
			Msg("a WARC file is lost: no new record refers to it, and its payloads are archived again; " +
				"if it was moved, name the place in storage.elsewhere; arcrawl deps --lost shows what cannot be replayed")
	}
	for _, f := range found.Unread[:min(len(found.Unread), maxNamedLosses)] {
		d.log.Warn().Str("path", f.File).Str("error", f.Text).
			Msg("could not look for missing WARC files here: a file that was moved here counts as lost")
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

// Declare notes what somebody says of WARC files, and returns for how many it was not known. What is lost is archived
// again.
func (d *Daemon) Declare(files []string, are string) (changed int, err error) {
	changed, err = d.parts.Dedup.Declare(d.live.Current().Storage.WARC, files, are)
	if changed > 0 {
		d.askWings()
	}
	return changed, err
}

// askWings asks the wings to archive again what is lost.
func (d *Daemon) askWings() {
	for _, w := range d.wings {
		if w.Lost != nil {
			w.Lost()
		}
	}
}

// Vanished records as lost those finished WARC files that are not in their folder any more, unless they are elsewhere
// on purpose. What is lost is archived again.
func (d *Daemon) Vanished(files []string) error {
	elsewhere, err := d.elsewhereOnPurpose()
	if err != nil {
		return err
	}
	for _, l := range d.parts.Dedup.Losses() {
		if l.Cause == dedup.Absent { // otherwise it would count as back
			files = append(files, l.File)
		}
	}
	found, err := d.parts.Dedup.Compare(d.live.Current().Storage.WARC, nil, files, elsewhere)
	if err == nil && len(found.Lost)+len(found.Back) > 0 {
		d.logLosses(found)
	}
	if len(found.Lost) > 0 {
		d.askWings()
	}
	return err
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

const (
	// comparedBytes is how much of the crawl log is compared with the store at the start.
	comparedBytes = 64 << 20
	// compareFor is the maximum time of that comparison.
	compareFor = 10 * time.Second
)

// findMissing compares the end of the crawl log with the store. The store can open without its last entries, for
// example if the log of a memory table was deleted or overwritten. Nothing else would show that. After an ordinary kill
// a few visits can be missing, at most one for each worker. With an owner nothing is compared: its store may be
// empty, and hosts that come to it from elsewhere rest by themselves.
func (d *Daemon) findMissing(now time.Time) (err error) {
	if d.o.Owner != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), compareFor)
	defer cancel()
	c := d.live.Current()
	d.missing, err = crawler.FindMissing(ctx, d.parts.Frontier, c, c.Storage.Log, comparedBytes, now)
	if err != nil {
		return err
	}
	m := d.missing
	if m.Visits == 0 {
		return nil
	}
	event, text := d.log.Info(), "the last visits before the stop were logged but not stored; repeating them when they are due"
	switch {
	case m.Visits <= int64(c.Crawl.Workers):
	default:
		event, text = d.log.Warn(), "the store lost visits that crawl.log has; they are repeated, "+
			"unless you stop the daemon and run arcrawl backup restore --missing"
	}
	event.Int64("visits", m.Visits).Time("since", m.Since).Time("until", m.Until).Bool("perhaps_more", m.More).Msg(text)
	return nil
}
