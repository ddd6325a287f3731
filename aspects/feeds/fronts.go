package feeds

import (
	"context"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/uri"
)

// IsFront reports whether a visit may be to a front page: one that a curator named, and that has changed before.
func IsFront(v *aspects.Visit) bool { return v.Record().Hops == "" && !v.Verdict.First && !v.IsRobots }

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

// maxFronts is the maximum number of indexes of a host with which another seed becomes one.
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
