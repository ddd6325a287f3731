package crawler

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/discover/feeds"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope"
	"github.com/arcrawl/arcrawl/scope/robots"
	"github.com/arcrawl/arcrawl/uri"
)

// The bounds of what one reading of a feed or sitemap sets off.
const (
	// maxUrgent is how many new entries go before all else; they are the newest ones.
	maxUrgent = 100
	// maxLookedUp is how many entries are looked up, to see whether a claim about them says anything new.
	maxLookedUp = 1000
	// staleClaim is when a claim is forgotten whose page was not visited.
	staleClaim = 30 * 24 * time.Hour
)

// Reading tells what a visit to a feed or sitemap brought. The zero value is that of any other URI.
type Reading struct {
	Kind    feeds.Kind
	First   bool // all it lists is new to the crawl, and none of it is news
	Listed  int
	New     int
	Updated int
	Gap     bool // nothing was listed that was listed before: entries were missed
	Slow    bool // it is dead, silent or cannot be read, and visited seldom
	Fault   error
}

// reading is what a visit means for a source, and what it brings.
type reading struct {
	state feeds.State // from now on; the zero one is no source
	seen  []byte      // from now on; nil: as before
	told  Reading
	dated feeds.Activity // when the source itself changed
	idle  bool           // though it is not the same, it lists nothing new
	lies  []uri.Host     // on which something was said to have changed that had not
}

// awaited is what a URI is known by that is said to be a feed or sitemap.
func awaited() string { return string(feeds.State{Kind: feeds.Awaited}.Bytes()) }

// stateOf is what is remembered of a source. What cannot be read is taken for the little that is sure: it is one.
func stateOf(r frontier.Record) feeds.State {
	s, err := feeds.OpenState([]byte(r.Source))
	if err != nil {
		return feeds.State{Kind: feeds.Awaited}
	}
	return s
}

// finder puts together what a visit discovers.
type finder struct {
	c     *Crawler
	v     visit
	s     terms
	found *found
	scope *scope.Scope // of the visit's seed; nil until it is asked for: most visits find nothing

	word   word                      // of the source that is being read
	others map[uri.Host]*scope.Scope // of other hosts with seeds, as far as entries of feeds lie on them

	quiet struct { // the host that was last asked about, and whether anything is known there of traps
		host uri.Host
		is   bool
	}
	said [4]saying // about links before
	next int       // the place of the next of them
}

// scopeOfSeed returns the scope of the visit's seed.
func (f *finder) scopeOfSeed() *scope.Scope {
	if f.scope == nil {
		parent := f.v.record()
		f.scope = policy.Scope(f.s.config, parent.Seed, parent.URI, f.v.finished, f.c.rooms.Frontier)
	}
	return f.scope
}

// candidate is a URI found by this visit; ok is false if it is out of scope.
func (f *finder) candidate(u uri.URI, hop uri.Hop) (frontier.Candidate, bool) {
	parent := &f.v.claim.Record
	decider := f.scopeOfSeed()
	if hop != uri.Manifest && decider.HostDecides() {
		said := f.ofHost(u, hop)
		return frontier.Candidate{URI: u, Hops: said.hops, Via: parent.URI.String(), Seed: parent.Seed, Due: f.v.finished}, said.takes
	}
	hops := parent.Hops
	if f.v.robots && hop == uri.Manifest {
		hops = "" // what robots.txt names is no prerequisite of anything
	}
	cand := frontier.Candidate{URI: u, Hops: hops.Then(hop), Via: parent.URI.String(), Seed: parent.Seed, Due: f.v.finished}
	if hop == uri.Manifest && u.Host() != decider.Seed().Host() && f.s.config.SeedHost(u.Host()) {
		decider = f.scopeOfHost(u.Host())
		cand.Seed = decider.Seed().String()
	}
	return cand, decider.Accepts(scope.Discovery{URI: cand.URI, Hops: cand.Hops, Via: parent.URI})
}

// scopeOfHost returns the scope of the first seed of a host. The rules of that host apply to what a feed lists on it.
func (f *finder) scopeOfHost(h uri.Host) *scope.Scope {
	if r := f.others[h]; r != nil {
		return r
	}
	if f.others == nil {
		f.others = map[uri.Host]*scope.Scope{}
	}
	seed := ""
	for _, s := range f.s.config.Seeds {
		if s.URI.Host() == h {
			seed = s.URI.String()
			break
		}
	}
	r := f.scopeOfSeed()
	if seed != "" {
		r = policy.Scope(f.s.config, seed, uri.FromCanonical(seed), f.v.finished, f.c.rooms.Frontier)
	}
	f.others[h] = r
	return r
}

// add takes a candidate that is in scope.
func (f *finder) add(u uri.URI, hop uri.Hop, change func(*frontier.Candidate)) {
	cand, ok := f.candidate(u, hop)
	if !ok {
		return
	}
	if change != nil {
		change(&cand)
	}
	f.found.candidates = append(f.found.candidates, cand)
}

// sitemaps takes the sitemaps that a robots.txt names.
func (f *finder) sitemaps() {
	if !f.s.Feeds.RobotsSitemaps || f.v.capture.Status != http.StatusOK {
		return
	}
	body, err := readRobots(f.v.capture)
	if err != nil {
		return
	}
	for _, ref := range robots.Parse(body).Sitemaps() {
		if u, err := f.v.uri().Join(ref); err == nil && u != f.v.uri() {
			f.add(u, uri.Manifest, func(c *frontier.Candidate) { c.Source = awaited() })
		}
	}
}

// mayBeSource reports whether it is worth a look whether content of this type is a feed or sitemap.
func mayBeSource(contentType string) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch kind, sub, _ := strings.Cut(strings.TrimSpace(media), "/"); kind {
	case "", "text":
		return sub != "css" && sub != "javascript"
	case "application":
		return strings.HasSuffix(sub, "xml") || strings.HasSuffix(sub, "json") || strings.HasSuffix(sub, "gzip") || sub == "octet-stream"
	}
	return false
}

// tellsOfSource reports whether a visit says anything about the URI as a feed or sitemap.
func tellsOfSource(v visit) bool {
	return !v.robots && !v.failed && !v.gone && (v.capture.Status == http.StatusOK || v.capture.Status == statusNotModified)
}

// unread says what a visit means, if the URI is a feed or sitemap, that brought nothing to read.
func unread(v visit) reading {
	r := reading{state: stateOf(v.record())}
	if tellsOfSource(v) && r.state.IsSource() {
		r.state = r.state.Unchanged(v.finished)
		r.told.Kind = r.state.Kind
	}
	return r
}

// source reads the content, if the URI is a feed or sitemap, and says what it means.
func (f *finder) source() error {
	v, got := f.v, f.v.capture
	r := &f.found.reading
	r.state = stateOf(v.record())
	if !tellsOfSource(v) {
		return nil
	}
	contentType := got.Header.Get("Content-Type")
	if !r.state.IsSource() && !mayBeSource(contentType) {
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
			r.told = Reading{Kind: r.state.Kind, Fault: errors.Join(err, doc.Fault)}
			if r.state = r.state.Unreadable(v.finished); !r.state.IsSource() {
				r.told = Reading{}
			}
		}
		return nil
	}
	return f.read(doc)
}

// read compares what a source lists with what it listed before.
func (f *finder) read(doc feeds.Document) error {
	v, r := f.v, &f.found.reading
	bytes, err := f.c.rooms.Frontier.Seen(v.uri())
	if err != nil {
		return err
	}
	seen, err := feeds.OpenSeen(bytes)
	if err != nil {
		f.c.rooms.Log.Warn().Err(err).Str("uri", v.uri().String()).Msg("what a feed listed so far is not known: it is read as if for the first time")
	}
	if doc.Hub.IsZero() {
		doc.Hub, doc.Self = feeds.HubLinks(v.uri(), v.capture.Header)
	}
	seen, round := seen.Read(v.finished, doc)
	pending, right, wrong, err := f.proofs(seen.Claims())
	if err != nil {
		return err
	}
	believed := r.state.Belief()
	f.word = wordOf(v, doc, r.state.Read)
	r.dated = entryDates(v, doc, round, r.state)
	r.idle = doc.Kind.ListsNewest() && doc.Fault == nil && !round.First && !round.Gap && r.dated.Changes == 0 && len(round.New) == 0 && len(round.Updated) == round.Stamped
	r.state = r.state.After(v.finished, doc, round, right, wrong)
	r.told = Reading{
		Kind: doc.Kind, First: round.First, Listed: round.Listed, New: len(round.New), Updated: len(round.Updated), Gap: round.Gap, Fault: doc.Fault,
	}
	f.found.dropped += doc.Dropped
	if err := f.entries(doc.Kind, round); err != nil {
		return err
	}
	claims, err := f.updates(round.Updated, believed)
	if err != nil {
		return err
	}
	if err := f.implied(round); err != nil {
		return err
	}
	for _, u := range doc.Embeds {
		f.add(u, uri.Embed, nil)
	}
	r.seen = seen.WithClaims(append(pending, claims...)).Bytes()
	return nil
}

// entries takes what a source lists for the first time. What was there when it was first read is no news.
func (f *finder) entries(kind feeds.Kind, round feeds.Reading) error {
	listed := make([]uri.URI, 0, len(round.New))
	for i, item := range round.New {
		listed = append(listed, item.URI)
		cand, ok := f.candidate(item.URI, uri.Manifest)
		if !ok {
			continue
		}
		cand.Due = f.v.finished.Add(time.Duration(i) * time.Millisecond) // the newest first
		if kind == feeds.Index {
			cand.Source = awaited()
		} else if f.young(item, kind, round.First) {
			cand.Born = born(item, f.v.finished)
		}
		if !round.First && i < maxUrgent {
			cand.Urgent = true
			known, late, err := f.known(item)
			if err != nil {
				return err
			}
			cand.Sooner = known && late
			f.dates(&cand, item, false)
		}
		f.found.candidates = append(f.found.candidates, cand)
	}
	return f.c.vouch(f.s.Settings, listed, f.v.finished)
}

// known reports whether the page of an item is known, and whether it has not been captured since the item's date.
func (f *finder) known(item feeds.Item) (known, late bool, err error) {
	r, ok, err := f.c.rooms.Frontier.Get(item.URI)
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

// updates has pages visited sooner that the source claims were modified, as far as it is believed, and gives the claims that
// are to be proved by those visits.
func (f *finder) updates(items []feeds.Item, believed float64) ([]feeds.Claim, error) {
	var claims []feeds.Claim
	now := f.v.finished
	for i, item := range items {
		if i == maxLookedUp {
			break
		}
		cand, ok := f.candidate(item.URI, uri.Manifest)
		if !ok {
			continue
		}
		r, known, err := f.c.rooms.Frontier.Get(item.URI)
		if err != nil {
			return nil, err
		}
		cand.Due = now.Add(time.Duration(i) * time.Millisecond)
		cand.Urgent = !known || believed >= 0.5
		if known {
			if _, late, err := f.known(item); err != nil || !late && !item.Date().IsZero() {
				if err != nil {
					return nil, err
				}
				f.disprove(item, r)
				continue // it was captured after that
			}
			cand.Sooner = true
			f.dates(&cand, item, true)
			claims = append(claims, feeds.Claim{URI: item.URI, At: now})
			if !cand.Urgent {
				cand.Due = now.Add(time.Duration(float64(max(0, r.Due.Sub(now))) * (1 - believed)))
			}
			cand.Due = later(cand.Due, r.LastVisit.Add(f.s.Feeds.MinWait))
		}
		f.found.candidates = append(f.found.candidates, cand)
	}
	return claims, nil
}

// proofs looks what came of earlier claims: those whose pages were captured since then are right or wrong, the others wait on.
func (f *finder) proofs(claims []feeds.Claim) (pending []feeds.Claim, right, wrong int, err error) {
	for _, c := range claims {
		r, ok, err := f.c.rooms.Frontier.Get(c.URI)
		switch {
		case err != nil:
			return nil, 0, 0, err
		case !ok, f.v.finished.Sub(c.At) > staleClaim:
		case !r.LastCapture.After(c.At):
			pending = append(pending, c)
		case r.LastChange.After(c.At):
			right++
		default:
			wrong++
		}
	}
	return pending, right, wrong, nil
}

// implied has the pages visited that the curator named for a feed, when it brought something new.
func (f *finder) implied(round feeds.Reading) error {
	if round.First || len(round.New) == 0 {
		return nil
	}
	s := f.s.config.For(config.About{URI: f.scopeOfSeed().Seed(), Now: f.v.finished}).Feeds
	pages := s.ImpliedPages(f.v.uri())
	if len(pages) == 0 {
		s = f.s.Feeds
		pages = s.ImpliedPages(f.v.uri())
	}
	for _, page := range pages {
		r, _, err := f.c.rooms.Frontier.Get(page)
		if err != nil {
			return err
		}
		f.add(page, uri.Inferred, func(c *frontier.Candidate) {
			c.Urgent, c.Sooner = true, true
			c.Due = later(c.Due.Add(time.Duration(len(round.New))*time.Millisecond), r.LastVisit.Add(s.MinWait)) // behind the news
		})
	}
	return nil
}

// nextSource is the wait of a feed or sitemap after a visit that said what it lists, and what is remembered of it.
func (n *next) nextSource(v visit, s config.Feeds, r reading) {
	n.record.Source, n.record.Prompt = string(r.state.Bytes()), false
	n.told = r.told
	if !r.state.IsSource() || r.told.Kind == feeds.None || s.Wait != config.FeedsOwn {
		return
	}
	wait := s.Next(r.state, v.finished, feeds.CacheHint(v.capture.Header))
	n.told.Slow = s.Slow(r.state, v.finished)
	n.record.Prompt = r.state.Kind.ListsNewest() && !n.told.Slow
	wait.Memory, wait.Versions = n.wait.Memory, n.wait.Versions
	n.wait = wait
	n.record.Wait, n.record.Rate = wait.Interval, wait.PerDay
}

// behind is how many rests something of a host must have been due for that the host counts as late.
const behind = 4

// inTime is when a feed is due whose host has more to do than it may: earlier by the rest that its slot may just have begun when
// its time comes, so that it is read in its time all the same.
func (c *Crawler) inTime(v visit, s config.Settings, n next) time.Time {
	due := n.record.Due
	rest := c.robots.Politeness(v.uri(), s.Politeness, n.robots).Rest(v.capture.Took) + v.capture.Took
	h, ok := c.rooms.Frontier.Host(v.uri().Host(), v.finished)
	if !ok || h.Oldest.IsZero() || v.finished.Sub(h.Oldest) < behind*rest {
		return due
	}
	least := v.finished.Add(min(s.Feeds.MinWait, n.wait.Interval))
	return later(due.Add(-min(rest, n.wait.Interval/2)), least)
}

// tell says in the daemon's log what a curator should know of a feed or sitemap.
func (c *Crawler) tell(u uri.URI, r Reading) {
	if r.Gap {
		c.rooms.Log.Warn().Str("uri", u.String()).Int("listed", r.Listed).
			Msg("a feed lists nothing that it listed before: entries were probably missed; it is visited more often")
	}
	if r.Slow {
		c.rooms.Log.Warn().Str("uri", u.String()).Str("kind", r.Kind.String()).
			Msg("a feed or sitemap is dead, silent or unreadable, and on the slow lane")
	}
}

// Notes are the annotations of a reading in crawl.log; none where there is nothing to say.
func (r Reading) Notes() []string {
	if r.Kind == feeds.None {
		return nil
	}
	var notes []string
	name := "sitemap"
	if r.Kind.ListsNewest() {
		name = "feed"
	}
	if r.First {
		notes = append(notes, fmt.Sprintf("%sListed:%d", name, r.Listed))
	} else {
		if r.New > 0 {
			notes = append(notes, fmt.Sprintf("%sNew:%d", name, r.New))
		}
		if r.Updated > 0 {
			notes = append(notes, fmt.Sprintf("%sUpdated:%d", name, r.Updated))
		}
	}
	if r.Gap {
		notes = append(notes, name+"Gap")
	}
	if r.Slow {
		notes = append(notes, name+"Slow")
	}
	if r.Fault != nil {
		notes = append(notes, name+"Broken")
	}
	return notes
}
