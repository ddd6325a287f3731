package feeds

import (
	"context"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/uri"
)

// IsFront reports whether a visit may be to a front page that has changed before: one that a curator named, or a
// section.
func IsFront(v *aspects.Visit) bool {
	hops := v.Record().Hops
	return !v.Verdict.First && !v.IsRobots && (hops == "" || IsSection(v.URI(), hops))
}

// maxSectionName is the maximum length of the name of a section, in bytes.
const maxSectionName = 24

// IsSection reports whether a page has an address as sections have it. It is at most one link away from a seed, and its
// path is one short name without digits and with at most one hyphen: /politics, /local-news/. The titles of articles
// are longer.
func IsSection(u uri.URI, hops uri.HopPath) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(u.RequestTarget(), "/"), "/")
	return hops.Count(uri.Link) <= 1 && hops.Count(uri.Embed) == 0 && name != "" && len(name) <= maxSectionName &&
		!strings.ContainsAny(name, "0123456789/?&=%_.") && strings.Count(name, "-") <= 1
}

// ReadFront compares the headlines by which a front page links to the pages of its host with the earlier ones. A page
// with another headline may have changed, as if a feed said so.
func (a *Aspect) ReadFront(_ context.Context, v *aspects.Visit) error {
	r := aspects.Of[reading](v)
	if v.Found.Page == nil || r.state.IsSource() || !IsFront(v) {
		return nil
	}
	doc := headlines(v.URI(), v.Found.Page)
	if few, err := a.tooFew(v.URI(), len(doc.Items)); err != nil || few {
		return err
	}
	seen, err := a.seen(v.URI())
	if err != nil {
		return err
	}
	seen, news := seen.Read(v.Finished, doc)
	pending, _, _, err := a.checkStatements(v, r, seen.Statements())
	if err != nil {
		return err
	}
	r.before = v.Record().LastCapture
	a.readIndex(v, r, doc, news.Updated)
	index, err := a.indexOf(v.URI())
	if err != nil {
		return err
	}
	said := index.Said
	belief := State{Right: float64(said.ChangeRight), Wrong: float64(said.ChangeWrong)}.Belief()
	statements, err := a.addUpdatedEntries(v, r, news.Updated, belief)
	v.Found.Seen = seen.WithStatements(append(pending, statements...)).Bytes()
	return err
}

// saidBetween returns the last two readings of a followed index that lists the page of a visit, the later one first.
// Between them the index has said that the page changed. They are zero if no index is followed.
func (a *Aspect) saidBetween(v *aspects.Visit) (last, before time.Time) {
	for _, l := range a.dated.find(v.URI().Host(), func() uint64 { return pageHash(v.URI()) }) {
		if h, err := a.indexOf(l.index); err == nil && h.Followed && h.Read.Before(v.Capture.Started) {
			return h.Read, h.Read.Add(-h.Every)
		}
	}
	return time.Time{}, time.Time{}
}

// maxFronts is the maximum number of indexes of a host with which another front page becomes one.
const maxFronts = maxHostIndexes / 2

// tooFew reports whether a page that is not an index yet has too few headlines, or its host has many indexes.
func (a *Aspect) tooFew(front uri.URI, headlines int) (bool, error) {
	all, err := a.Indexes(front.Host())
	return placeOf(all, front) < 0 && (headlines < minDated || len(all) >= maxFronts), err
}

// headlines returns the pages of the host of a page to which it links with headlines, as if it were a feed.
func headlines(front uri.URI, page *discover.Result) Document {
	doc := Document{Kind: Feed}
	for _, l := range page.Links {
		if l.Words != 0 && l.Hop == uri.Link && l.URI.Host() == front.Host() {
			doc.Items = append(doc.Items, Item{ID: l.URI.String(), URI: l.URI, Text: l.Words})
		}
	}
	return doc
}
