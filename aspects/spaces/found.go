// This file stores what visits show about endless spaces of URIs, and acts on what the stores of traps find.

package spaces

import (
	"fmt"
	"regexp"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Stores holds what is known about endless
type Stores struct {
	Traps    *TrapStore
	Spaces   *Store
	Frontier *frontier.Frontier
	Log      zerolog.Logger
}

// Links lists the links of a page for [Page]: all of a page inside, and of others only those with parameters,
// which few pages have. known reports whether the crawl knows some URIs.
func Links(page discover.Result, inside bool, known func([]uri.URI, []bool)) []Link {
	var list []Link
	for _, l := range page.Links {
		if inside || l.Hop == uri.Link && Wants(l.URI) {
			list = append(list, Link{URI: l.URI, Page: l.Hop == uri.Link})
		}
	}
	if !inside {
		return list
	}
	us, is := make([]uri.URI, len(list)), make([]bool, len(list))
	for i, l := range list {
		us[i] = l.URI
	}
	known(us, is)
	for i := range list {
		list[i].Known = is[i]
	}
	return list
}

// Findings holds the findings of a visit about traps.
type Findings struct {
	Page    *TrapPage // nil = it was not read
	Space   *Page     // nil = it was not read
	keptOut []keptOut
}

// keptOut lists the URIs on a page that are part of one trap.
type keptOut struct {
	trap Trap
	uris []uri.URI
}

// KeepOut records a URI that is kept out, and returns how many URIs of its trap this page names so far.
func (f *Findings) KeepOut(trap Trap, u uri.URI) int64 {
	for i := range f.keptOut {
		if k := &f.keptOut[i]; k.trap.Kind == trap.Kind && k.trap.Pattern == trap.Pattern {
			k.uris = append(k.uris, u)
			return int64(len(k.uris))
		}
	}
	f.keptOut = append(f.keptOut, keptOut{trap, []uri.URI{u}})
	return 1
}

// Learn stores the findings of a visit to a host. After a crash before the settlement, it is called once more.
func (s Stores) Learn(h uri.Host, f Findings, now time.Time) error {
	for _, out := range f.keptOut {
		if _, err := s.Traps.CountKeptOut(out.trap, now, out.uris...); err != nil {
			return err
		}
	}
	if f.Page != nil {
		found, refuted, err := s.Traps.Learn(*f.Page)
		if err == nil {
			err = s.release(h, refuted, now)
		}
		if err != nil {
			return err
		}
		s.LogFound(h, found...)
	}
	if f.Space == nil {
		return nil
	}
	found, err := s.Spaces.Learn(*f.Space)
	if err != nil {
		return err
	}
	return s.take(found, now)
}

// take adds what was found as traps, and releases what is refuted.
func (s Stores) take(list []Finding, now time.Time) error {
	for _, is := range list {
		f := Found{
			Authority: is.Authority, Parameter: is.Parameter, Space: is.Pattern, Why: is.Why, Examples: is.Examples,
			Visited: is.Visited,
		}
		if is.Refuted {
			refuted, err := s.Traps.Refute(is.Host, f)
			if err == nil {
				err = s.release(is.Host, refuted, now)
			}
			if err != nil {
				return err
			}
			continue
		}
		t, added, err := s.Traps.AddFound(is.Host, f, now)
		if err != nil {
			return err
		}
		if !added {
			continue
		}
		s.LogFound(is.Host, t)
		if t.Kind == Parameter {
			err = s.name(t, is.Host, now)
		}
		if err != nil {
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
func (s Stores) name(t Trap, h uri.Host, now time.Time) error {
	match, err := regexp.Compile(t.Pattern)
	if err != nil {
		return fmt.Errorf("name the URIs of %s by the trap %q: %w", h, t.Pattern, err)
	}
	selected := frontier.Selection{Host: string(h), Match: match}
	from := frontier.Cursor("")
	for seen := 0; seen < maxNamed; {
		list, next, err := s.Frontier.List(now, selected, from, namedAtOnce)
		for _, e := range list {
			if seen++; e.Visits == 0 || err != nil {
				continue
			}
			_, err = s.Frontier.VisitedFor(e.Record)
		}
		if from = next; err != nil || next == "" {
			return err
		}
	}
	return nil
}

// LogFound logs traps that have become certain.
func (s Stores) LogFound(h uri.Host, found ...Trap) {
	for _, t := range found {
		s.Log.Warn().Str("host", string(h)).Str("kind", t.Kind.String()).Str("pattern", t.Pattern).
			Str("why", t.Why).Strs("examples", t.Examples).
			Msg("found a trap: its URIs are not visited; arcrawl traps shows and releases it")
	}
}

// release makes the URIs due that were kept out by traps that were refuted.
func (s Stores) release(h uri.Host, refuted []Trap, now time.Time) error {
	for _, t := range refuted {
		due, err := Release(s.Frontier, s.Traps, h, t.Pattern, now)
		if err != nil {
			return err
		}
		s.Log.Warn().Str("host", string(h)).Str("kind", t.Kind.String()).Str("pattern", t.Pattern).Int64("due", due).
			Msg("released a trap: its pages are real, because they are listed elsewhere")
	}
	return nil
}

// Vouch records that the pages that a feed or sitemap lists are real.
func (s Stores) Vouch(listed []uri.URI, now time.Time) error {
	for len(listed) > 0 {
		h, n := listed[0].Host(), 1
		for n < len(listed) && listed[n].Host() == h {
			n++
		}
		refuted, err := s.Traps.AddListed(h, listed[:n]...)
		if err == nil {
			err = s.release(h, refuted, now)
		}
		if err != nil {
			return err
		}
		found, err := s.Spaces.AddListed(h, now, listed[:n]...)
		if err == nil {
			err = s.take(found, now)
		}
		if err != nil {
			return err
		}
		listed = listed[n:]
	}
	return nil
}

// Hold reports whether a URI has to wait for the budget of its pattern, and for how long. count says that it is put off
// now.
func (s Stores) Hold(w Wanted, count bool) (wait time.Duration, held bool, err error) {
	_, wait, held, err = s.Spaces.Hold(w, count)
	return wait, held, err
}

// HoldFound reports whether a URI that a page names has to wait for the budget of its pattern, and for how long. A URI
// that the crawl knows is judged when it is due, and not here.
func (s Stores) HoldFound(w Wanted) (wait time.Duration, held bool, err error) {
	w.First, w.Found = true, true
	if _, held, err = s.Hold(w, false); err != nil || !held {
		return 0, false, err
	}
	if _, known, err := s.Frontier.Get(w.URI); err != nil || known {
		return 0, false, err
	}
	return s.Hold(w, true)
}
