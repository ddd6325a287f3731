package lab

import (
	"cmp"
	"context"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/lab/sim"
	"github.com/arcrawl/arcrawl/uri"
)

// primeBatch is how many entries are read or stored at a time.
const primeBatch = 500

// primeOptions say what to do with the visits.
type primeOptions struct {
	Config *config.Config
	Now    time.Time
	Add    bool // add URIs that the frontier does not know
	DryRun bool // store nothing
}

// primeResult counts what happened to the URIs.
type primeResult struct {
	URIs    int // with visits
	Primed  int
	Later   int // unchanged, because the frontier knows a later visit
	Unknown int // not known to the frontier, and not added
	Added   int
	Refused int // not added, because their host is full
	Busy    int // unchanged, because they are being visited
}

// primer teaches what earlier visits found.
type primer struct {
	o      primeOptions
	store  cli.Store
	visits map[uri.URI]*sim.Sighted // of the URIs that were not found in the frontier yet
	result primeResult
}

// primeFrontier teaches the URIs of a frontier what earlier visits found, by an earlier crawl or another crawler. It
// plays the visits of each URI through the wait evaluators of the configuration, in the order of time, and stores what
// the evaluators learn: the interval, the rate of change, and the memory of the learned rule.
func primeFrontier(ctx context.Context, store cli.Store, earlier []*sim.Sighted, o primeOptions) (primeResult, error) {
	p := primer{o: o, store: store, visits: map[uri.URI]*sim.Sighted{}}
	for _, s := range earlier {
		if u, err := uri.Parse(s.URI); err == nil {
			p.visits[u] = s
		}
	}
	p.result.URIs = len(p.visits)
	err := p.primeKnown(ctx)
	p.result.Unknown = len(p.visits)
	if err == nil && o.Add {
		err = p.addUnknown(ctx)
	}
	return p.result, err
}

// primeKnown teaches the URIs that the frontier knows.
func (p *primer) primeKnown(ctx context.Context) error {
	for cursor := frontier.Cursor(""); ; {
		list, following, err := p.store.List(ctx, frontier.Selection{}, cursor, primeBatch)
		if err != nil {
			return err
		}
		var primed []frontier.Entry
		for _, e := range list {
			s, ok := p.visits[e.URI]
			if !ok {
				continue
			}
			delete(p.visits, e.URI)
			if last := s.Visits[len(s.Visits)-1].At; !e.LastVisit.Before(last) {
				p.result.Later++
				continue
			}
			primed = append(primed, p.primed(e, s))
		}
		if err := p.put(ctx, true, primed); err != nil {
			return err
		}
		if cursor = following; cursor == "" {
			return nil
		}
	}
}

// addUnknown adds the URIs that the frontier does not know.
func (p *primer) addUnknown(ctx context.Context) error {
	var entries []frontier.Entry
	for u, s := range p.visits {
		e := frontier.Entry{Record: frontier.Record{URI: u, Hops: uri.HopPath("").Then(uri.Link), Seed: u.String()}}
		e.FirstSeen = s.Visits[0].At
		entries = append(entries, p.primed(e, s))
	}
	for len(entries) > 0 {
		n := min(len(entries), primeBatch)
		if err := p.put(ctx, false, entries[:n]); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

// primed returns e with what the evaluators learn from the visits. The due time changes only if the URI was never
// visited, or if the learned interval ends earlier.
func (p *primer) primed(e frontier.Entry, s *sim.Sighted) frontier.Entry {
	s.MIME = cmp.Or(e.ContentType, s.MIME)
	stack := p.o.Config.For(config.About{URI: e.URI, Hops: e.Hops, ContentType: s.MIME, Now: p.o.Now}).Wait
	var last sim.Step
	for _, step := range sim.Replay(stack, s) {
		last = step
		if step.State == evaluators.Changed && step.At.After(e.LastChange) {
			e.LastChange = step.At
		}
	}
	e.Wait, e.Rate, e.Memory = last.Wait.Interval, last.Wait.PerDay, string(last.Wait.Memory)
	if due := last.At.Add(last.Wait.Interval); e.Visits == 0 || due.Before(e.Due) {
		if e.Due = due; due.Before(p.o.Now) {
			e.Due = p.o.Now
		}
	}
	return e
}

// put stores entries and counts them. A dry run only counts them.
func (p *primer) put(ctx context.Context, replace bool, entries []frontier.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var done frontier.Imported
	switch {
	case !p.o.DryRun:
		var err error
		if done, err = p.store.Import(ctx, replace, entries...); err != nil {
			return err
		}
	case replace:
		done.Replaced = len(entries)
	default:
		done.New = len(entries)
	}
	p.result.Primed += done.Replaced
	p.result.Added += done.New
	p.result.Refused += done.Refused
	p.result.Busy += done.InProgress
	return nil
}
