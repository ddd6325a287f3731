package crawler

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/crawler/optional"
	"github.com/arcrawl/arcrawl/crawler/untrap"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/mediatype"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of what one visit records about traps.
const (
	maxKeptOfTrap = 100     // URIs of each trap that stay in the frontier, for the case that the curator releases it
	maxIDContent  = 2 << 20 // bytes of a page that are compared without ids
)

// sharedNotFound is the kind of block of a page that is the same for every URI of the host.
const sharedNotFound = evaluators.NotFound + "shared"

// trapFindings holds the findings of a visit about traps.
type trapFindings struct {
	page    *traps.Page // nil = it was not read
	keptOut []keptOut
}

// keptOut lists the URIs on a page that are part of one trap.
type keptOut struct {
	trap traps.Trap
	uris []uri.URI
}

// observeTraps records what a page shows, for the search for traps.
func (f *finder) observeTraps(page discover.Result) error {
	v, got := f.v, f.v.capture
	if v.robots || got.Status != http.StatusOK || !isHTML(got) {
		return nil
	}
	seen := traps.Page{URI: v.uri(), Via: uri.FromCanonical(v.record().Via), Hops: v.record().Hops, Now: v.finished}
	seen.Links = make([]uri.URI, 0, len(page.Links))
	for _, l := range page.Links {
		seen.Links = append(seen.Links, l.URI)
	}
	if traps.HasID(v.uri().RequestTarget()) {
		content, err := got.Content()
		if err != nil {
			return err
		}
		defer content.Close()
		text, err := io.ReadAll(io.LimitReader(content, maxIDContent))
		if err != nil && !fetch.IsIncomplete(err) {
			return err
		}
		seen.Sum = traps.SumWithoutIDs(text)
	}
	f.found.traps.page = &seen
	return nil
}

func isHTML(c *fetch.Capture) bool { return mediatype.IsHTML(c.Header.Get("Content-Type")) }

// removeTrapped removes the candidates that are part of a trap. The first ones of each trap stay, with a long wait.
func (f *finder) removeTrapped() error {
	store, now := f.c.trapsFor(f.s.Settings), f.v.finished
	rest := f.found.candidates[:0]
	for _, cand := range f.found.candidates {
		t, ok, err := store.Judge(cand.URI, uri.FromCanonical(cand.Via), cand.Hops, now)
		if err != nil {
			return err
		}
		if !ok || t.Suspect || cand.Hops == "" {
			rest = append(rest, cand)
			continue
		}
		if f.found.traps.add(t, cand.URI)+t.Kept <= maxKeptOfTrap {
			cand.Due, cand.Urgent, cand.Sooner = now.Add(f.s.Scope.TrapWait), false, false
			rest = append(rest, cand)
		}
	}
	f.found.candidates = rest
	return nil
}

// add records a URI that is kept out, and returns how many URIs of its trap this page names so far.
func (t *trapFindings) add(trap traps.Trap, u uri.URI) int64 {
	for i := range t.keptOut {
		if k := &t.keptOut[i]; k.trap.Kind == trap.Kind && k.trap.Pattern == trap.Pattern {
			k.uris = append(k.uris, u)
			return int64(len(k.uris))
		}
	}
	t.keptOut = append(t.keptOut, keptOut{trap, []uri.URI{u}})
	return 1
}

// learnTraps stores the findings of a visit about traps. After a crash before the settlement, it is stored once more.
func (c *Crawler) learnTraps(v visit, s settings, a archived, f findings) error {
	store := c.trapsFor(s.Settings)
	for _, out := range f.traps.keptOut {
		if _, err := store.CountKeptOut(out.trap, v.finished, out.uris...); err != nil {
			return err
		}
	}
	var found []traps.Trap
	if page := f.traps.page; page != nil {
		byPage, refuted, err := store.Learn(*page)
		if err == nil {
			err = c.releaseRefuted(store, v.uri().Host(), refuted, v.finished)
		}
		if err != nil {
			return err
		}
		found = byPage
	}
	byAnswer, err := learnSharedAnswer(store, v, a)
	if err != nil {
		return err
	}
	for _, t := range append(found, byAnswer...) {
		c.parts.Log.Warn().Str("host", string(v.uri().Host())).Str("kind", t.Kind.String()).Str("pattern", t.Pattern).
			Str("why", t.Why).Strs("examples", t.Examples).
			Msg("found a trap: its URIs are not visited; arcrawl traps shows and releases it")
	}
	return nil
}

// releaseRefuted makes the URIs due that were kept out by traps that were refuted.
func (c *Crawler) releaseRefuted(store untrap.Releaser, h uri.Host, refuted []traps.Trap, now time.Time) error {
	for _, t := range refuted {
		due, err := untrap.Release(c.parts.Frontier, store, h, t.Pattern, now)
		if err != nil {
			return err
		}
		c.parts.Log.Warn().Str("host", string(h)).Str("kind", t.Kind.String()).Str("pattern", t.Pattern).Int64("due", due).
			Msg("released a trap: its pages are real, because they are listed elsewhere")
	}
	return nil
}

// vouchFor records that the pages that a feed or sitemap lists are real.
func (f *finder) vouchFor(listed []uri.URI) error {
	store := f.c.trapsFor(f.s.Settings)
	for len(listed) > 0 {
		h, n := listed[0].Host(), 1
		for n < len(listed) && listed[n].Host() == h {
			n++
		}
		refuted, err := store.AddListed(h, listed[:n]...)
		if err == nil {
			err = f.c.releaseRefuted(store, h, refuted, f.v.finished)
		}
		if err != nil {
			return err
		}
		listed = listed[n:]
	}
	return nil
}

// learnSharedAnswer records that a new page is, byte for byte, the page of another URI of the host.
func learnSharedAnswer(store optional.Traps, v visit, a archived) ([]traps.Trap, error) {
	isPage := !v.failed && !v.robots && v.capture.Status == http.StatusOK && isHTML(v.capture)
	if !isPage || !v.verdict.First || a.keeping != KeptRevisit {
		return nil, nil
	}
	other := uri.FromCanonical(a.origin.URI)
	if other.IsZero() || other == v.uri() || other.Host() != v.uri().Host() {
		return nil, nil
	}
	return store.LearnShared(v.capture.PayloadDigest, v.record().Hops == "", v.finished, v.uri(), other)
}

// detectSharedNotFound sets v.block if the answer is the page with which the host says "not found".
func (c *Crawler) detectSharedNotFound(v *visit, s settings) error {
	if v.block != "" || v.robots || v.capture.Status != http.StatusOK || !isHTML(v.capture) {
		return nil
	}
	shared, err := c.trapsFor(s.Settings).IsNotFound(v.uri().Host(), v.capture.PayloadDigest)
	if err != nil {
		return fmt.Errorf("look up whether %s is the \"not found\" page of its host: %w", v.uri(), err)
	}
	if shared {
		v.block = sharedNotFound
	}
	return nil
}
