package noise

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// The bounds of what is kept and done to find rules.
const (
	maxKeptPage = 512 << 10       // bytes of one page
	maxKept     = 16 << 20        // bytes of all pages
	maxVersions = 3               // of a page
	pageRoom    = 1 << 10         // bytes that each fetch takes besides its content
	maxSearch   = 5 * time.Second // for the rules of a page
	maxSearches = 2               // at once
	maxCredit   = time.Minute     // of time for searches that was not used
	searchShare = 10              // searches take at most one part in N of the time
)

// Version is one version of a page.
type Version struct {
	Date    time.Time // when it was fetched
	MIME    string    // its media type
	Content []byte
}

// Moment is the longest time between two fetches of one moment. What differs between them is noise.
const Moment = 2 * time.Minute

// Finder finds rules for what differs between fetches of one page. r has the rules in force, which are applied before.
type Finder interface {
	// Silence returns rules under which a reader sees the same of all fetches. It returns no rules if there are none that
	// are narrow enough. The error is the one of ended.
	Silence(ended func() error, r *digest.Rules, fetches []Version) (digest.Silencer, error)
	// Silences reports whether rules that were found for another page make a reader see the same of all fetches.
	Silences(r *digest.Rules, s digest.Silencer, fetches []Version) bool
	// ShowsTime reports whether a reader sees what time it was when a page was fetched, to the minute.
	ShowsTime(r *digest.Rules, v Version) bool
	// DifferInTime reports whether a reader of two fetches sees another time, and nothing else that differs.
	DifferInTime(r *digest.Rules, a, b Version) bool
}

// Fetches keeps pages in memory from a visit until its second looks, and finds rules that silence them. Pages that do
// not fit are forgotten, the oldest first, and so are all pages at a restart. Then no rules are found for them, until
// they are looked at twice again. The same is true of pages for which there is no time: searches take a tenth of one
// processor at most, apart from a minute at the beginning.
//
// The zero value finds no rules and keeps nothing. Its methods may be called by several goroutines at once.
type Fetches struct {
	Finder Finder // nil = no rules are found

	mu       sync.Mutex
	pages    map[uri.URI][]Version
	order    []uri.URI // of pages, the oldest first
	bytes    int
	searches int           // in progress
	used     time.Duration // time that searches took, less what they were entitled to since; at most maxCredit
	counted  time.Time     // until when used was made less
	kin      kin
}

// Bytes returns how much memory the pages take.
func (f *Fetches) Bytes() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(f.bytes)
}

// keep keeps the content of a page that is looked at again, with the fetches before.
func (f *Fetches) keep(u uri.URI, c *fetch.Capture, o *Options) {
	if fetched, ok := f.versionOf(c, o); ok { // otherwise no rules are found for it
		f.add(u, fetched)
	}
}

// versionOf returns the content of a page for which rules may be found.
func (f *Fetches) versionOf(c *fetch.Capture, o *Options) (v Version, ok bool) {
	v = Version{Date: c.Started, MIME: c.Header.Get("Content-Type")}
	if f.Finder == nil || o.Seen == nil || !digest.IsHTML(v.MIME) {
		return v, false
	}
	content, err := contentOf(c)
	v.Content = content
	return v, err == nil
}

// showsTime reports whether a page shows the time to the minute, so that it may differ at a fetch a minute later.
func (f *Fetches) showsTime(c *fetch.Capture, o *Options) bool {
	fetched, ok := f.versionOf(c, o)
	return ok && f.Finder.ShowsTime(o.Seen, fetched)
}

// add adds a fetch of a page.
func (f *Fetches) add(u uri.URI, now Version) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.take(u)
	if n := len(kept); n > 0 && now.Date.Sub(kept[n-1].Date) > Moment {
		kept = nil
	}
	kept = append(kept, now)
	kept = kept[max(len(kept)-maxVersions, 0):]
	if f.pages == nil {
		f.pages = map[uri.URI][]Version{}
	}
	f.pages[u] = kept
	f.order = append(f.order, u)
	for _, v := range kept {
		f.bytes += len(v.Content) + pageRoom
	}
	for f.bytes > maxKept {
		f.take(f.order[0])
	}
}

// take removes a page and returns its fetches. The lock is held.
func (f *Fetches) take(u uri.URI) []Version {
	kept, ok := f.pages[u]
	if !ok {
		return nil
	}
	delete(f.pages, u)
	for i, other := range f.order {
		if other == u {
			f.order = append(f.order[:i], f.order[i+1:]...)
			break
		}
	}
	for _, v := range kept {
		f.bytes -= len(v.Content) + pageRoom
	}
	return kept
}

// contentOf returns the decoded content of a capture if it is short enough to be kept.
func contentOf(c *fetch.Capture) ([]byte, error) {
	if !c.Complete || c.ContentSize > maxKeptPage {
		return nil, fetch.ErrMaxContent
	}
	from, err := c.Content()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return io.ReadAll(from)
}

// silence finds rules for a page that differs at a second look: rules of its kin first, and its own if it would be
// restless. Under them a reader sees the same of all its fetches. If there are some, the page is noisy, and they decide
// about its wait from now on.
func (a *Aspect) silence(ctx context.Context, v *aspects.Visit, o *Options, j *judgement) error {
	if j.outcome != evaluators.LookDiffers {
		a.fetches.forget(v.URI())
		return nil
	}
	look := j.known.look
	_, again := o.SecondLook(v.Record()).Closed(look, j.outcome, v.Capture.Started)
	found, err := a.fetches.search(ctx, v.URI(), v.Capture, o, !again, look.IsForClock())
	if err != nil || found == "" {
		return err
	}
	a.fetches.forget(v.URI())
	look = look.Trusting()
	look.View, look.Silencer = evaluators.SeenSilenced, found
	k := known{look: look}
	if err := k.see(ctx, v, o); err != nil || !k.look.Noisy() {
		return err
	}
	*j.known, j.outcome = k, evaluators.LookNoisy
	a.fetches.note(v.URI().Host(), found, v.Finished)
	return nil
}

// forget drops the fetches of a page.
func (f *Fetches) forget(u uri.URI) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.take(u)
}

// begin reports whether there is time for a search, and begins it. The lock is held.
func (f *Fetches) begin(now time.Time) bool {
	if passed := now.Sub(f.counted); passed > 0 {
		f.used = max(f.used-passed/searchShare, 0)
		f.counted = now
	}
	if f.searches >= maxSearches || f.used >= maxCredit {
		return false
	}
	f.searches++
	return true
}

// end ends a search that took some time.
func (f *Fetches) end(took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.searches--
	f.used += took
}

// search returns rules that silence a page, from the fetches that are kept and the present one: rules of other pages of
// its host, or else, if own is true, of the page itself. It returns an empty text if there are none, or if clock says
// that nothing but the time may differ, and something does.
func (f *Fetches) search(
	ctx context.Context, u uri.URI, c *fetch.Capture, o *Options, own, clock bool,
) (string, error) {
	if f.Finder == nil || o.Seen == nil {
		return "", nil
	}
	f.mu.Lock()
	known, kept := f.kin.rulesOf(u.Host()), slices.Clone(f.pages[u])
	if own {
		f.take(u)
	}
	begins := (own || len(known) > 0) && len(kept) > 0 && f.begin(c.Started)
	f.mu.Unlock()
	if !begins {
		return "", nil
	}
	began := time.Now()
	defer func() { f.end(time.Since(began)) }()
	content, err := contentOf(c)
	kept = append(kept, Version{Date: c.Started, MIME: c.Header.Get("Content-Type"), Content: content})
	if err != nil {
		return "", nil // what cannot be read is compared no further
	}
	ctx, cancel := context.WithTimeoutCause(ctx, min(maxSearch, o.MaxTime), digest.ErrTooSlow)
	defer cancel()
	ended := func() error { return context.Cause(ctx) }
	found, err := f.fitting(ended, known, o, kept)
	if found != "" || err != nil || !own {
		return found, unlessSlow(err)
	}
	if clock && !f.Finder.DifferInTime(o.Seen, kept[len(kept)-2], kept[len(kept)-1]) {
		return "", nil
	}
	silencer, err := f.Finder.Silence(ended, o.Seen, kept)
	return silencer.String(), unlessSlow(err)
}

// unlessSlow returns an error, unless it says that a search took too long: then nothing was found.
func unlessSlow(err error) error {
	if errors.Is(err, digest.ErrTooSlow) {
		return nil
	}
	return err
}
