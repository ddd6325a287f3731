package feeds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/evaluators"
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
	// maxWrongHosts bounds the hosts with wrong dates in one reading.
	maxWrongHosts = 100
	// lateRests is the number of rests after which a host with overdue URIs counts as late.
	lateRests = 4
)

// Aspect reads feeds and sitemaps. They announce pages, and say when pages changed.
type Aspect struct {
	Options aspects.Options[Options]
	// Implied returns the options that say which pages a feed of the visit implies.
	Implied func(*aspects.Visit) *Options

	Frontier *frontier.Frontier
	Log      zerolog.Logger

	// Dates returns how reliable the dates of a host are. AddDate stores whether one was right.
	Dates   func(uri.Host) (evaluators.Dates, error)
	AddDate func(host uri.Host, about evaluators.Dating, right bool) error
	// Indexes returns what the indexes of a host were worth. ChangeIndexes replaces it.
	Indexes       func(uri.Host) ([]evaluators.HostIndex, error)
	ChangeIndexes func(uri.Host, func([]evaluators.HostIndex) []evaluators.HostIndex) error
	// Rule returns the wait evaluator of a content type.
	Rule func(v *aspects.Visit, contentType string) evaluators.WaitEvaluator
	// Candidate returns a URI that the visit found as a candidate. It reports false if the URI is out of scope.
	Candidate func(*aspects.Visit, uri.URI, uri.Hop) (frontier.Candidate, bool)
	// Born returns when the page of a new entry came into being, if it is followed up; zero if it is not.
	Born func(v *aspects.Visit, item Item, kind Kind, first bool) time.Time
	// Vouch is called with the entries that a source lists for the first time.
	Vouch func(v *aspects.Visit, listed []uri.URI) error
	// Rest returns how long a visit and the rest of the host after it take.
	Rest func(*aspects.Visit) time.Duration
	// GoneAfter returns the number of visits that confirm that a page is gone.
	GoneAfter func(*aspects.Visit) int
	// NotifyHub is called at each reading of a feed that names a WebSub hub.
	NotifyHub func(now time.Time, feed, topic, hub uri.URI)

	dated datedPages
}

// reading holds the results of a visit for a feed or sitemap.
type reading struct {
	state    State // from now on; zero = the URI is not a source
	summary  Result
	activity Activity   // when the source itself changed
	idle     bool       // the source changed, but lists nothing new
	wrong    []uri.Host // hosts with pages that have not changed although the source says so
	dates    pageDates  // of the source that is being read
	before   time.Time  // when the source was read before
	index    indexReading
	found    []foundChange // that the visit of a page found

	next   Result           // what the settled visit brought
	hosted evaluators.Dates // how reliable the dates of feeds are on the host; zero unless one may count
	by     string           // who says when the page changed; empty if nobody does
}

// Forget drops what was read, because the document could not be processed.
func (r *reading) Forget() { *r = reading{hosted: r.hosted} }

// ResultOf returns what the visit of a feed or sitemap brought.
func ResultOf(v *aspects.Visit) Result { return aspects.Of[reading](v).next }

// Expected returns the state of a URI that is expected to be a feed or sitemap.
func Expected() string { return string(State{Kind: Awaited}.Bytes()) }

// stateOf returns what is remembered of a source. An unreadable state counts as an expected source.
func stateOf(r *frontier.Record) State {
	s, err := OpenState([]byte(r.Source))
	if err != nil {
		return State{Kind: Awaited}
	}
	return s
}

// showsSource reports whether a visit says anything about the URI as a feed or sitemap.
func showsSource(v *aspects.Visit) bool {
	answered := v.Capture.Status == http.StatusOK || v.Capture.Status == http.StatusNotModified
	return answered && !v.IsRobots && !v.Failed && !v.Gone
}

// Recall looks up how reliable the dates of feeds are on the host, for the next visit.
func (a *Aspect) Recall(_ context.Context, v *aspects.Visit) (done bool, err error) {
	if r := v.Record(); r.Source != "" || !r.ReportedChange.IsZero() {
		aspects.Of[reading](v).hosted, err = a.Dates(r.URI.Host())
	}
	return false, err
}

// Read reads the content if the URI is a feed or sitemap.
func (a *Aspect) Read(ctx context.Context, v *aspects.Visit) error {
	r := aspects.Of[reading](v)
	r.state = stateOf(v.Record())
	if !showsSource(v) {
		return nil
	}
	if !v.Found.Read {
		if r.state.IsSource() {
			r.state = r.state.Unchanged(v.Finished)
			r.summary.Kind = r.state.Kind
		}
		return a.rereadIndex(v, r)
	}
	contentType := v.Capture.Header.Get("Content-Type")
	if !r.state.IsSource() && !MayBeSource(contentType) {
		return nil
	}
	content, err := v.Capture.Content()
	if err != nil {
		v.Found.Err = err
		return nil
	}
	defer content.Close()
	doc, err := Read(ctx, v.URI(), contentType, r.state.IsSource(), content, a.Options(v).Bounds)
	if err != nil || doc.Fault != nil && len(doc.Items) == 0 {
		if r.state.IsSource() {
			r.summary = Result{Kind: r.state.Kind, Fault: errors.Join(err, doc.Fault)}
			if r.state = r.state.Unreadable(v.Finished); !r.state.IsSource() {
				r.summary = Result{}
			}
		}
		return nil
	}
	return a.readDocument(ctx, v, r, doc)
}

// seen returns what a source has listed before, as far as it can be read.
func (a *Aspect) seen(source uri.URI) (Seen, error) {
	stored, err := a.Frontier.Seen(source)
	if err != nil {
		return Seen{}, err
	}
	seen, err := OpenSeen(stored)
	if err != nil {
		a.Log.Warn().Err(err).Str("uri", source.String()).
			Msg("could not read the stored entries of a feed or front page: reading it as if for the first time")
	}
	return seen, nil
}

// readDocument compares the entries of a source with those that it listed before.
func (a *Aspect) readDocument(ctx context.Context, v *aspects.Visit, r *reading, doc Document) error {
	seen, err := a.seen(v.URI())
	if err != nil {
		return err
	}
	if doc.Hub.IsZero() {
		doc.Hub, doc.Self = hubLinks(v.URI(), v.Capture.Header)
	}
	seen, news := seen.Read(v.Finished, doc)
	pending, right, wrong, err := a.checkStatements(v, r, seen.Statements())
	if err != nil {
		return err
	}
	belief := r.state.Belief()
	began, skew := v.Capture.Started, clockSkew(v.Capture.Header, v.Capture.Started)
	r.dates, r.before = doc.pageDates(began, skew), r.state.Read
	if doc.Kind.ListsNewest() && r.state.Broken == 0 {
		r.activity = news.activity(doc, v.Record().LastCapture, began, skew)
	}
	a.readIndex(v, r, doc, news.Updated)
	r.idle = doc.Kind.ListsNewest() && doc.Fault == nil && !news.First && !news.Gap && r.activity.Changes == 0 &&
		len(news.New) == 0 && len(news.Updated) == news.Stamped
	r.state = r.state.After(v.Finished, doc, news, right, wrong)
	r.summary = Result{
		Kind: doc.Kind, First: news.First, Listed: news.Listed, New: len(news.New), Updated: len(news.Updated),
		Gap: news.Gap, Fault: doc.Fault,
	}
	v.Found.Dropped += doc.Dropped
	if err := a.addNewEntries(ctx, v, r, doc.Kind, news); err != nil {
		return err
	}
	statements, err := a.addUpdatedEntries(v, r, news.Updated, belief)
	if err != nil {
		return err
	}
	if err := a.addImpliedPages(v, news); err != nil {
		return err
	}
	for _, u := range doc.Embeds {
		if cand, ok := a.Candidate(v, u, uri.Embed); ok {
			v.Found.Candidates = append(v.Found.Candidates, cand)
		}
	}
	v.Found.Seen = seen.WithStatements(append(pending, statements...)).Bytes()
	return nil
}

// addNewEntries adds the entries that a source lists for the first time. At the first reading of a source, none is
// news.
func (a *Aspect) addNewEntries(
	ctx context.Context, v *aspects.Visit, r *reading, kind Kind, news Reading,
) error {
	listed := make([]uri.URI, 0, len(news.New))
	for i, item := range news.New {
		if err := ctx.Err(); err != nil {
			return err
		}
		listed = append(listed, item.URI)
		cand, ok := a.Candidate(v, item.URI, uri.Manifest)
		if !ok {
			continue
		}
		cand.Due = v.Finished.Add(time.Duration(i) * time.Millisecond) // the newest first
		if kind == Index {
			cand.Source = Expected()
		} else {
			cand.Born = a.Born(v, item, kind, news.First)
		}
		if !news.First && i < maxUrgent {
			cand.Urgent = true
			page, known, err := a.Frontier.Get(item.URI)
			if err != nil {
				return err
			}
			cand.Sooner = known && isOutdated(item, &page, v.Finished)
			r.setDates(&cand, item, false)
		}
		v.Found.Candidates = append(v.Found.Candidates, cand)
	}
	return a.Vouch(v, listed)
}

// isOutdated reports whether the page of an item was not captured since the item's date.
func isOutdated(item Item, page *frontier.Record, now time.Time) bool {
	date := item.Date()
	if item.Day && date.Equal(item.Updated) {
		date = date.Add(24 * time.Hour) // some time of that day
	}
	if date.After(now) {
		date = now
	}
	return page.LastCapture.Before(date) || page.LastCapture.IsZero()
}

// addImpliedPages adds the pages that the curator named for a feed, if the feed has news.
func (a *Aspect) addImpliedPages(v *aspects.Visit, news Reading) error {
	if news.First || len(news.New) == 0 {
		return nil
	}
	o := a.Implied(v)
	pages := o.ImpliedPages(v.URI())
	if len(pages) == 0 {
		o = a.Options(v)
		pages = o.ImpliedPages(v.URI())
	}
	for _, page := range pages {
		r, _, err := a.Frontier.Get(page)
		if err != nil {
			return err
		}
		if cand, ok := a.Candidate(v, page, uri.Inferred); ok {
			cand.Urgent, cand.Sooner = true, true
			afterNews := cand.Due.Add(time.Duration(len(news.New)) * time.Millisecond)
			cand.Due = later(afterNews, r.LastVisit.Add(o.MinWait))
			v.Found.Candidates = append(v.Found.Candidates, cand)
		}
	}
	return nil
}

// setDates records in a candidate when the page of an item changed, for the page's next visit. If the item was listed
// before, the source had not announced the change at its last reading. If the source is up to date, the page had not
// changed until then.
func (r *reading) setDates(c *frontier.Candidate, item Item, listedBefore bool) {
	at, ok := r.dates.changed(item)
	if !ok || !c.Sooner {
		return
	}
	upToDate := listedBefore && !r.before.IsZero() && at.After(r.before.Add(-listedLate))
	if listedBefore && r.summary.Kind.ListsNewest() && !upToDate && !r.before.IsZero() {
		r.addWrongDate(item.URI.Host()) // the source was read since that date and did not announce it
		return
	}
	if c.ReportedChange = at; upToDate {
		c.ReportedUnchanged = r.before
	}
}

func (r *reading) addWrongDate(host uri.Host) {
	if len(r.wrong) < maxWrongHosts && !slices.Contains(r.wrong, host) {
		r.wrong = append(r.wrong, host)
	}
}

// checkDate records a wrong date if the visits before and after it found the same page.
func (r *reading) checkDate(item Item, page *frontier.Record) {
	if at, ok := r.dates.changed(item); ok && at.After(page.LastChange) && at.Before(page.LastCapture.Add(-time.Minute)) {
		r.addWrongDate(item.URI.Host())
	}
}

// Who says when a page changed. It is written in reasons and in crawl.log.
const (
	byHeader  = "Last-Modified"
	bySource  = "its feed or sitemap"
	byEntries = "its entries"
)

// Testify says when and how often a changed page has changed since the last visit, as far as its headers, its feed or
// its own entries say so. New entries of a feed are counted even if their dates are not believed.
func (a *Aspect) Testify(v *aspects.Visit, e *evaluators.Evidence) {
	r, before := aspects.Of[reading](v), v.Record()
	e.Idle = r.idle
	if v.Verdict.State != evaluators.Changed || v.Verdict.First {
		return
	}
	at, announced := changedAt(v), !before.ReportedChange.IsZero() && r.hosted.Believed(evaluators.DatedPages)
	switch {
	case r.activity.Changes > 0:
		e.Changes, r.by = r.activity.Changes, byEntries
		if r.hosted.Believed(evaluators.DatedEntries) {
			e.Moments = r.activity.Moments
		}
	case !at.IsZero():
		e.ChangedAt, r.by = at, byHeader
	case announced:
		e.ChangedAt, r.by = before.ReportedChange, bySource
	case before.Why == frontier.WhySooner:
		e.ChangedAt, e.Silent = a.saidBetween(v)
	}
	if e.ChangedBy = r.by; announced && r.activity.Changes == 0 {
		e.Silent = before.ReportedUnchanged
	}
}

// NoteGone notes that a feed or sitemap is gone. It decides nothing.
func (a *Aspect) NoteGone(_ context.Context, v *aspects.Visit) error {
	r := aspects.Of[reading](v)
	a.noteLost(v, r)
	if v.Gone && r.state.Kind != None {
		r.next = Result{Kind: r.state.Kind, Slow: v.Next.Record.Gone >= a.GoneAfter(v)}
	}
	return nil
}

// Decide decides the wait of a feed or sitemap by its news, and what is remembered of it.
func (a *Aspect) Decide(_ context.Context, v *aspects.Visit) error {
	r, n, o := aspects.Of[reading](v), &v.Next, a.Options(v)
	n.Record.Source, n.Record.Prompt = string(r.state.Bytes()), false
	r.next = r.summary
	if !r.state.IsSource() {
		r.index.every = n.Wait.Interval
		return a.followIndex(v)
	}
	if r.summary.Kind == None || o.Wait != ByPolicy {
		return nil
	}
	wait := o.Next(r.state, v.Finished, CacheHint(v.Capture.Header))
	r.next.Slow = o.Slow(r.state, v.Finished)
	n.Record.Prompt = r.state.Kind.ListsNewest() && !r.next.Slow
	wait.Memory, wait.Versions = n.Wait.Memory, n.Wait.Versions
	n.Wait = wait
	n.Record.Wait, n.Record.Rate = wait.Interval, wait.PerDay
	return a.decideIndex(v, r, o)
}

// DecideOnLateHost makes a feed due earlier by one rest of its host if the host is late, because a slot may have begun
// its rest when the feed's time comes.
func (a *Aspect) DecideOnLateHost(_ context.Context, v *aspects.Visit) error {
	n := &v.Next
	if v.IsRobots || v.Failed || !n.Record.Prompt {
		return nil
	}
	if !a.isLate(v) {
		return nil
	}
	rest := a.Rest(v)
	minimum := v.Finished.Add(min(a.Options(v).MinWait, n.Wait.Interval))
	n.Record.Due = later(n.Record.Due.Add(-min(rest, n.Wait.Interval/2)), minimum)
	n.Because = "its host is late, so it comes one rest of the host earlier"
	return nil
}

// isLate reports whether the host of a visit has a URI that has been due for some rests of the host.
func (a *Aspect) isLate(v *aspects.Visit) bool {
	h, ok := a.Frontier.Host(v.URI().Host(), v.Finished)
	return ok && !h.Oldest.IsZero() && v.Finished.Sub(h.Oldest) >= lateRests*a.Rest(v)
}

// Learn stores whether dates were right: dates of a feed's entries, announced changes that this visit should have
// found, and announced changes that earlier visits did not find.
func (a *Aspect) Learn(v *aspects.Visit) error {
	r := aspects.Of[reading](v)
	if err := a.learnIndex(v, r); err != nil {
		return err
	}
	add := func(host uri.Host, kind evaluators.Dating, right bool) error {
		if err := a.AddDate(host, kind, right); err != nil {
			return fmt.Errorf("store how reliable the dates of %s are: %w", v.URI(), err)
		}
		return nil
	}
	if by := r.activity; by.Right != by.Wrong {
		if err := add(v.URI().Host(), evaluators.DatedEntries, by.Right > by.Wrong); err != nil {
			return err
		}
	}
	for _, host := range r.wrong {
		if err := add(host, evaluators.DatedPages, false); err != nil {
			return err
		}
	}
	announced, state := v.Record().ReportedChange, v.Verdict.State
	judged := !v.Failed && !v.Verdict.First && state != evaluators.Unknown
	if announced.IsZero() || !judged || !v.Capture.Started.After(announced) {
		return nil
	}
	return add(v.URI().Host(), evaluators.DatedPages, state == evaluators.Changed)
}

// Note appends what the visit of a feed or sitemap brought.
func (*Aspect) Note(v *aspects.Visit, notes []string) []string {
	return append(notes, aspects.Of[reading](v).next.Notes()...)
}

// NoteDates appends who says when a page changed.
func (*Aspect) NoteDates(v *aspects.Visit, notes []string) []string {
	if by := aspects.Of[reading](v).by; by != "" && len(v.Next.Wait.Memory) > 0 {
		notes = append(notes, "dated:"+strings.ReplaceAll(by, " ", "_"))
	}
	return notes
}

// Settled logs what a curator should know of a settled visit, and notifies the hub.
func (a *Aspect) Settled(v *aspects.Visit) {
	r := aspects.Of[reading](v)
	r.next.Log(a.Log, v.URI())
	if !r.state.Hub.IsZero() && r.next.Kind != None {
		a.NotifyHub(v.Finished, v.URI(), r.state.Topic, r.state.Hub)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
