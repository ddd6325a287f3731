package rebuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// LinksResult counts what was found again in archived pages.
type LinksResult struct {
	Files   int
	Pages   int64 // records that were searched for links
	New     int64 // URIs that became known
	Refused int64 // URIs beyond the limits of their hosts
	Damaged int64 // records and files that could not be read
	Unread
}

// damaged counts and names what could not be read.
func (r *LinksResult) damaged(err error) {
	r.Damaged++
	r.name("%v", err)
}

// linkReader finds links in archived pages.
type linkReader struct {
	store  *frontier.Frontier
	config *config.Config
	result LinksResult

	seed   string // whose scope was used last, and when it was made
	when   time.Time
	decide *scope.Scope
}

// Links reads all responses of the archive, oldest file first, and adds the URIs that their pages link to and
// that the crawl does not know: those that were found but not visited before the store was lost. A page counts if its
// URI is in the store, and a link if it is in scope. The URIs became known when the page was archived, and are due now.
func Links(
	ctx context.Context, f *frontier.Frontier, c *config.Config, progress *warc.Progress,
) (LinksResult, error) {
	files, faults := warc.FilesAndPackages([]string{c.Storage.WARC})
	r := linkReader{store: f, config: c}
	for _, f := range faults {
		r.result.damaged(f)
	}
	slices.SortStableFunc(files, func(a, b warc.File) int { return cmp.Compare(a.Name, b.Name) }) // names have dates
	progress.Expect(files)
	for _, file := range files {
		notes := warc.NewFindings(file)
		err := warc.EachRecord(ctx, file, progress, notes, func(rec *warc.Record) error {
			if rec.Header.Type() != "response" {
				return nil
			}
			err := r.read(ctx, rec)
			if _, broken := errors.AsType[storeError](err); broken {
				return err
			}
			if f := rec.Finding(warc.HTTP, fmt.Sprint(err)); err != nil {
				r.result.damaged(&f)
			}
			return nil
		})
		for _, f := range notes.All() {
			if f.Severity == warc.Error {
				r.result.damaged(&f)
			}
		}
		if err != nil {
			return r.result, err
		}
		r.result.Files++
	}
	return r.result, f.Sync()
}

// storeError is an error of the store. It ends the reading.
type storeError struct{ err error }

func (e storeError) Error() string { return e.err.Error() }
func (e storeError) Unwrap() error { return e.err }

// read adds the links of one response. An error other than a [storeError] says that it cannot be read.
func (r *linkReader) read(ctx context.Context, rec *warc.Record) error {
	u, err := uri.Parse(rec.Header.Target())
	if err != nil || u.IsRobots() {
		return nil //nolint:nilerr // not a page of a crawl
	}
	page, known, err := r.store.Get(u)
	if err != nil {
		return storeError{err}
	}
	if !known || !rec.Header.IsHTTP() {
		return nil
	}
	head, body, err := rec.Payload()
	if err != nil {
		return err
	}
	if head.Status >= http.StatusBadRequest {
		return nil
	}
	if body, err = head.Decode(body); err != nil {
		return err
	}
	at := rec.Header.Date()
	s := r.config.For(config.About{URI: u, Hops: page.Hops, ContentType: head.MIME(), Now: at})
	doc := discover.Document{URI: u, Status: head.Status, Header: head.Header()}
	found, err := discover.Links(ctx, doc, body, s.Links)
	r.result.Pages++
	var candidates []frontier.Candidate
	for _, l := range found.Links {
		if c, ok := r.candidate(page, l, s, at); ok {
			candidates = append(candidates, c)
		}
	}
	added, errAdd := r.store.Add(at, candidates...)
	r.result.New, r.result.Refused = r.result.New+int64(added.New), r.result.Refused+int64(added.Refused)
	if errAdd != nil {
		return storeError{errAdd}
	}
	return err
}

// candidate returns a link of a page as a candidate. It returns false if the link is out of scope.
func (r *linkReader) candidate(
	page frontier.Record, l discover.Link, s config.Settings, at time.Time,
) (frontier.Candidate, bool) {
	hop := l.Hop
	if hop == uri.Manifest && !config.Own[feeds.Options](&s).Discover {
		hop = uri.Link
	}
	c := frontier.Candidate{
		URI: l.URI, Hops: page.Hops.Then(hop), Via: page.URI.String(), Seed: page.Seed, Due: at,
	}
	if hop == uri.Manifest || hop == uri.Redirect && page.Source != "" {
		c.Source = feeds.Expected()
	}
	// A page without a seed is its own seed.
	if r.decide == nil || page.Seed == "" || r.seed != page.Seed || !r.when.Equal(at) {
		r.seed, r.when = page.Seed, at
		r.decide = config.ScopeOf(r.config, page.Seed, page.URI, at, r.store)
	}
	return c, r.decide.Accepts(scope.Discovery{URI: c.URI, Hops: c.Hops, Via: page.URI})
}
