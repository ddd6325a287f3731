// This file stores what visits show about endless spaces of URIs, and acts on what it finds.

package spaces

import (
	"fmt"
	"regexp"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// keptOut lists the URIs on a page that are part of one trap.
type keptOut struct {
	trap Trap
	uris []uri.URI
}

// keepOut records a URI that is kept out, and returns how many URIs of its trap this page names so far.
func (f *finding) keepOut(trap Trap, u uri.URI) int64 {
	for i := range f.keptOut {
		if k := &f.keptOut[i]; k.trap.Kind == trap.Kind && k.trap.Pattern == trap.Pattern {
			k.uris = append(k.uris, u)
			return int64(len(k.uris))
		}
	}
	f.keptOut = append(f.keptOut, keptOut{trap, []uri.URI{u}})
	return 1
}

// learn stores the findings of a visit to a host. After a crash before the settlement, it is called once more.
func (a *Aspect) learn(h uri.Host, f *finding, now time.Time) error {
	for _, out := range f.keptOut {
		if _, err := a.Store.CountKeptOut(out.trap, now, out.uris...); err != nil {
			return err
		}
	}
	if f.page == nil {
		return nil
	}
	found, refuted, err := a.Store.Learn(*f.page)
	if err == nil {
		err = a.release(h, refuted, now)
	}
	if err != nil {
		return err
	}
	return a.take(h, found, now)
}

// take logs traps that have become certain, and lets the URIs take their names.
func (a *Aspect) take(h uri.Host, found []Trap, now time.Time) error {
	for _, t := range found {
		a.Log.Warn().Str("host", string(h)).Str("kind", t.Kind.String()).Str("pattern", t.Pattern).
			Str("why", t.Why).Strs("examples", t.Examples).
			Msg("found a trap: its URIs are not visited; arcrawl traps shows and releases it")
		if t.Kind != Parameter {
			continue
		}
		if err := a.name(t, h, now); err != nil {
			return err
		}
	}
	return nil
}

// maxNamed is the number of visited URIs that take their names at once when a parameter is found to say nothing, and
// namedAtOnce the number that are read in one step.
const (
	maxNamed    = 2000
	namedAtOnce = 500
)

// name lets the visited URIs with a parameter take their names, so that no page is visited a second time under another
// value of the parameter.
func (a *Aspect) name(t Trap, h uri.Host, now time.Time) error {
	match, err := regexp.Compile(t.Pattern)
	if err != nil {
		return fmt.Errorf("name the URIs of %s by the trap %q: %w", h, t.Pattern, err)
	}
	selected := frontier.Selection{Host: string(h), Match: match}
	from := frontier.Cursor("")
	for seen := 0; seen < maxNamed; {
		list, next, err := a.Frontier.List(now, selected, from, namedAtOnce)
		for _, e := range list {
			if seen++; e.Visits == 0 || err != nil {
				continue
			}
			_, err = a.Frontier.VisitedFor(e.Record)
		}
		if from = next; err != nil || next == "" {
			return err
		}
	}
	return nil
}

// release makes the URIs due that were kept out by traps that were refuted.
func (a *Aspect) release(h uri.Host, refuted []Trap, now time.Time) error {
	for _, t := range refuted {
		due, err := Release(a.Frontier, a.Store, h, t.Pattern, now)
		if err != nil {
			return err
		}
		a.Log.Warn().Str("host", string(h)).Str("kind", t.Kind.String()).Str("pattern", t.Pattern).Int64("due", due).
			Msg("released a trap: its pages are real, because they are listed elsewhere")
	}
	return nil
}

// Vouch notes that the pages that a feed or sitemap lists are real.
func (a *Aspect) Vouch(v *aspects.Visit, listed []uri.URI) error {
	if !a.Options(v).Detect {
		return nil
	}
	for len(listed) > 0 {
		h, n := listed[0].Host(), 1
		for n < len(listed) && listed[n].Host() == h {
			n++
		}
		refuted, err := a.Store.AddListed(h, v.Finished, listed[:n]...)
		if err == nil {
			err = a.release(h, refuted, v.Finished)
		}
		if err != nil {
			return err
		}
		listed = listed[n:]
	}
	return nil
}

// HoldFound reports whether a URI that a page names has to wait for the budget of its pattern, and for how long. A URI
// that the crawl knows is judged when it is due, and not here.
func (a *Aspect) HoldFound(w Wanted) (wait time.Duration, held bool, err error) {
	w.First, w.Found = true, true
	if _, _, held, err = a.Store.Hold(w, false); err != nil || !held {
		return 0, false, err
	}
	if _, known, err := a.Frontier.Get(w.URI); err != nil || known {
		return 0, false, err
	}
	_, wait, held, err = a.Store.Hold(w, true)
	return wait, held, err
}
