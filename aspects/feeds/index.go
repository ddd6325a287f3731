package feeds

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of what is kept of the indexes of a host: the feeds and sitemaps that say when its pages changed.
const (
	minDated       = 3         // pages with a date or a text that make a source an index
	maxHostIndexes = 16        // of one host
	maxDatedPages  = 2_000_000 // pages with a date of all hosts, of which 8 bytes each are in memory
	maxLostVisits  = 3         // failed visits in a row after which an index is no longer followed
	maxIndexWait   = 24 * time.Hour
	maxIndexAge    = 2 * maxIndexWait // of the last reading of an index that is followed
	releaseBatch   = 100
	largeSitemap   = 100_000 // mean bytes of a reading from which on a sitemap has its own minimum wait
)

// followNote is part of the signature of a page that follows an index.
const followNote = "says when it changes"

// follows reports whether a page follows an index until its next visit.
func follows(h *frontier.History) bool { return strings.Contains(h.Chain, followNote) }

// indexReading holds what a visit says about an index.
type indexReading struct {
	read   bool // it is an index, and was read
	lost   bool // it cannot be read
	said   []checkedWord
	dates  map[uint64]uint32  // of pages that it lists, in seconds since 1970
	links  map[uint64]uri.URI // of these, if it lists the newest and is followed; otherwise nil
	ended  []uri.URI          // pages that it listed before
	skew   time.Duration
	wanted float64 // changes that are expected between two visits of a page
	every  time.Duration
}

// checkedWord says whether a visit found a page changed of which an index had said so.
type checkedWord struct {
	changed  bool
	expected float64 // probability of that by the page's own rate
}

// check adds that a page changed after a time by the index, and whether a visit found it so. All visits since that time
// may have found it, and the first of them any change since the visit before.
func (i *indexReading) check(page *frontier.Record, since time.Time, changed bool) {
	span := page.Wait
	if follows(&page.History) {
		span /= evaluators.AuditTimes
	}
	span += max(page.LastCapture.Sub(since), 0)
	i.said = append(i.said, checkedWord{changed, -math.Expm1(-page.Rate * span.Hours() / 24)})
}

// date returns when a page changed by the index; zero if it does not list the page.
func (i *indexReading) date(page uint64) time.Time {
	date, ok := i.dates[page]
	if !ok {
		return time.Time{}
	}
	at := time.Unix(int64(date), 0).Add(i.skew)
	if isDay(date) {
		at = at.Add(24 * time.Hour) // some time of that day
	}
	return at
}

// isDay reports whether a date in seconds since 1970 has no time of day.
func isDay(date uint32) bool { return date%(24*60*60) == 0 }

// grain returns how exact most dates of the index are.
func (i *indexReading) grain() time.Duration {
	days := 0
	for _, date := range i.dates {
		if isDay(date) {
			days++
		}
	}
	if 2*days > len(i.dates) {
		return 24 * time.Hour
	}
	return 0
}

// ages returns how long before a time the pages changed.
func (i *indexReading) ages(now time.Time) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for _, date := range i.dates {
			if !yield(max(now.Sub(time.Unix(int64(date), 0).Add(i.skew)), 0)) {
				return
			}
		}
	}
}

// applied returns the record of an index after a visit to it. told is called as in [evaluators.HostIndex.AfterAsking].
func (i *indexReading) applied(h evaluators.HostIndex, now time.Time, told func(uint64, bool)) evaluators.HostIndex {
	if i.lost {
		h.Index = h.Unfollowed()
		return h
	}
	for _, s := range i.said {
		h.Index = h.AfterSaid(s.changed, s.expected)
	}
	h = h.AfterAsking(now, i.date, told)
	h.Grain = i.grain()
	h.Index = h.AfterReading(now, len(i.dates), i.ages(now)).Planned(i.wanted)
	return h
}

// datesPages reports whether a source of this kind can be an index.
func (k Kind) datesPages() bool { return k == Sitemap || k.ListsNewest() }

// says returns when the page of an item changed by its date. It is long ago if there is a text alone, and 0 without.
func (m mark) says() uint32 {
	if m.date == 0 && m.text != 0 {
		return 1
	}
	return m.date
}

// readIndex notes what a source that was read says of the pages of its host. A page changed now whose text the source
// has changed.
func (a *Aspect) readIndex(v *aspects.Visit, r *reading, doc Document, updated []Item) {
	if !doc.Kind.datesPages() {
		return
	}
	r.index.dates, r.index.skew = map[uint64]uint32{}, r.dates.skew
	if h, err := a.indexOf(v.URI()); err == nil && h.Followed && doc.Kind.ListsNewest() {
		r.index.links = map[uint64]uri.URI{}
	}
	for _, item := range doc.Items {
		if m, link := marksOf(item); m.says() != 0 && item.URI.Host() == v.URI().Host() && !item.hasDate(r.dates.common) {
			if r.index.dates[link] = m.says(); r.index.links != nil {
				r.index.links[link] = item.URI
			}
		}
	}
	for _, item := range updated {
		_, link := marksOf(item)
		if _, dated := r.index.dates[link]; dated && item.Reworded {
			r.index.dates[link] = uint32(v.Finished.Add(-r.index.skew).Unix())
		}
	}
	r.index.read = len(r.index.dates) >= minDated
	r.index.lost = !r.index.read
	a.rememberDated(v, r)
}

// rereadIndex notes that an index says what it said before. The stored memory of the sitemap is read only if that
// matters.
func (a *Aspect) rereadIndex(v *aspects.Visit, r *reading) error {
	pages := a.dated.pagesOf(v.URI())
	if !r.state.Kind.datesPages() || r.state.Broken > 0 || r.state.Kind.ListsNewest() && pages == nil {
		return nil // what a feed listed last is not stored
	}
	h, err := a.indexOf(v.URI())
	if err != nil || h.Readings == 0 {
		return err
	}
	if !h.Followed && len(h.Found) == 0 && pages != nil {
		return nil
	}
	stored, err := a.Frontier.Seen(v.URI())
	if err != nil {
		return err
	}
	seen, err := OpenSeen(stored)
	if err != nil {
		return nil // the next reading reports it
	}
	r.index.dates, r.index.skew = map[uint64]uint32{}, clockSkew(v.Capture.Header, v.Capture.Started)
	for _, m := range seen.known {
		_, listed := slices.BinarySearch(pages, m.id)
		if m.says() != 0 && (listed || pages == nil) {
			r.index.dates[m.id] = m.says()
		}
	}
	if r.index.read = len(r.index.dates) >= minDated; pages == nil {
		a.rememberDated(v, r)
	}
	return nil
}

func (a *Aspect) rememberDated(v *aspects.Visit, r *reading) {
	if r.index.read {
		r.index.ended = a.dated.set(v.URI(), &r.index, v.Finished)
	}
}

// placeOf returns the place of an index among the indexes of its host, below zero if it has none.
func placeOf(all []evaluators.HostIndex, index uri.URI) int {
	return slices.IndexFunc(all, func(h evaluators.HostIndex) bool { return h.URI == index.String() })
}

// indexOf returns the record of an index.
func (a *Aspect) indexOf(u uri.URI) (evaluators.HostIndex, error) {
	all, err := a.Indexes(u.Host())
	if err != nil {
		return evaluators.HostIndex{}, err
	}
	i := placeOf(all, u)
	if i < 0 {
		return evaluators.HostIndex{URI: u.String()}, nil
	}
	return all[i], nil
}

// noteLost notes that an index cannot be read.
func (a *Aspect) noteLost(v *aspects.Visit, r *reading) {
	failed := v.Failed && v.Next.Record.Failures >= maxLostVisits
	if stateOf(v.Record()).Kind.datesPages() && (v.Gone || failed || r.state.Broken >= maxBroken) {
		r.index.lost = true
	}
}

// decideIndex makes an index that is followed due as its news asks for.
func (a *Aspect) decideIndex(v *aspects.Visit, r *reading, o *Options) error {
	if !r.index.read {
		return nil
	}
	entry, _ := a.Rule(v, "text/html").Rule.(evaluators.Learned)
	r.index.wanted = entry.Wanted()
	h, err := a.indexOf(v.URI())
	if err != nil {
		return err
	}
	h = r.index.applied(h, v.Finished, func(uint64, bool) {})
	n := &v.Next
	known := h.Index
	if a.isLate(v) {
		known = evaluators.Index{} // requests are scarce, not bytes
	}
	soonest := o.soonest(r.state, known, CacheHint(v.Capture.Header))
	if every := min(max(h.Every, soonest, o.MinWait), maxIndexWait); h.Followed && every < n.Wait.Interval {
		n.Wait.Interval = every
		n.Wait.Reason += ", its pages are visited as it says: " + spell(every)
		n.Record.Wait = every
	}
	r.index.every = n.Wait.Interval
	return nil
}

// soonest returns how soon after a reading an index that is followed is read again at the earliest. A sitemap whose
// readings take few bytes is read like a feed. cached is as in [Policy.Next].
func (p Policy) soonest(s State, x evaluators.Index, cached time.Duration) time.Duration {
	bounds, _ := p.waits(s.Kind)
	soonest := bounds.Min
	if x.Requests > 0 {
		share := float64(x.Received) / float64(x.Requests) / largeSitemap
		soonest = min(soonest, max(p.Feed.Min, time.Duration(share*float64(bounds.Min))))
	}
	return p.obeyHints(evaluators.Wait{Interval: soonest}, s, cached).Interval
}

// foundChange is a change that a visit found, and an index that lists its page and did not say so.
type foundChange struct {
	index  uri.URI
	change evaluators.FoundChange
}

// followIndex lets a page wait longer if an index says when it changes: the first that is followed of those that list
// it. A change that a visit found without them is noted, so that the next readings show whether they say so.
func (a *Aspect) followIndex(v *aspects.Visit) error {
	n := &v.Next
	listings := a.dated.find(v.URI().Host(), func() uint64 { return pageHash(v.URI()) })
	if len(listings) == 0 || n.Record.Restless {
		return nil
	}
	rule := a.Rule(v, n.Record.ContentType).Rule
	if _, learns := rule.(evaluators.Learned); !learns {
		return nil
	}
	before := v.Record()
	said := before.Why == frontier.WhySooner || !before.ReportedChange.IsZero()
	found := !v.Verdict.First && v.Verdict.State == evaluators.Changed && !said
	var longer time.Duration
	var followed uri.URI
	for _, l := range listings {
		h, err := a.indexOf(l.index)
		if err != nil {
			return err
		}
		if found {
			a.noteFound(v, l, h)
		}
		wait, ok := h.PageWait(n.Wait.Interval)
		if longer == 0 && ok && !l.leftOut && v.Finished.Sub(h.Read) <= maxIndexAge {
			longer, followed = wait, l.index
		}
	}
	_, longest := rule.Bounds()
	if longer = min(longer, longest); longer > n.Wait.Interval {
		n.Wait.Interval = longer
		n.Record.Wait *= evaluators.AuditTimes
		n.Wait.Reason += fmt.Sprintf("; %.100s %s", followed.RequestTarget(), followNote)
	}
	return nil
}

// noteFound notes a change that a visit found, and asks an index that is followed whether it says so.
func (a *Aspect) noteFound(v *aspects.Visit, l listedBy, h evaluators.HostIndex) {
	r := aspects.Of[reading](v)
	r.found = append(r.found, foundChange{l.index, evaluators.FoundChange{
		Page: pageHash(v.URI()), Before: v.Record().LastCapture.Unix(), At: v.Finished.Unix(), Excluded: l.leftOut,
	}})
	if cand, ok := a.Candidate(v, l.index, uri.Manifest); ok && h.Followed {
		cand.Due, cand.Sooner = v.Finished.Add(h.Patience()), true
		v.Found.Candidates = append(v.Found.Candidates, cand)
	}
}

// learnIndex stores what a visit says about the indexes of its host. When an index is no longer followed, the own waits
// of its pages return.
func (a *Aspect) learnIndex(v *aspects.Visit, r *reading) error {
	host, ended := v.URI().Host(), false
	i := &r.index
	var err error
	for _, f := range r.found {
		with := func(h evaluators.HostIndex) evaluators.HostIndex { return h.WithFound(f.change) }
		err = errors.Join(err, a.changeIndex(f.index, with))
	}
	if i.read || (i.lost || r.state.Kind.datesPages() || IsFront(v)) && a.isIndex(v.URI()) {
		err = errors.Join(err, a.changeIndex(v.URI(), func(h evaluators.HostIndex) evaluators.HostIndex {
			h.Requests, h.Received = h.Requests+1, h.Received+v.Capture.BlockSize
			if !i.read && !i.lost {
				return h
			}
			after := i.applied(h, v.Finished, func(page uint64, leftOut bool) { a.dated.mark(v.URI(), page, leftOut) })
			after.Every = cmp.Or(i.every, after.Every)
			ended = h.Followed && !after.Followed
			return after
		}))
	}
	if err == nil {
		err = a.releaseSome(i.ended, v.Finished)
	}
	if err == nil && ended {
		a.Log.Warn().Str("uri", v.URI().String()).
			Msg("it no longer says which pages changed: its pages return to their own waits")
		err = a.release(host, v.Finished)
	}
	if err != nil {
		return fmt.Errorf("store what the feeds and sitemaps of %s were worth: %w", host, err)
	}
	return nil
}

// isIndex reports whether a sitemap was read as an index before.
func (a *Aspect) isIndex(u uri.URI) bool {
	h, err := a.indexOf(u)
	return err != nil || h.Readings > 0
}

// changeIndex replaces the record of an index, unless its host has too many.
func (a *Aspect) changeIndex(index uri.URI, change func(evaluators.HostIndex) evaluators.HostIndex) error {
	name := index.String()
	return a.ChangeIndexes(index.Host(), func(before []evaluators.HostIndex) []evaluators.HostIndex {
		all := slices.Clone(before)
		i := placeOf(all, index)
		if i < 0 {
			if len(all) == maxHostIndexes || len(name) > maxStatementURI {
				return before
			}
			all, i = append(all, evaluators.HostIndex{URI: name}), len(all)
		}
		all[i] = change(all[i])
		return all
	})
}

// release brings the pages of a host that follow an index back to their own waits.
func (a *Aspect) release(host uri.Host, now time.Time) error {
	for from := frontier.Cursor(""); ; {
		var found []uri.URI
		next, err := a.Frontier.Survey(host, from, func(w frontier.SurveyedURI) {
			own := w.LastVisit.Add(w.Wait / evaluators.AuditTimes)
			if !w.Held && !w.Source && w.Due.After(now) && w.Due.After(own) {
				found = append(found, w.URI)
			}
		})
		for batch := range slices.Chunk(found, releaseBatch) {
			if err == nil {
				err = a.releaseSome(batch, now)
			}
		}
		if from = next; err != nil || from == "" {
			return err
		}
	}
}

// releaseSome brings pages back to their own waits, if they follow an index.
func (a *Aspect) releaseSome(pages []uri.URI, now time.Time) error {
	var followers []frontier.Candidate
	for _, u := range pages {
		page, known, err := a.Frontier.Get(u)
		if err != nil {
			return err
		}
		if known && follows(&page.History) {
			own := page.LastVisit.Add(page.Wait / evaluators.AuditTimes)
			followers = append(followers, frontier.Candidate{URI: u, Hops: page.Hops, Due: later(own, now), Sooner: true})
		}
	}
	_, err := a.Frontier.Add(now, followers...)
	return err
}
