package history

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// batchSize is how many lines, or URIs, are read before something is written.
	batchSize = 1000
	// maxLine is the maximum length of a line of a log, in bytes. A longer line is an error.
	maxLine = 1 << 20
)

// RebuildResult counts what was rebuilt.
type RebuildResult struct {
	Logs     int   // files that have a line of a crawl log
	Lines    int64 // visits
	BadLines int64 // lines that are not lines of a crawl log
	URIs     int64
	Hosts    int64
	Payloads int64 // URIs whose last payload is in the archive
	Missing  int64 // URIs whose last payload should be in the archive, but was not found
}

// rebuilder is a store that is being rebuilt.
type rebuilder struct {
	store   *frontier.Frontier
	config  *config.Config
	now     time.Time
	result  RebuildResult
	library *index.Library // the archive; nil until it is opened

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

func newRebuilder(f *frontier.Frontier, c *config.Config, now time.Time) rebuilder {
	return rebuilder{
		store: f, config: c, now: now, entries: map[uri.URI]frontier.Entry{}, inferred: map[uri.URI]bool{},
		days: hosts.OpenDaily(f.DB()), similar: hosts.OpenSimilar(f.DB()), book: hosts.OpenReputation(f.DB()),
	}
}

// read adds the visits of logs to the store, and then what only the archive knows of their URIs.
func (b *rebuilder) read(ctx context.Context, logs []logPlace) (err error) {
	defer func() {
		if b.library != nil {
			err = errors.Join(err, b.library.Close())
		}
	}()
	for _, log := range logs {
		b.result.Logs++
		if err := b.readLog(ctx, log.name, log.offset); err != nil {
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

// Rebuild fills an empty store from crawl logs, which may be gzipped, and from the archive of the configuration. Hosts
// then rest as after a crash, because nobody knows when they were last visited.
func Rebuild(
	ctx context.Context, f *frontier.Frontier, c *config.Config, logs []string, now time.Time,
) (RebuildResult, error) {
	sorted, err := sortByTime(logs)
	if err != nil {
		return RebuildResult{}, err
	}
	b := newRebuilder(f, c, now)
	if err := b.read(ctx, sorted); err != nil {
		return b.result, err
	}
	rest := max(c.ForHost("", now).Politeness.MaxDelay, time.Second)
	_, _, err = f.SteerHosts(now, "*", frontier.HostAction{Verb: frontier.Rest, Until: now.Add(rest)})
	return b.result, errors.Join(err, f.Sync())
}

// sortByTime sorts logs by the times of their first lines. It drops files without a line of a crawl log.
func sortByTime(logs []string) ([]logPlace, error) {
	first := map[string]time.Time{}
	var sorted []logPlace
	for _, log := range logs {
		errFound := errors.New("found")
		err := eachLine(log, 0, func(line string) error {
			e, err := crawllog.Parse(line)
			if err != nil {
				return nil //nolint:nilerr // look at the next line
			}
			first[log] = e.Logged
			return errFound
		})
		switch {
		case errors.Is(err, errFound):
			sorted = append(sorted, logPlace{name: log})
		case err != nil:
			return nil, err
		}
	}
	if len(sorted) == 0 {
		return nil, fmt.Errorf("no crawl log among %q", logs)
	}
	slices.SortFunc(sorted, func(a, b logPlace) int {
		return cmp.Or(first[a.name].Compare(first[b.name]), strings.Compare(a.name, b.name))
	})
	return sorted, nil
}

// eachLine calls f with each line of a file from an offset on, until f returns an error. The file may be gzipped.
func eachLine(name string, offset int64, f func(line string) error) (err error) {
	file, err := fileio.OpenText(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := io.CopyN(io.Discard, file, offset); err != nil {
		return fmt.Errorf("read %s from byte %d: %w", name, offset, err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if err := f(lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// readLog adds the visits of a log, from an offset on, to the store.
func (b *rebuilder) readLog(ctx context.Context, log string, offset int64) error {
	err := eachLine(log, offset, func(line string) error {
		e, err := crawllog.Parse(line)
		u, errURI := uri.Parse(e.URI)
		if err != nil || errURI != nil {
			b.result.BadLines++
			return nil
		}
		if b.missing && !isVisit(e) {
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
	day := stats.DailyCount(&raw)
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
		if b.missing && isKnown(b.entries[v.uri], v.entry) {
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
