package noise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	aspect "github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/noise/infer"
	"github.com/arcrawl/arcrawl/uri"
)

// maxVersion is how many bytes of a version are read. Pages are shorter.
const maxVersion = 16 << 20

// readVersion reads the version that a capture in the archive holds. A revisit has the content of the capture that it
// refers to.
func readVersion(ctx context.Context, l *index.Library, c index.Capture) (v aspect.Version, err error) {
	p, err := l.Payload(ctx, c, true)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	v = aspect.Version{Date: c.Date, MIME: p.Head.Header().Get("Content-Type")}
	v.Content, err = io.ReadAll(io.LimitReader(p, maxVersion))
	return v, err
}

// readAll reads the versions that captures hold, and calls skipped for each one that cannot be read. Only captures with
// status 200 are versions of a page.
func readAll(
	ctx context.Context, l *index.Library, captures []index.Capture, skipped func(index.Capture, error),
) []aspect.Version {
	var all []aspect.Version
	for _, c := range captures {
		if c.Status != "200" {
			continue
		}
		v, err := readVersion(ctx, l, c)
		if err != nil {
			skipped(c, err)
			continue
		}
		all = append(all, v)
	}
	return all
}

// fetcher fetches versions of a page.
type fetcher struct {
	Config *config.Config
	// Request returns the request for a URI, as the crawl makes it.
	Request func(u uri.URI) fetch.Request
	// Wait waits before each fetch of the page.
	Wait func(ctx context.Context) error
}

// FetchTwice fetches a page twice, if robots.txt allows it.
func (f *fetcher) FetchTwice(ctx context.Context, u uri.URI) (versions []aspect.Version, err error) {
	client := fetch.New(fetch.Options{Dial: fetch.Guard(f.Config.AllowNetworks, f.Config.AllowHosts...)})
	defer func() { err = errors.Join(err, client.Close()) }()
	rules, status, err := f.fetch(ctx, client, u.Robots())
	switch {
	case err != nil:
		return nil, err
	case status >= http.StatusInternalServerError || status < 0:
		return nil, fmt.Errorf("fetch %s: status %d, so it is not known whether %s may be fetched", u.Robots(), status, u)
	case status == http.StatusOK && !robots.Parse(rules.Content).Allowed("arcrawl", u):
		return nil, fmt.Errorf("%s forbids fetching %s", u.Robots(), u)
	}
	for range 2 {
		if err := f.Wait(ctx); err != nil {
			return nil, err
		}
		v, status, err := f.fetch(ctx, client, u)
		if err != nil {
			return nil, err
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("fetch %s: status %d, want 200", u, status)
		}
		versions = append(versions, v)
	}
	return versions, nil
}

// fetch makes one exchange. A negative status says that there was no response.
func (f *fetcher) fetch(
	ctx context.Context, client *fetch.Client, u uri.URI,
) (v aspect.Version, status int, err error) {
	response, err := client.Fetch(ctx, f.Request(u))
	if err != nil {
		return v, 0, err
	}
	defer func() { err = errors.Join(err, response.Close()) }()
	v = aspect.Version{Date: response.Started, MIME: response.Header.Get("Content-Type")}
	if response.Status < 0 {
		return v, response.Status, nil
	}
	content, err := response.Content()
	if err != nil {
		return v, response.Status, fmt.Errorf("read %s: %w", u, err)
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	v.Content, err = io.ReadAll(io.LimitReader(content, maxVersion))
	return v, response.Status, err
}

// pair is two versions in a row that differ after scrubbing.
type pair struct {
	Before, After time.Time
	Left, Right   string // scrubbed
}

// compareVersions scrubs versions and returns the pairs that differ, and the number of pairs that do not.
func compareVersions(rules *digest.Rules, versions []aspect.Version) (differ []pair, same int, err error) {
	if len(versions) < 2 {
		return nil, 0, infer.ErrTooFew
	}
	before := string(rules.Scrub(versions[0].Content, versions[0].MIME))
	for i, v := range versions[1:] {
		after := string(rules.Scrub(v.Content, v.MIME))
		if before == after {
			same++
		} else {
			differ = append(differ, pair{Before: versions[i].Date, After: v.Date, Left: before, Right: after})
		}
		before = after
	}
	return differ, same, nil
}
