package crawler

import (
	"fmt"
	"io"
	"net/http"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/aspects/spaces/traps"
	"github.com/arcrawl/arcrawl/crawler/trapped"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/mediatype"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of what one visit records about traps.
const (
	maxKeptOfTrap = 100     // URIs of each trap that stay in the frontier, for the case that the curator releases it
	maxIDContent  = 2 << 20 // bytes of a page that are compared without ids
)

// sharedNotFound is the kind of block of a page that is the same for every URI of the host.
const sharedNotFound = evaluators.NotFound + "shared"

// observeTraps records what a page shows, for the search for traps.
func (f *finder) observeTraps(page discover.Result) error {
	v, got := f.v, f.v.capture
	if !f.s.Scope.Traps || v.robots || got.Status != http.StatusOK || v.block != "" && v.block != sharedNotFound {
		return nil
	}
	via, hops := uri.FromCanonical(v.record().Via), v.record().Hops
	html := isHTML(got)
	space := &spaces.Page{URI: v.uri(), Via: via, Hops: hops, First: v.verdict.First, HTML: html, Now: v.finished}
	seen := &traps.Page{URI: v.uri(), Via: via, Hops: hops, Now: v.finished}
	seen.Links = make([]uri.URI, 0, len(page.Links))
	for _, l := range page.Links {
		seen.Links = append(seen.Links, l.URI)
	}
	space.Links = trapped.Links(page, space.First && spaces.Inside(v.uri(), via), f.c.parts.Frontier.RecentlyKnown)
	var text []byte
	hasID := html && traps.HasID(v.uri().RequestTarget())
	if hasID || spaces.Wants(v.uri()) {
		var err error
		if text, err = readBeginning(got); err != nil {
			return err
		}
	}
	if hasID {
		seen.Sum = traps.SumWithoutIDs(text)
	}
	if space.Content = text[:min(len(text), spaces.MaxContent)]; html || space.Content != nil {
		f.found.traps.Space = space
	}
	if html {
		f.found.traps.Page = seen
	}
	return nil
}

// readBeginning returns the content, or as much of it as is compared without ids.
func readBeginning(got *fetch.Capture) ([]byte, error) {
	content, err := got.Content()
	if err != nil {
		return nil, err
	}
	defer content.Close()
	text, err := io.ReadAll(io.LimitReader(content, maxIDContent))
	if fetch.IsIncomplete(err) {
		err = nil
	}
	return text, err
}

func isHTML(c *fetch.Capture) bool { return mediatype.IsHTML(c.Header.Get("Content-Type")) }

// removeTrapped removes the candidates that are part of a trap. The first ones of each trap stay, with a long wait.
func (f *finder) removeTrapped() error {
	if !f.s.Scope.Traps {
		return nil
	}
	now := f.v.finished
	rest := f.found.candidates[:0]
	for _, cand := range f.found.candidates {
		t, ok, err := f.c.parts.Traps.Judge(cand.URI, uri.FromCanonical(cand.Via), cand.Hops, now)
		if err != nil {
			return err
		}
		if !ok || t.Suspect || cand.Hops == "" {
			wait, held, err := f.c.trapped.HoldFound(spaces.Wanted{
				URI: cand.URI, Via: uri.FromCanonical(cand.Via), Hops: cand.Hops, Now: now,
			})
			if err != nil {
				return err
			}
			if held && !cand.Urgent {
				cand.Due = now.Add(min(wait, f.s.Scope.TrapWait))
			}
			rest = append(rest, cand)
			continue
		}
		if f.found.traps.KeepOut(t, cand.URI)+t.Kept <= maxKeptOfTrap {
			cand.Due, cand.Urgent, cand.Sooner = now.Add(f.s.Scope.TrapWait), false, false
			rest = append(rest, cand)
		}
	}
	f.found.candidates = rest
	return nil
}

// learnTraps stores the findings of a visit about traps. After a crash before the settlement, it is stored once more.
func (c *Crawler) learnTraps(v visit, s settings, a archived, f findings) error {
	if !s.Scope.Traps {
		return nil
	}
	if err := c.trapped.Learn(v.uri().Host(), f.traps, v.finished); err != nil {
		return err
	}
	found, err := learnSharedAnswer(c.parts.Traps, v, a)
	c.trapped.LogFound(v.uri().Host(), found...)
	return err
}

// learnSharedAnswer records that a new page is, byte for byte, the page of another URI of the host.
func learnSharedAnswer(store *traps.Store, v visit, a archived) ([]traps.Trap, error) {
	isPage := !v.failed && !v.robots && v.capture.Status == http.StatusOK && isHTML(v.capture)
	if !isPage || !v.capture.Complete || !v.verdict.First || a.keeping != KeptRevisit {
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
	if !s.Scope.Traps || v.block != "" || v.robots || v.capture.Status != http.StatusOK || !isHTML(v.capture) {
		return nil
	}
	shared, err := c.parts.Traps.IsNotFound(v.uri().Host(), v.capture.PayloadDigest)
	if err != nil {
		return fmt.Errorf("look up whether %s is the \"not found\" page of its host: %w", v.uri(), err)
	}
	if shared {
		v.block = sharedNotFound
	}
	return nil
}
