package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/sim"
	"github.com/arcrawl/arcrawl/uri"
)

func newPrime() *cobra.Command {
	var f frontierFlags
	var add, dry bool
	cmd := &cobra.Command{
		Use:   "prime FILE…",
		Short: "Let what was archived or crawled before teach the waits",
		Long: `prime reads crawl logs of arcrawl or Heritrix, or indexes in CDX or CDXJ, gzipped or not, and tells the wait evaluators of the
configuration of every visit in them, in the order of time. What they learn is stored with those URIs that the frontier knows: the
wait interval, the rate of change, and what the rule "learned" remembers. When a URI is due changes only if it was never visited,
or is due later than the learned interval after its last visit. With --add, URIs that the frontier does not know are added, due
when their interval has passed. While a daemon runs it is asked to store them; the crawl goes on meanwhile.

A URI about which the frontier knows of a later visit than the files do is left as it is.`,
		Example: "  arcrawl prime --config arcrawl.toml old/*.cdxj\n  arcrawl prime --dry-run crawl.log crawl.log.1.gz",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(f.config)
			if err != nil {
				return err
			}
			var seen sim.Sightings
			visits, skipped, err := seen.ReadFiles(args, nil)
			if err != nil {
				return err
			}
			p := priming{config: c, now: time.Now(), lessons: map[uri.URI]*sim.Sighted{}, dry: dry}
			for _, of := range seen.All() {
				if u, err := uri.Parse(of.URI); err == nil {
					p.lessons[u] = of
				}
			}
			known := len(p.lessons)
			err = f.with(cmd, func(s frontierStore) error {
				if err := p.teach(cmd.Context(), s); err != nil || !add {
					return err
				}
				return p.add(cmd.Context(), s)
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d visits of %d URIs read, %d lines passed over\n%s\n", visits, known, skipped, p.outcome())
			return err
		},
	}
	cmd.Flags().StringVarP(&f.config, "config", "c", "arcrawl.toml", "the main configuration file")
	cmd.Flags().BoolVar(&add, "add", false, "add URIs that are not known")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	return cmd
}

// priming teaches what earlier visits found.
type priming struct {
	config  *config.Config
	now     time.Time
	lessons map[uri.URI]*sim.Sighted // those that are not yet told
	dry     bool

	taught, later, added, refused, busy int
}

func (p *priming) outcome() string {
	would := ""
	if p.dry {
		would = " would be"
	}
	s := fmt.Sprintf("%d URIs%s primed, %d left as they are since their last visit is later, %d not known", p.taught, would, p.later, len(p.lessons))
	if p.added+p.refused > 0 {
		s += fmt.Sprintf(", %d%s added, %d refused since their host is full", p.added, would, p.refused)
	}
	if p.busy > 0 {
		s += fmt.Sprintf(", %d being visited; run it again for those", p.busy)
	}
	return s
}

// portion is how many URIs are read and stored at a time.
const portion = 500

// teach walks through the frontier.
func (p *priming) teach(ctx context.Context, s frontierStore) error {
	var cursor frontier.Cursor
	for {
		list, next, err := s.list(ctx, frontier.Selection{}, cursor, portion)
		if err != nil {
			return err
		}
		var taught []frontier.Entry
		for _, e := range list {
			of, ok := p.lessons[e.URI]
			if !ok {
				continue
			}
			delete(p.lessons, e.URI)
			if last := of.Visits[len(of.Visits)-1].At; !e.LastVisit.Before(last) {
				p.later++
				continue
			}
			taught = append(taught, p.told(e, of))
		}
		if err := p.store(ctx, s, true, taught); err != nil {
			return err
		}
		if cursor = next; next == "" {
			return nil
		}
	}
}

// add makes known what is left.
func (p *priming) add(ctx context.Context, s frontierStore) error {
	var fresh []frontier.Entry
	for u, of := range p.lessons {
		e := frontier.Entry{Record: frontier.Record{URI: u, Hops: uri.HopPath("").Then(uri.Link), Seed: u.String()}}
		e.FirstSeen = of.Visits[0].At
		fresh = append(fresh, p.told(e, of))
	}
	for len(fresh) > 0 {
		n := min(len(fresh), portion)
		if err := p.store(ctx, s, false, fresh[:n]); err != nil {
			return err
		}
		fresh = fresh[n:]
	}
	return nil
}

// told is an entry with what was learned of it.
func (p *priming) told(e frontier.Entry, of *sim.Sighted) frontier.Entry {
	mime := cmp.Or(e.ContentType, of.MIME)
	stack := p.config.For(config.About{URI: e.URI, Hops: e.Hops, ContentType: mime, Now: p.now}).Wait
	last := sim.Step{}
	of.MIME = mime
	for _, step := range sim.Replay(stack, of) {
		last = step
		if step.State == evaluators.Changed && step.At.After(e.LastChange) {
			e.LastChange = step.At
		}
	}
	e.Wait, e.Rate, e.Memory = last.Wait.Interval, last.Wait.PerDay, string(last.Wait.Memory)
	if due := last.At.Add(last.Wait.Interval); e.Visits == 0 || due.Before(e.Due) {
		if e.Due = due; due.Before(p.now) {
			e.Due = p.now
		}
	}
	return e
}

func (p *priming) store(ctx context.Context, s frontierStore, replace bool, entries []frontier.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	done := frontier.Imported{Replaced: len(entries)}
	if !replace {
		done = frontier.Imported{New: len(entries)}
	}
	if !p.dry {
		var err error
		if done, err = s.load(ctx, replace, entries); err != nil {
			return err
		}
	}
	p.taught += done.Replaced
	p.added += done.New
	p.refused += done.Refused
	p.busy += done.InProgress
	return nil
}
