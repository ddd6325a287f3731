// Package rebuild makes a lost store again from the crawl logs and the archive.
//
// [Store] reads every line of the logs, in the order of time, and adds it to the history of its URI as the visit
// itself did. Then it looks up the last payload of each URI in the archive. The line of a visit is written after its
// records and before it is settled (law 1), so the logs know every visit that the lost store knew.
//
// [FindMissing] and [AddMissing] do the same for the last visits only, if the store lost these.
//
// Lines without the thirteenth column (log.extra_info) suffice: [history.Infer] infers most of it from the other
// columns, and the archive has the place of the record.
//
// The headers in the archive teach again how reliable the headers of each host are, and the lines what similar URIs
// have in common. [Links] also reads the archived pages again, for the URIs that were found but never visited.
//
// What neither a log nor the archive holds cannot be rebuilt, such as holds and pauses. The crawl learns most of the
// rest again.
package rebuild

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
	"github.com/arcrawl/arcrawl/internal/textfile"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// batchSize is how many lines, or URIs, are read before something is written.
	batchSize = 1000
	// maxLine is the maximum length of a line of a log, in bytes. A longer line is an error.
	maxLine = 1 << 20
)

// Result counts what was rebuilt.
type Result struct {
	Logs     int   // files that have a line of a crawl log
	Lines    int64 // visits
	BadLines int64 // lines that are not lines of a crawl log
	URIs     int64
	Hosts    int64
	Payloads int64 // URIs whose last payload is in the archive
	Missing  int64 // URIs whose last payload should be in the archive, but was not found
}

// builder is a store that is being rebuilt.
type builder struct {
	learned
	store   *frontier.Frontier
	config  *config.Config
	now     time.Time
	result  Result
	library *index.Library // the archive; nil until it is opened

	// The visits that were read but not stored yet, and the entries of their URIs.
	visits  []visit
	entries map[uri.URI]frontier.Entry // also of the pages that they were found on
	order   []uri.URI                  // of the entries

	missing bool      // add only visits that the store does not know
	added   []uri.URI // whose entries got such visits

	inferred map[uri.URI]bool // URIs with a line that lacks the thirteenth column: only the archive knows its record
}

func newBuilder(f *frontier.Frontier, c *config.Config, l learned, now time.Time) builder {
	return builder{
		learned: l, store: f, config: c, now: now, entries: map[uri.URI]frontier.Entry{}, inferred: map[uri.URI]bool{},
	}
}

// visit is one line of a log.
type visit struct {
	uri   uri.URI
	entry crawllog.Entry
	line  string
}

// Store fills an empty store from crawl logs, which may be gzipped, and from the archive of the configuration. Hosts
// then rest as after a crash, because nobody knows when they were last visited.
func Store(
	ctx context.Context, f *frontier.Frontier, c *config.Config, logs []string, now time.Time,
) (r Result, err error) {
	if logs, err = sortByTime(logs); err != nil {
		return Result{}, err
	}
	l, err := openLearned(f)
	if err != nil {
		return Result{}, err
	}
	b := newBuilder(f, c, l, now)
	defer func() { err = errors.Join(err, b.close()) }()
	b.result.Logs = len(logs)
	for _, log := range logs {
		if err := b.readLog(ctx, log, 0); err != nil {
			return b.result, err
		}
	}
	if err := b.flush(); err != nil {
		return b.result, err
	}
	n := f.Counts(now)
	b.result.URIs, b.result.Hosts = n.URIs, n.Hosts
	if err := b.readArchive(ctx, nil); err != nil {
		return b.result, err
	}
	rest := max(c.ForHost("", now).Politeness.MaxDelay, time.Second)
	_, _, err = f.SteerHosts(now, "*", frontier.HostAction{Verb: frontier.Rest, Until: now.Add(rest)})
	return b.result, errors.Join(err, f.Sync())
}

// sortByTime sorts logs by the times of their first lines. It drops files without a line of a crawl log.
func sortByTime(logs []string) ([]string, error) {
	first := map[string]time.Time{}
	var sorted []string
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
			sorted = append(sorted, log)
		case err != nil:
			return nil, err
		}
	}
	if len(sorted) == 0 {
		return nil, fmt.Errorf("no crawl log among %q", logs)
	}
	slices.SortFunc(sorted, func(a, b string) int { return cmp.Or(first[a].Compare(first[b]), strings.Compare(a, b)) })
	return sorted, nil
}

// eachLine calls f with each line of a file from an offset on, until f returns an error. The file may be gzipped.
func eachLine(name string, offset int64, f func(line string) error) (err error) {
	file, err := textfile.Open(name)
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
func (b *builder) readLog(ctx context.Context, log string, offset int64) error {
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
		if b.visits = append(b.visits, visit{u, e, line}); len(b.visits) < batchSize {
			return nil
		}
		return errors.Join(b.storeVisits(ctx), ctx.Err())
	})
	return errors.Join(err, b.storeVisits(ctx))
}

// want makes the next storeVisits load the entry of a URI.
func (b *builder) want(u uri.URI) {
	if _, ok := b.entries[u]; !ok {
		b.entries[u] = frontier.Entry{Record: frontier.Record{URI: u}}
		b.order = append(b.order, u)
	}
}

// countDay adds a line to the counts of its host and day.
func (b *builder) countDay(u uri.URI, e crawllog.Entry, line string) error {
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
func (b *builder) storeVisits(ctx context.Context) error {
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
func (b *builder) loadEntries() error {
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
func (b *builder) eachBatch(s frontier.Selection, f func([]frontier.Entry) error) error {
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
