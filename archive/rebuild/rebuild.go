// Package rebuild makes a store again that was lost, from the crawl logs and the archive.
//
// [Store] reads every line of the logs, in the order of time, and adds it to the history of its URI as the visit itself
// did. Then it looks up the last payload of each URI in the archive. The line of a visit is written after its records
// and before it is settled (law 1), so the logs know every visit that the lost store knew.
//
//	exchange ──────────▶ PastVisit ──▶ Remember ──▶ history
//	line ──▶ replayed ──▶ PastVisit ──▶ Remember ──▶ history ──▶ recaptured ──▶ history
//
// A line lacks the headers, the comparison digest and the exact place of the payload. recaptured adds them from the
// archive.
//
// [AddMissing] does the same for the last visits only, if the store lost these.
//
// Lines without the thirteenth column (log.extra_info) suffice: inferred has most of it from the other columns, and
// the archive has the place of the record.
//
// The headers in the archive teach again how reliable the headers of each host are, and the lines what similar URIs
// have in common. [Links] also reads the archived pages again, for the URIs that were found but never visited.
//
// What neither a log nor the archive holds cannot be rebuilt, such as holds and pauses. The crawl learns most of the
// rest again.
package rebuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// batchSize is how many lines, or URIs, are read before something is written.
const batchSize = 1000

// Result counts what was rebuilt.
type Result struct {
	Logs     int   // files that have a line of a crawl log
	Lines    int64 // visits
	BadLines int64 // lines that are not lines of a crawl log
	URIs     int64
	Hosts    int64
	Payloads int64 // URIs whose last payload is in the archive
	Missing  int64 // URIs whose last payload should be in the archive, but was not found
	Unread
}

// rebuilder is a store that is being rebuilt.
type rebuilder struct {
	store   *frontier.Frontier
	config  *config.Config
	now     time.Time
	result  Result
	library *captures.Library // the archive; nil until it is opened

	// What is learned of hosts. The book writes each observation by itself.
	days    *hosts.Daily
	similar *hosts.Similar
	book    *hosts.Reputation

	// The visits that were read but not stored yet, and the entries of their URIs.
	visits  []rebuiltVisit
	entries map[uri.URI]frontier.Entry // also of the pages that they were found on
	order   []uri.URI                  // of the entries

	missing bool      // add only visits that the store does not know
	added   []uri.URI // whose entries got such visits

	inferred map[uri.URI]bool // URIs with a line that lacks the thirteenth column: only the archive knows its record
}

// maxNamed is how many places [Unread] names.
const maxNamed = 1000

// Unread names the first places of logs and archive that could not be read, and says why.
type Unread struct{ Named []string }

func (u *Unread) name(format string, args ...any) {
	if len(u.Named) < maxNamed {
		u.Named = append(u.Named, fmt.Sprintf(format, args...))
	}
}

func newRebuilder(f *frontier.Frontier, c *config.Config, now time.Time) rebuilder {
	return rebuilder{
		store: f, config: c, now: now, entries: map[uri.URI]frontier.Entry{}, inferred: map[uri.URI]bool{},
		days: hosts.OpenDaily(f.DB()), similar: hosts.OpenSimilar(f.DB()), book: hosts.OpenReputation(f.DB()),
	}
}

// read adds the visits of logs to the store, and then what only the archive knows of their URIs.
func (b *rebuilder) read(ctx context.Context, logs []crawler.LogPart) (err error) {
	defer func() {
		if b.library != nil {
			err = errors.Join(err, b.library.Close())
		}
	}()
	for _, log := range logs {
		b.result.Logs++
		if err := b.readLog(ctx, log.Name, log.Offset); err != nil {
			return err
		}
	}
	if err := errors.Join(b.days.Flush(), b.similar.Flush()); err != nil {
		return err
	}
	b.count()
	return b.readArchive(ctx)
}

// count counts the URIs and hosts of the store, or those that got missing visits.
func (b *rebuilder) count() {
	if !b.missing {
		n := b.store.Counts(b.now)
		b.result.URIs, b.result.Hosts = n.URIs, n.Hosts
		return
	}
	slices.SortFunc(b.added, func(x, y uri.URI) int { return strings.Compare(x.String(), y.String()) })
	b.added = slices.Compact(b.added)
	known := map[uri.Host]bool{}
	for _, u := range b.added {
		known[u.Host()] = true
	}
	b.result.URIs, b.result.Hosts = int64(len(b.added)), int64(len(known))
}

// rebuiltVisit is one line of a log.
type rebuiltVisit struct {
	uri   uri.URI
	entry crawllog.Entry
	line  string
}

// Store fills an empty store from crawl logs, which may be gzipped, and from the archive of the configuration. Hosts
// then rest as after a crash, because nobody knows when they were last visited.
func Store(
	ctx context.Context, f *frontier.Frontier, c *config.Config, logs []string, now time.Time,
) (Result, error) {
	b := newRebuilder(f, c, now)
	sorted, err := b.sortByTime(logs)
	if err != nil {
		return Result{}, err
	}
	if err := b.read(ctx, sorted); err != nil {
		return b.result, err
	}
	rest := max(c.ForHost("", now).Politeness.MaxDelay, time.Second)
	_, _, err = f.SteerHosts(now, "*", frontier.HostAction{Verb: frontier.Rest, Until: now.Add(rest)})
	return b.result, errors.Join(err, f.Sync())
}

// AddMissing looks for the visits of the crawl log that the store lacks ([crawler.FindMissing]), adds them to the
// histories of their URIs, in the order of the log, and lets their hosts rest. It can be repeated. What bare lines lack
// follows from their other columns and from the archive.
func AddMissing(
	ctx context.Context, f *frontier.Frontier, c *config.Config, now time.Time,
) (crawler.Missing, Result, error) {
	m, err := crawler.FindMissing(ctx, f, c, c.Storage.Log, 0, now)
	if err = errors.Join(err, ctx.Err()); err != nil || m.Visits == 0 {
		return m, Result{}, err
	}
	b := newRebuilder(f, c, now)
	b.missing = true
	if err := b.read(ctx, m.Logs); err != nil {
		return m, b.result, err
	}
	return m, b.result, errors.Join(m.Rest(f, c, now), f.Sync())
}

// sortByTime sorts logs by the times of their first lines. It drops files without a line of a crawl log, and names
// those that are not empty.
func (b *rebuilder) sortByTime(logs []string) ([]crawler.LogPart, error) {
	first := map[string]time.Time{}
	var sorted []crawler.LogPart
	for _, log := range logs {
		errFound, empty := errors.New("found"), true
		err := crawllog.Forwards(log, 0, func(line string) error {
			e, err := crawllog.Parse(line)
			if empty = false; err != nil {
				return nil //nolint:nilerr // look at the next line
			}
			first[log] = e.Logged
			return errFound
		})
		switch {
		case errors.Is(err, errFound):
			sorted = append(sorted, crawler.LogPart{Name: log})
		case err != nil:
			return nil, err
		case !empty:
			b.result.name("%s: no line of it is one of a crawl log", log)
		}
	}
	if len(sorted) == 0 {
		return nil, fmt.Errorf("no crawl log among %q", logs)
	}
	slices.SortFunc(sorted, func(a, b crawler.LogPart) int {
		return cmp.Or(first[a.Name].Compare(first[b.Name]), strings.Compare(a.Name, b.Name))
	})
	return sorted, nil
}

// readLog adds the visits of a log, from an offset on, to the store.
func (b *rebuilder) readLog(ctx context.Context, log string, offset int64) error {
	err := crawllog.Forwards(log, offset, func(line string) error {
		e, err := crawllog.Parse(line)
		u, errURI := uri.Parse(e.URI)
		if err != nil || errURI != nil {
			b.result.BadLines++
			b.result.name("%s: %.200q: %v", log, line, cmp.Or(err, errURI))
			return nil
		}
		if b.missing && !crawler.IsVisit(e) {
			return nil
		}
		b.want(u)
		if via := uri.FromCanonical(e.Via); !via.IsZero() {
			b.want(via)
		}
		if b.visits = append(b.visits, rebuiltVisit{u, e, line}); len(b.visits) < batchSize {
			return nil
		}
		return errors.Join(b.storeVisits(ctx), ctx.Err())
	})
	return errors.Join(err, b.storeVisits(ctx))
}

// want makes the next storeVisits load the entry of a URI.
func (b *rebuilder) want(u uri.URI) {
	if _, ok := b.entries[u]; !ok {
		b.entries[u] = frontier.Entry{Record: frontier.Record{URI: u}}
		b.order = append(b.order, u)
	}
}

// countDay adds a line to the counts of its host and day.
func (b *rebuilder) countDay(u uri.URI, e crawllog.Entry, line string) error {
	var raw crawllog.RawEntry
	if !raw.Parse([]byte(line)) {
		return nil
	}
	day := crawllog.DailyCount(&raw)
	if day == (evaluators.Day{}) {
		return nil
	}
	return b.days.Add(u.Host(), e.Started, day)
}

// storeVisits adds the visits that were read to the histories of their URIs, and writes those to the store.
func (b *rebuilder) storeVisits(ctx context.Context) error {
	if err := b.loadEntries(); err != nil {
		return err
	}
	added := map[uri.URI]bool{}
	for _, v := range b.visits {
		if b.missing && crawler.Remembers(b.entries[v.uri].Record, v.entry) {
			continue
		}
		b.result.Lines++
		added[v.uri] = true
		if err := b.countDay(v.uri, v.entry, v.line); err != nil {
			return err
		}
		if err := b.replay(ctx, v); err != nil {
			return err
		}
	}
	var entries []frontier.Entry
	for _, u := range b.order {
		if added[u] {
			entries = append(entries, b.entries[u])
		}
		if added[u] && b.missing {
			b.added = append(b.added, u)
		}
	}
	b.visits, b.order = b.visits[:0], nil
	clear(b.entries)
	done, err := b.store.Import(b.now, true, entries...)
	if err == nil && done.Refused > 0 {
		again := "remove the new store, and rebuild again"
		if b.missing {
			again = "and try again"
		}
		err = fmt.Errorf("%d URIs exceed the limits of their hosts: raise crawl.max_uris_per_host or the limits in [scope], %s",
			done.Refused, again)
	}
	return err
}

// loadEntries replaces the empty entries of URIs that the store already knows, from earlier batches.
func (b *rebuilder) loadEntries() error {
	if len(b.order) == 0 {
		return nil
	}
	return b.eachBatch(frontier.Selection{URIs: b.order}, func(list []frontier.Entry) error {
		for _, e := range list {
			b.entries[e.URI] = e
		}
		return nil
	})
}

// eachBatch calls f with the selected entries of the store, some at a time.
func (b *rebuilder) eachBatch(s frontier.Selection, f func([]frontier.Entry) error) error {
	for from := frontier.Cursor(""); ; {
		list, cursor, err := b.store.List(b.now, s, from, batchSize)
		if err != nil {
			return err
		}
		if err := f(list); err != nil {
			return err
		}
		if from = cursor; cursor == "" {
			return nil
		}
	}
}
