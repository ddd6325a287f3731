package noise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	aspect "github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/noise/infer"
	"github.com/arcrawl/arcrawl/uri"
)

// maxVersion is how many bytes of a version are read. Pages are shorter.
const maxVersion = 16 << 20

// readVersion reads the version that a capture in the archive holds. A revisit has the content of the capture that it
// refers to.
func readVersion(ctx context.Context, l *captures.Library, c captures.Capture) (v aspect.Version, err error) {
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
	ctx context.Context, l *captures.Library, captures []captures.Capture, skipped func(captures.Capture, error),
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

// fetchTwice fetches a page twice as the crawl would, if robots.txt allows it. It rests before each request.
func fetchTwice(
	ctx context.Context, c *config.Config, u uri.URI, rest time.Duration,
) (versions []aspect.Version, err error) {
	client := fetch.New(fetch.Options{Dial: fetch.Guard(c.AllowNetworks, c.AllowHosts...)})
	defer func() { err = errors.Join(err, client.Close()) }()
	t := whatif.Trial{
		Config: c, Version: cli.Version(),
		Wait: func(ctx context.Context, _ time.Duration) error { return cli.Wait(ctx, rest) },
		Look: func(got *fetch.Capture) error {
			if got.Status != http.StatusOK {
				return fmt.Errorf("fetch %s: status %d, want 200", u, got.Status)
			}
			v := aspect.Version{Date: got.Started, MIME: got.Header.Get("Content-Type")}
			content, err := got.Content()
			if err != nil {
				return fmt.Errorf("read %s: %w", u, err)
			}
			defer func() { _ = content.Close() }() // it is only read
			v.Content, err = io.ReadAll(io.LimitReader(content, maxVersion))
			versions = append(versions, v)
			return err
		},
	}
	tried, err := t.Run(ctx, client, u, time.Now())
	if err == nil && len(versions) == 0 { // the login failed
		err = fmt.Errorf("fetch %s: %s", u, tried[len(tried)-1].Error)
	}
	return versions, err
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
