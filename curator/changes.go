// This file compares each archived version of a page with the version before it, and stores what a reader sees that
// changed. Visits do not wait for it.

package curator

import (
	"bytes"
	"cmp"
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/changes"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
)

// maxUncompared is the maximum number of versions that wait to be compared. More are not compared: they are counted,
// and arcrawl changes rebuild compares them later.
const maxUncompared = 10_000

// comparer compares versions in the background, one at a time, and uses at most half of a processor. Its methods are
// safe for concurrent use.
type comparer struct {
	store  *changeStore
	note   func(v crawler.Report) api.Capture           // compares; the result has a change
	keep   func(change api.Capture, about string) error // archives a change, if that is asked for
	now    func() time.Time
	failed func(err error) // is called with the first error of the store
	full   func()          // is called when the first version is left out
	unread func(n int)     // is called at the end if versions still wait

	running sync.WaitGroup
	mu      sync.Mutex // guards the fields below
	queue   []*crawler.Report
	working bool
	stop    context.CancelFunc // nil unless something runs
	closed  bool
	left    int64 // versions that were too many
	broken  bool  // an error of the store was reported
}

// Observe queues the version that a settled visit brought, or the news that the page is not there. It does not block.
func (c *comparer) Observe(v crawler.Report) {
	if c.isOfInterest(&v) {
		c.put(v)
	}
}

// put queues a version.
func (c *comparer) put(v crawler.Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return
	case len(c.queue) >= maxUncompared:
		if c.left++; c.left == 1 {
			c.full()
		}
		return
	}
	v.Rendered = nil // it may hold a page
	c.queue = append(c.queue, &v)
	c.start()
}

// isOfInterest reports whether a visit may have changed what a reader sees.
func (c *comparer) isOfInterest(v *crawler.Report) bool {
	if v.Versions == 0 || v.URI.IsRobots() {
		return false
	}
	now := awayBy(v)
	newly := v.Verdict.State == evaluators.Changed && !v.Verdict.First
	if v.Failed && now == "" || !v.Failed && now != "" && !newly { // a page that never was there is no news
		return false
	}
	was := c.store.Away(v.URI.String())
	if now != "" || was != "" {
		return now != was
	}
	return v.Archived != nil && (isHTML(v.Type) || isRedirect(v))
}

// isHTML reports whether a Content-Type names a page, or is missing.
func isHTML(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType)
	return media == "text/html" || media == "application/xhtml+xml" || contentType == ""
}

// isRedirect reports whether a visit found that the page moved.
func isRedirect(v *crawler.Report) bool {
	return v.Status >= 300 && v.Status < 400 && v.Archived != nil && v.Archived.Location != ""
}

// awayBy returns why a page was not there at a visit: "withdrawn", "wall", or "" if it was, or if nobody knows.
func awayBy(v *crawler.Report) string {
	switch {
	case v.Status == http.StatusNotFound, v.Status == http.StatusGone, v.Status == http.StatusUnavailableForLegalReasons,
		strings.HasPrefix(v.Block, evaluators.NotFound):
		return string(changes.Withdrawn)
	case v.Block != "":
		return string(changes.Wall)
	}
	return ""
}

// openComparer returns what compares the versions of a crawl.
func (c *curation) openComparer() *comparer {
	store, err := openChanges(c.o.Dir)
	log := c.o.Log
	if err != nil {
		log.Warn().Err(err).Msg("could not read the changes of earlier runs: they are not shown")
	}
	return &comparer{
		store: store, now: c.o.Now, note: c.noteChange, keep: c.keepChange,
		failed: func(err error) {
			log.Error().Err(err).Msg("could not store a change: arcrawl changes rebuild makes it again from the archive")
		},
		unread: func(n int) {
			log.Warn().Int("versions", n).
				Msg("versions were not compared before the stop: arcrawl changes rebuild compares them")
		},
		full: func() {
			log.Warn().Int("waiting", maxUncompared).
				Msg("more versions than can be compared: the rest is left out; arcrawl changes rebuild compares them")
		},
	}
}

// noteChange returns what a visit says of the change of its page.
func (c *curation) noteChange(v crawler.Report) api.Capture {
	inForce := c.o.Config().Config
	u := v.URI.String()
	out := api.Capture{
		At: v.Finished.UTC(), Host: string(v.URI.Host()), URI: u, Title: v.Title, Kind: api.CaptureChanged,
		Versions: v.Versions,
	}
	out.Type, _, _ = mime.ParseMediaType(v.Type)
	if r, known, err := c.o.Frontier.Get(v.URI); err == nil && known && out.Title == "" {
		out.Title = r.Title
	}
	out.Change = changeOf(c.whatChanged(v, inForce))
	about := config.About{URI: v.URI, Hops: v.Hops, ContentType: v.Type, Now: v.Finished}
	out.Change.Series = inForce.MeansOf(about).Series
	if a := v.Archived; a != nil {
		out.Change.Before = index.Stamp(a.Before.Date, false)
		series := captures.SeriesIn(inForce.WARC.Prefix)
		out.Change.Series = cmp.Or(series(captures.Entry{Filename: a.Before.File}), out.Change.Series,
			series(captures.Entry{Filename: a.After.File}))
	}
	return out
}

// keepChange archives a change as a metadata record about the version, if the configuration asks for that.
func (c *curation) keepChange(change api.Capture, about string) error {
	if c.archive == nil || !c.o.Config().Config.ChangesArchived {
		return nil
	}
	line, err := lineOf(change)
	if err != nil {
		return err
	}
	return c.archive(change.Change.Series, "urn:change:"+change.URI, about, bytes.TrimSpace(line))
}

// whatChanged says what a reader sees that changed by the version that a visit found.
func (c *curation) whatChanged(v crawler.Report, inForce *config.Config) captures.Change {
	u, was := v.URI.String(), c.changes.store.Away(v.URI.String())
	before := captures.Page{URI: u, Status: http.StatusOK}
	after := captures.Page{URI: u, Status: v.Status, Wall: v.Block, Header: http.Header{}}
	switch {
	case awayBy(&v) != "":
		earlier := v.Versions
		if !v.Failed {
			earlier-- // the answer that says so is one
		}
		return changes.Between(before, after, earlier)
	case isRedirect(&v):
		after.Header.Set("Location", v.Archived.Location)
		return changes.Between(before, after, 0)
	}
	change := captures.Change{Kinds: []changes.Kind{changes.Nothing}}
	if v.Archived != nil && isHTML(v.Type) {
		change = c.compareVersions(v, inForce)
	}
	return returned(change, was)
}

// returned adds to a change that the page is there again, if it was away.
func returned(change captures.Change, was string) captures.Change {
	if was != "" && !change.Is(changes.Returned) {
		kinds := slices.DeleteFunc(change.Kinds, func(k changes.Kind) bool { return k == changes.Nothing })
		change.Kinds, change.Problem = append([]changes.Kind{changes.Returned}, kinds...), ""
	}
	return change
}

// compareVersions reads both versions of a page from the archive and compares them. Requests that read versions wait
// meanwhile, because each needs memory for several pages.
func (c *curation) compareVersions(v crawler.Report, inForce *config.Config) captures.Change {
	c.window.ReadingVersions().Lock()
	defer c.window.ReadingVersions().Unlock()
	open := warc.StoredMessage(inForce.Storage.WARC)
	read := func(at crawler.Archived, after bool) (captures.Page, error) {
		origin := at.Before
		if after {
			origin = at.After
		}
		head, message, err := open(origin)
		if err != nil {
			return captures.Page{}, err
		}
		return captures.ReadPage(v.URI.String(), head, message)
	}
	before, err := read(*v.Archived, false)
	if err != nil {
		return captures.Change{Problem: "The version before cannot be read. " + captures.Sentence(err)}
	}
	after, err := read(*v.Archived, true)
	if err != nil {
		return captures.Change{Problem: "The version cannot be read. " + captures.Sentence(err)}
	}
	spec := inForce.Scrubbing(config.About{URI: v.URI, Hops: v.Hops, ContentType: v.Type, Now: v.Finished})
	change, err := captures.Between(before, after, v.Versions-1, spec)
	if err != nil {
		return captures.Change{Problem: "The versions cannot be compared. " + err.Error()}
	}
	return change
}

// The bounds of what is stored of a change. Pages come from strangers.
const (
	maxChangeText  = 400 // bytes of a headline, a name of a link or an address
	maxChangeLinks = 5   // of each list
	maxChangeParts = 60  // of a sentence
)

// cut returns a text of bounded length, without what changes the direction of text or cannot be shown.
func cut(text string) string {
	if len(text) > maxChangeText {
		text = strings.ToValidUTF8(text[:maxChangeText], "") + "…"
	}
	return captures.Harmless(text)
}

// changeOf returns a change as it is stored and shown.
func changeOf(c captures.Change) *api.Change {
	size := func(s changes.Size) api.ChangeSize { return api.ChangeSize{Removed: s.Removed, Added: s.Added} }
	out := &api.Change{
		Kinds: []string{}, Words: size(c.Words), Sentences: size(c.Sentences), Links: size(c.Links), Reworded: c.Reworded,
		Pictures: size(c.Pictures), Around: size(c.Around), To: cut(c.To), Wall: c.Wall, Earlier: c.Versions,
		Problem: cut(c.Problem), Notes: c.Notes,
	}
	for _, k := range c.Kinds {
		out.Kinds = append(out.Kinds, string(k))
	}
	if c.Headlines != [2]string{} {
		out.Headlines = []string{cut(c.Headlines[0]), cut(c.Headlines[1])}
	}
	for i, p := range c.First {
		if i == maxChangeParts {
			out.First = append(out.First, api.ChangePart{Text: " …"})
			break
		}
		out.First = append(out.First, api.ChangePart{Text: cut(p.Text), Removed: p.Removed, Added: p.Added})
	}
	links := func(all []changes.Link) (list []api.ChangeLink) {
		for _, l := range all[:min(len(all), maxChangeLinks)] {
			list = append(list, api.ChangeLink{URI: cut(l.URI), Text: cut(l.Text)})
		}
		return list
	}
	out.Came, out.Went = links(c.Came), links(c.Went)
	return out
}
