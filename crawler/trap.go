package crawler

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of what a visit takes down about traps.
const (
	keptOfTrap   = 100     // URIs of each trap that stay in the frontier, so that they are there when the curator lets them go
	maxIDContent = 2 << 20 // bytes of a page that are compared without ids
)

// notFoundShared is the name of a page that says "not found" in that it is the same for every URI.
const notFoundShared = evaluators.NotFound + "shared"

// trapped is what a visit has to say about traps.
type trapped struct {
	sight *traps.Sight // what the page showed; nil when it was not read
	kept  []keptOut
}

// keptOut are the URIs that a page names and that are part of one trap.
type keptOut struct {
	trap traps.Trap
	uris []uri.URI
}

// look takes down what a page showed.
func (f *found) look(v visit, named discover.Result, finished time.Time) error {
	got := v.capture
	if v.robots || got.Status != http.StatusOK || !isHTML(got) {
		return nil
	}
	g := traps.Sight{URI: v.uri(), Via: uri.FromCanonical(v.record().Via), Hops: v.record().Hops, Now: finished}
	g.Links = make([]uri.URI, 0, len(named.Links))
	for _, l := range named.Links {
		g.Links = append(g.Links, l.URI)
	}
	if traps.HasID(v.uri().RequestTarget()) {
		content, err := got.Content()
		if err != nil {
			return err
		}
		defer content.Close()
		page, err := io.ReadAll(io.LimitReader(content, maxIDContent))
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, fetch.ErrMaxContent) && !errors.Is(err, fetch.ErrCoding) {
			return err
		}
		g.Page = traps.WithoutIDs(page)
	}
	f.trapped.sight = &g
	return nil
}

func isHTML(c *fetch.Capture) bool {
	kind := strings.ToLower(c.Header.Get("Content-Type"))
	return strings.HasPrefix(kind, "text/html") || strings.HasPrefix(kind, "application/xhtml+xml")
}

// sift takes out the candidates that are part of a trap. The first of each trap stay, not to be visited for a while.
func (c *Crawler) sift(f *found, s config.Settings, now time.Time) error {
	if c.rooms.Traps == nil || !s.Scope.Traps {
		return nil
	}
	free := f.candidates[:0]
	for _, cand := range f.candidates {
		t, ok, err := c.rooms.Traps.Judge(cand.URI, uri.FromCanonical(cand.Via), cand.Hops, now)
		if err != nil {
			return err
		}
		if !ok || t.Suspect || cand.Hops == "" {
			free = append(free, cand)
			continue
		}
		if f.trapped.add(t, cand.URI)+t.Kept <= keptOfTrap {
			cand.Due, cand.Urgent, cand.Sooner = now.Add(s.Scope.TrapWait), false, false
			free = append(free, cand)
		}
	}
	f.candidates = free
	return nil
}

// add notes a URI that is kept out, and gives how many of its trap were named by this page.
func (t *trapped) add(trap traps.Trap, u uri.URI) int64 {
	for i := range t.kept {
		if k := &t.kept[i]; k.trap.Kind == trap.Kind && k.trap.Pattern == trap.Pattern {
			k.uris = append(k.uris, u)
			return int64(len(k.uris))
		}
	}
	t.kept = append(t.kept, keptOut{trap, []uri.URI{u}})
	return 1
}

// refusedByTrap begins the reason why a URI that is part of a trap is not visited.
const refusedByTrap = "trap:"

// isTrapped says whether a URI that is due is part of a trap.
func (c *Crawler) isTrapped(r frontier.Record, s config.Settings, now time.Time) (*refusal, error) {
	if c.rooms.Traps == nil || !s.Scope.Traps || r.Hops == "" {
		return nil, nil
	}
	t, ok, err := c.rooms.Traps.Judge(r.URI, uri.FromCanonical(r.Via), r.Hops, now)
	if err != nil || !ok {
		return nil, err
	}
	if t.Suspect {
		return &refusal{history.StatusOutOfScope, min(traps.SuspectWait, s.Scope.TrapWait), refusedByTrap + "suspect"}, nil
	}
	return &refusal{history.StatusOutOfScope, s.Scope.TrapWait, refusedByTrap + t.Kind.String()}, nil
}

// learnTraps tells the book what a visit showed. A crash before the frontier hears of the visit has it told again.
func (c *Crawler) learnTraps(v visit, s config.Settings, k kept, f found) error {
	if c.rooms.Traps == nil || !s.Scope.Traps {
		return nil
	}
	for _, out := range f.trapped.kept {
		if _, err := c.rooms.Traps.Keep(out.trap, v.finished, out.uris...); err != nil {
			return err
		}
	}
	var certain []traps.Trap
	if g := f.trapped.sight; g != nil {
		found, lifted, err := c.rooms.Traps.Learn(*g)
		if err == nil {
			err = c.letGo(v.uri().Host(), lifted, v.finished)
		}
		if err != nil {
			return err
		}
		certain = found
	}
	found, err := c.shareAnswer(v, k)
	if err != nil {
		return err
	}
	for _, t := range append(certain, found...) {
		c.rooms.Log.Warn().Str("host", string(v.uri().Host())).Str("kind", t.Kind.String()).Str("pattern", t.Pattern).
			Strs("examples", t.Examples).Msg("a trap: " + t.Why + "; arcrawl traps shows it and releases it")
	}
	return nil
}

// letGo makes due what was kept out because of traps that have turned out to be none.
func (c *Crawler) letGo(h uri.Host, lifted []traps.Trap, now time.Time) error {
	for _, t := range lifted {
		due, err := ReleaseTrap(c.rooms.Frontier, c.rooms.Traps, h, t.Pattern, now)
		if err != nil {
			return err
		}
		c.rooms.Log.Warn().Str("host", string(h)).Str("kind", t.Kind.String()).Str("pattern", t.Pattern).Int64("due", due).
			Msg("no trap: its pages are listed elsewhere; it was released")
	}
	return nil
}

// vouch tells the book that what a feed or sitemap lists is real.
func (c *Crawler) vouch(s config.Settings, us []uri.URI, now time.Time) error {
	if c.rooms.Traps == nil || !s.Scope.Traps {
		return nil
	}
	for len(us) > 0 {
		h, n := us[0].Host(), 1
		for n < len(us) && us[n].Host() == h {
			n++
		}
		lifted, err := c.rooms.Traps.Vouch(h, us[:n]...)
		if err == nil {
			err = c.letGo(h, lifted, now)
		}
		if err != nil {
			return err
		}
		us = us[n:]
	}
	return nil
}

// shareAnswer notes that a new page is, byte for byte, one that another URI of the host has.
func (c *Crawler) shareAnswer(v visit, k kept) ([]traps.Trap, error) {
	if !v.verdict.First || v.failed || v.robots || k.keeping != KeptRevisit || v.capture.Status != http.StatusOK || !isHTML(v.capture) {
		return nil, nil
	}
	other := uri.FromCanonical(k.origin.URI)
	if other.IsZero() || other == v.uri() || other.Host() != v.uri().Host() {
		return nil, nil
	}
	return c.rooms.Traps.Share(v.capture.PayloadDigest, v.record().Hops == "", v.finished, v.uri(), other)
}

// recogniseShared looks whether the answer is what the host says in the place of "not found".
func (c *Crawler) recogniseShared(v *visit, s config.Settings) error {
	if c.rooms.Traps == nil || !s.Scope.Traps || v.block != "" || v.robots || v.capture.Status != http.StatusOK || !isHTML(v.capture) {
		return nil
	}
	soft, err := c.rooms.Traps.IsNotFound(v.uri().Host(), v.capture.PayloadDigest)
	if err != nil {
		return fmt.Errorf("look whether %s is found: %w", v.uri(), err)
	}
	if soft {
		v.block = notFoundShared
	}
	return nil
}
