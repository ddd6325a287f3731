package history

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// knownInRow is how many visits in a row the store must know before the search for missing ones ends. The log of a
// memory table that is lost while a later one is intact leaves a gap; the later one holds some thousand visits.
const knownInRow = 10_000

// Missing describes the visits that a crawl log has and the store does not know. After an ordinary kill these are the
// few that were logged but not settled. If the store lost entries, they are all visits since it was last written.
type Missing struct {
	Visits       int64
	Bare         int64     // of these, without the thirteenth column: it has to be inferred
	Since, Until time.Time // when the first and the last of them were logged
	Last         time.Time // when the last line was logged, missing or not
	More         bool      // the search was interrupted: there may be more

	logs  []logPlace             // where the missing visits begin in each log, the oldest log first
	rests map[uri.Host]time.Time // when the hosts of missing visits may be asked again
}

// logPlace is a place in a log.
type logPlace struct {
	name   string
	offset int64
}

// missingSearch is a search for missing visits.
type missingSearch struct {
	store *frontier.Frontier
	c     *config.Config
	now   time.Time
	found Missing
	known int // visits in a row that the store knows

	lines []placedLine // that were read but not looked up yet, the last line first
}

// placedLine is a visit with its place in the log.
type placedLine struct {
	rebuiltVisit
	offset int64
}

// FindMissing compares the end of a crawl log with the store. It reads the log and its rotated files backwards, until
// the store knows ten thousand visits in a row, or until maxBytes bytes are read (0 = no limit), or ctx ends. With a
// limit it reads no compressed files, because each must be unpacked as a whole first.
func FindMissing(
	ctx context.Context, f *frontier.Frontier, c *config.Config, log string, maxBytes int64, now time.Time,
) (Missing, error) {
	s := missingSearch{store: f, c: c, now: now, found: Missing{rests: map[uri.Host]time.Time{}}}
	logs, err := crawllog.Recent(log)
	if err != nil {
		return Missing{}, err
	}
	read := int64(0)
	for _, name := range logs {
		if maxBytes > 0 && crawllog.IsCompressed(name) {
			s.found.More = true
			break
		}
		var errLookup error
		err := crawllog.Backwards(name, func(line []byte, offset int64) bool {
			read += int64(len(line)) + 1
			if maxBytes > 0 && read > maxBytes || ctx.Err() != nil {
				s.found.More = true
				return false
			}
			s.add(string(line), offset)
			if len(s.lines) >= batchSize {
				errLookup = s.lookUp(name)
			}
			return errLookup == nil && s.known < knownInRow
		})
		if err = errors.Join(err, errLookup, s.lookUp(name)); err != nil {
			return Missing{}, err
		}
		if s.found.More || s.known >= knownInRow {
			break
		}
	}
	slices.Reverse(s.found.logs)
	return s.found, nil
}

// add keeps a line if it is a visit.
func (s *missingSearch) add(line string, offset int64) {
	e, err := crawllog.Parse(line)
	if err != nil {
		return
	}
	if s.found.Last.IsZero() {
		s.found.Last = e.Logged
	}
	if u, err := uri.Parse(e.URI); err == nil && isVisit(e) && !s.store.IsForeign(u.Host()) {
		s.lines = append(s.lines, placedLine{rebuiltVisit{u, e, ""}, offset})
	}
}

// lookUp compares the visits that were read from a log with the store.
func (s *missingSearch) lookUp(log string) error {
	if len(s.lines) == 0 {
		return nil
	}
	b := rebuilder{store: s.store, now: s.now, entries: map[uri.URI]frontier.Entry{}}
	for _, l := range s.lines {
		b.order = append(b.order, l.uri)
	}
	if err := b.loadEntries(); err != nil {
		return err
	}
	for _, l := range s.lines {
		if isKnown(b.entries[l.uri], l.entry) {
			s.known++
			continue
		}
		s.known = 0
		s.miss(log, l)
	}
	s.lines = s.lines[:0]
	return nil
}

// miss counts a missing visit.
func (s *missingSearch) miss(log string, l placedLine) {
	m, e := &s.found, l.entry
	if m.Visits++; m.Visits == 1 {
		m.Until = e.Logged
	}
	if m.Since = e.Logged; e.Extra == nil {
		m.Bare++
	}
	if n := len(m.logs); n == 0 || m.logs[n-1].name != log {
		m.logs = append(m.logs, logPlace{name: log})
	}
	m.logs[len(m.logs)-1].offset = l.offset
	host := l.uri.Host()
	asked := min(AskedFor(e), frontier.MaxLoneRest) // one URI alone can ask for an hour
	if until := e.Logged.Add(max(s.c.ForHost(host, s.now).Politeness.LongestDelay(), asked)); until.After(m.rests[host]) {
		m.rests[host] = until
	}
}

// isVisit reports whether a line is the result of a request.
func isVisit(e crawllog.Entry) bool {
	refused := e.Status == aspects.StatusForbidden || e.Status == aspects.StatusOutOfScope
	return e.Schedule != nil && !refused && (e.Extra == nil || e.Extra.WaitEvaluator != "")
}

// isKnown reports whether an entry includes the visit of a line. Every visit is counted, so the count suffices, unless
// the URI was forgotten and found again.
func isKnown(e frontier.Entry, l crawllog.Entry) bool {
	began := l.Started
	if began.IsZero() {
		began = l.Logged
	}
	return e.Visits >= l.Schedule.Visits || !e.LastVisit.Truncate(time.Millisecond).Before(began)
}

// Rest lets hosts rest whose rests the store lost. Hosts of missing visits rest for their delay after the last of
// these, or for as long as it asked for. All other hosts rest for their delay after the last line of the log, because
// the answer to a request in flight may be lost too. Rest never shortens a rest.
func (m Missing) Rest(f *frontier.Frontier, c *config.Config, now time.Time) error {
	if m.Visits == 0 {
		return nil
	}
	rest := func(pattern string, until time.Time) error {
		if !until.After(now) {
			return nil
		}
		_, _, err := f.SteerHosts(now, pattern, frontier.HostAction{Verb: frontier.Rest, Until: until})
		return err
	}
	err := rest("*", m.Last.Add(c.ForHost("", now).Politeness.LongestDelay()))
	for host, until := range m.rests {
		err = errors.Join(err, rest(string(host), until))
	}
	return err
}

// AddMissing adds missing visits to the histories of their URIs, in the order of the log, and lets their hosts rest.
// Visits that the store knows are skipped, so AddMissing can be repeated. What bare lines lack follows from their other
// columns and from the archive.
func AddMissing(
	ctx context.Context, f *frontier.Frontier, c *config.Config, m Missing, now time.Time,
) (RebuildResult, error) {
	b := newRebuilder(f, c, now)
	b.missing = true
	if err := b.read(ctx, m.logs); err != nil {
		return b.result, err
	}
	return b.result, errors.Join(m.Rest(f, c, now), f.Sync())
}
