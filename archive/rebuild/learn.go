package rebuild

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// open returns the archive. It is opened when it is needed first, because that may mean to read all of it.
func (b *rebuilder) open(ctx context.Context) (*captures.Library, error) {
	if b.library != nil {
		return b.library, nil
	}
	skip := func(f warc.Finding) error { // a damaged record counts as missing
		b.result.name("%v", &f)
		return nil
	}
	var err error
	b.library, err = captures.OpenLibrary(ctx, b.config.Storage.WARC, captures.Options{}, skip)
	return b.library, err
}

// replay adds a visit to the history of its URI, and what it says about its host to what was learned of that.
func (b *rebuilder) replay(ctx context.Context, v rebuiltVisit) error {
	before := b.entries[v.uri]
	line := inferred(before, v.entry)
	if line.Extra != v.entry.Extra {
		b.inferred[v.uri] = true
	}
	header, err := b.headerOf(ctx, v.uri, line)
	if err != nil {
		return err
	}
	s := b.config.For(config.About{
		URI: v.uri, Hops: line.Hops, ContentType: line.MIME, Now: line.Logged,
	})
	probes, err := b.similar.Probes()
	if err != nil {
		return err
	}
	var errSimilar error
	after, lessons := replayed(before, line, facts{
		Waits: s.Wait, Header: header, Probes: &probes,
		Similar: func(k rate.Kind) (r rate.Relatives) {
			r, errSimilar = b.similar.Get(v.uri.Host(), k)
			return r
		},
	})
	if before.FirstSeen.IsZero() && (line.Extra == nil || line.Extra.FirstSeen.IsZero()) {
		after.FirstSeen = b.foundBy(after)
	}
	b.entries[v.uri] = after
	err = errors.Join(errSimilar, b.similar.Add(v.uri.Host(), lessons.Kind, lessons.Lesson),
		b.similar.AddProbes(lessons.Probes))
	known, errBook := b.book.Get(v.uri.Host())
	if err = errors.Join(err, errBook); err != nil {
		return err
	}
	if o, ok := observation(before.Record, line, header, conditional(before.Record, line, s, known)); ok {
		return b.book.Add(v.uri.Host(), o)
	}
	return nil
}

// headerOf returns the header of the response of a visit, if its body was read and its record is in the archive.
func (b *rebuilder) headerOf(ctx context.Context, u uri.URI, l crawllog.Entry) (http.Header, error) {
	if l.Status != http.StatusOK || l.Extra == nil || slices.Contains(l.Annotations, crawllog.MidFetchAbort) {
		return nil, nil
	}
	inLine := l.Extra.WARCFile != ""
	if !inLine && !b.inferred[u] {
		return nil, nil // the line says that there is no record
	}
	library, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	var header http.Header
	if inLine {
		header, err = library.HeaderAt(u.String(), l.Extra.WARCFile, l.Extra.WARCOffset)
	} else {
		header, err = library.HeaderOn(u.String(), l.Began())
	}
	if err != nil {
		return nil, nil //nolint:nilerr // what is damaged or not there teaches nothing
	}
	return header, nil
}

// conditional reports whether the request of a visit had conditions. That follows from what was known before it.
func conditional(before frontier.Record, l crawllog.Entry, s config.Settings, known evaluators.Reputation) bool {
	if slices.Contains(l.Annotations, "audit") || !before.Validators.CanVouch(before.Status, before.Origin) {
		return false
	}
	filter := s.Midfetch.For(before.ContentType)
	if filter.DecideBy == evaluators.Off {
		return false
	}
	filter.Doubted = known.Doubts(before.ContentType, s.Midfetch.Threshold)
	vouches, _ := filter.Unchanged(before.Validators, before.Validators)
	return vouches && filter.Conditions(before.Validators) != evaluators.Validators{}
}

// foundBy returns when a URI became known, if its lines do not say it: when the page that links to it was last found
// changed before the first visit. For seeds it is that visit.
func (b *rebuilder) foundBy(e frontier.Entry) time.Time {
	via := b.entries[uri.FromCanonical(e.Via)]
	if at := via.LastChange; !at.IsZero() && at.Before(e.FirstSeen) {
		return at
	}
	return e.FirstSeen
}
