package crawler

import (
	"errors"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of what one reading of a feed or sitemap starts.
const (
	// maxUrgent bounds the new entries that are visited before everything else; they are the newest ones.
	maxUrgent = 100
	// maxLookedUp bounds the entries that are looked up, to see whether a statement about them says anything new.
	maxLookedUp = 1000
	// maxStatementAge is the age at which a statement is forgotten whose page was not visited.
	maxStatementAge = 30 * 24 * time.Hour
)

// sourceReading holds the results of a visit for a feed or sitemap.
type sourceReading struct {
	state    feeds.State // from now on; zero = the URI is not a source
	seen     []byte      // entries listed so far; nil = as before
	summary  feeds.Result
	activity feeds.Activity // when the source itself changed
	idle     bool           // the source changed, but lists nothing new
	wrong    []uri.Host     // hosts with pages that have not changed although the source says so
}

// expectedSource returns the state of a URI that is expected to be a feed or sitemap.
func expectedSource() string { return string(feeds.State{Kind: feeds.Awaited}.Bytes()) }

// stateOf returns what is remembered of a source. An unreadable state counts as an expected source.
func stateOf(r frontier.Record) feeds.State {
	s, err := feeds.OpenState([]byte(r.Source))
	if err != nil {
		return feeds.State{Kind: feeds.Awaited}
	}
	return s
}

// showsSource reports whether a visit says anything about the URI as a feed or sitemap.
func showsSource(v visit) bool {
	answered := v.capture.Status == http.StatusOK || v.capture.Status == http.StatusNotModified
	return answered && !v.robots && !v.failed && !v.gone
}

// unreadSource returns the meaning of a visit for a feed or sitemap whose content was not read.
func unreadSource(v visit) sourceReading {
	r := sourceReading{state: stateOf(v.record())}
	if showsSource(v) && r.state.IsSource() {
		r.state = r.state.Unchanged(v.finished)
		r.summary.Kind = r.state.Kind
	}
	return r
}

// readSource reads the content if the URI is a feed or sitemap.
func (f *finder) readSource() error {
	v, got := f.v, f.v.capture
	r := &f.found.source
	r.state = stateOf(v.record())
	if !showsSource(v) {
		return nil
	}
	contentType := got.Header.Get("Content-Type")
	if !r.state.IsSource() && !feeds.MayBeSource(contentType) {
		return nil
	}
	content, err := got.Content()
	if err != nil {
		f.found.err = err
		return nil
	}
	defer content.Close()
	doc, err := feeds.Read(v.uri(), contentType, r.state.IsSource(), content, f.s.Feeds.Bounds)
	if err != nil || doc.Fault != nil && len(doc.Items) == 0 {
		if r.state.IsSource() {
			r.summary = feeds.Result{Kind: r.state.Kind, Fault: errors.Join(err, doc.Fault)}
			if r.state = r.state.Unreadable(v.finished); !r.state.IsSource() {
				r.summary = feeds.Result{}
			}
		}
		return nil
	}
	return f.readDocument(doc)
}

// readDocument compares the entries of a source with those that it listed before.
func (f *finder) readDocument(doc feeds.Document) error {
	v, r := f.v, &f.found.source
	stored, err := f.c.parts.Frontier.Seen(v.uri())
	if err != nil {
		return err
	}
	seen, err := feeds.OpenSeen(stored)
	if err != nil {
		f.c.parts.Log.Warn().Err(err).Str("uri", v.uri().String()).
			Msg("could not read the stored entries of a feed: reading the feed as if for the first time")
	}
	if doc.Hub.IsZero() {
		doc.Hub, doc.Self = feeds.HubLinks(v.uri(), v.capture.Header)
	}
	seen, reading := seen.Read(v.finished, doc)
	pending, right, wrong, err := f.checkStatements(seen.Statements())
	if err != nil {
		return err
	}
	belief := r.state.Belief()
	f.dates = v.dating().SourceDates(doc, r.state.Read)
	r.activity = v.dating().Activity(doc, reading, r.state)
	r.idle = doc.Kind.ListsNewest() && doc.Fault == nil && !reading.First && !reading.Gap && r.activity.Changes == 0 &&
		len(reading.New) == 0 && len(reading.Updated) == reading.Stamped
	r.state = r.state.After(v.finished, doc, reading, right, wrong)
	r.summary = feeds.Result{
		Kind: doc.Kind, First: reading.First, Listed: reading.Listed, New: len(reading.New), Updated: len(reading.Updated),
		Gap: reading.Gap, Fault: doc.Fault,
	}
	f.found.dropped += doc.Dropped
	if err := f.addNewEntries(doc.Kind, reading); err != nil {
		return err
	}
	statements, err := f.addUpdatedEntries(reading.Updated, belief)
	if err != nil {
		return err
	}
	if err := f.addImpliedPages(reading); err != nil {
		return err
	}
	for _, u := range doc.Embeds {
		f.add(u, uri.Embed, nil)
	}
	r.seen = seen.WithStatements(append(pending, statements...)).Bytes()
	return nil
}

// addNewEntries adds the entries that a source lists for the first time. At the first reading of a source, none is
// news.
func (f *finder) addNewEntries(kind feeds.Kind, reading feeds.Reading) error {
	listed := make([]uri.URI, 0, len(reading.New))
	for i, item := range reading.New {
		listed = append(listed, item.URI)
		cand, ok := f.candidate(item.URI, uri.Manifest)
		if !ok {
			continue
		}
		cand.Due = f.v.finished.Add(time.Duration(i) * time.Millisecond) // the newest first
		if kind == feeds.Index {
			cand.Source = expectedSource()
		} else if f.isYoung(item, kind, reading.First) {
			cand.Born = feeds.Birth(item, f.v.finished)
		}
		if !reading.First && i < maxUrgent {
			cand.Urgent = true
			known, outdated, err := f.isOutdated(item)
			if err != nil {
				return err
			}
			cand.Sooner = known && outdated
			f.setDates(&cand, item, false)
		}
		f.found.candidates = append(f.found.candidates, cand)
	}
	if !f.s.Scope.Traps {
		return nil
	}
	return f.c.trapped.Vouch(listed, f.v.finished)
}

// isOutdated reports whether the page of an item is known, and whether it was not captured since the item's date.
func (f *finder) isOutdated(item feeds.Item) (known, outdated bool, err error) {
	r, ok, err := f.c.parts.Frontier.Get(item.URI)
	if err != nil || !ok {
		return false, false, err
	}
	date := item.Date()
	if item.Day && date.Equal(item.Updated) {
		date = date.Add(24 * time.Hour) // some time of that day
	}
	if date.After(f.v.finished) {
		date = f.v.finished
	}
	return true, r.LastCapture.Before(date) || r.LastCapture.IsZero(), nil
}

// addUpdatedEntries adds the pages that were modified according to the source, so that they are visited sooner. How
// much sooner depends on the belief in the source. It returns the statements that those visits will prove.
func (f *finder) addUpdatedEntries(items []feeds.Item, belief float64) ([]feeds.Statement, error) {
	var statements []feeds.Statement
	now := f.v.finished
	for i, item := range items {
		if i == maxLookedUp {
			break
		}
		cand, ok := f.candidate(item.URI, uri.Manifest)
		if !ok {
			continue
		}
		r, known, err := f.c.parts.Frontier.Get(item.URI)
		if err != nil {
			return nil, err
		}
		cand.Due = now.Add(time.Duration(i) * time.Millisecond)
		cand.Urgent = !known || belief >= 0.5
		if known {
			_, outdated, err := f.isOutdated(item)
			if err != nil {
				return nil, err
			}
			if !outdated && !item.Date().IsZero() { // it was captured after that date
				f.checkDate(item, r)
				continue
			}
			cand.Sooner = true
			f.setDates(&cand, item, true)
			statements = append(statements, feeds.Statement{URI: item.URI, At: now})
			if !cand.Urgent {
				cand.Due = now.Add(time.Duration(float64(max(0, r.Due.Sub(now))) * (1 - belief)))
			}
			cand.Due = later(cand.Due, r.LastVisit.Add(f.s.Feeds.MinWait))
		}
		f.found.candidates = append(f.found.candidates, cand)
	}
	return statements, nil
}

// checkStatements compares earlier statements with the visits since then. A statement whose page was captured is
// right or wrong. The others stay pending.
func (f *finder) checkStatements(
	statements []feeds.Statement,
) (pending []feeds.Statement, right, wrong int, err error) {
	for _, s := range statements {
		r, ok, err := f.c.parts.Frontier.Get(s.URI)
		switch {
		case err != nil:
			return nil, 0, 0, err
		case !ok, f.v.finished.Sub(s.At) > maxStatementAge:
		case !r.LastCapture.After(s.At):
			pending = append(pending, s)
		case r.LastChange.After(s.At):
			right++
		default:
			wrong++
		}
	}
	return pending, right, wrong, nil
}

// addImpliedPages adds the pages that the curator named for a feed, if the feed has news.
func (f *finder) addImpliedPages(reading feeds.Reading) error {
	if reading.First || len(reading.New) == 0 {
		return nil
	}
	s := f.s.config.For(config.About{URI: f.scopeOfSeed().Seed(), Now: f.v.finished}).Feeds
	pages := s.ImpliedPages(f.v.uri())
	if len(pages) == 0 {
		s = f.s.Feeds
		pages = s.ImpliedPages(f.v.uri())
	}
	for _, page := range pages {
		r, _, err := f.c.parts.Frontier.Get(page)
		if err != nil {
			return err
		}
		f.add(page, uri.Inferred, func(c *frontier.Candidate) {
			c.Urgent, c.Sooner = true, true
			afterNews := c.Due.Add(time.Duration(len(reading.New)) * time.Millisecond)
			c.Due = later(afterNews, r.LastVisit.Add(s.MinWait))
		})
	}
	return nil
}

// scheduleSource decides the wait of a feed or sitemap by its news, and what is remembered of it.
func (next *schedule) scheduleSource(v visit, s config.Feeds, r sourceReading) {
	next.record.Source, next.record.Prompt = string(r.state.Bytes()), false
	next.source = r.summary
	if !r.state.IsSource() || r.summary.Kind == feeds.None || s.Wait != config.FeedsOwn {
		return
	}
	wait := s.Next(r.state, v.finished, feeds.CacheHint(v.capture.Header))
	next.source.Slow = s.Slow(r.state, v.finished)
	next.record.Prompt = r.state.Kind.ListsNewest() && !next.source.Slow
	wait.Memory, wait.Versions = next.wait.Memory, next.wait.Versions
	next.wait = wait
	next.record.Wait, next.record.Rate = wait.Interval, wait.PerDay
}

// lateRests is the number of rests after which a host with overdue URIs counts as late.
const lateRests = 4

// promptDue returns the due time of a feed. If the host is late, the feed is due earlier by one rest of the host,
// because a slot may have begun its rest when the feed's time comes.
func (c *Crawler) promptDue(v visit, s settings, next schedule) time.Time {
	due := next.record.Due
	rest := c.robots.Politeness(v.uri(), s.Politeness, next.robots, v.finished).Rest(v.capture.Took) + v.capture.Took
	h, ok := c.parts.Frontier.Host(v.uri().Host(), v.finished)
	if !ok || h.Oldest.IsZero() || v.finished.Sub(h.Oldest) < lateRests*rest {
		return due
	}
	minimum := v.finished.Add(min(s.Feeds.MinWait, next.wait.Interval))
	return later(due.Add(-min(rest, next.wait.Interval/2)), minimum)
}
