package crawler

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
	Logs         []LogPart // where the missing visits begin in each log, the oldest log first

	rests map[uri.Host]time.Time // when the hosts of missing visits may be asked again
}

// LogPart is a log from an offset on.
type LogPart struct {
	Name   string
	Offset int64
}

// missingSearch is a search for missing visits.
type missingSearch struct {
	store *frontier.Frontier
	c     *config.Config
	now   time.Time
	found Missing
	known int // visits in a row that the store knows
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
			errLookup = s.lookUp(name, string(line), offset)
			return errLookup == nil && s.known < knownInRow
		})
		if err = errors.Join(err, errLookup); err != nil {
			return Missing{}, err
		}
		if s.found.More || s.known >= knownInRow {
			break
		}
	}
	slices.Reverse(s.found.Logs)
	return s.found, nil
}

// lookUp compares a line with the store if it is a visit.
func (s *missingSearch) lookUp(log, line string, offset int64) error {
	e, err := crawllog.Parse(line)
	if err != nil {
		return nil //nolint:nilerr // a line that is no visit
	}
	if s.found.Last.IsZero() {
		s.found.Last = e.Logged
	}
	u, err := uri.Parse(e.URI)
	if err != nil || !IsVisit(e) || s.store.IsForeign(u.Host()) {
		return nil //nolint:nilerr // a line that is no visit of this store
	}
	r, _, err := s.store.Get(u)
	if err != nil {
		return err
	}
	if Remembers(r, e) {
		s.known++
		return nil
	}
	s.known = 0
	s.miss(LogPart{log, offset}, u.Host(), e)
	return nil
}

// miss counts a missing visit.
func (s *missingSearch) miss(at LogPart, host uri.Host, e crawllog.Entry) {
	m := &s.found
	if m.Visits++; m.Visits == 1 {
		m.Until = e.Logged
	}
	if m.Since = e.Logged; e.Extra == nil {
		m.Bare++
	}
	if n := len(m.Logs); n == 0 || m.Logs[n-1].Name != at.Name {
		m.Logs = append(m.Logs, at)
	}
	m.Logs[len(m.Logs)-1] = at
	asked := min(e.AskedFor(), frontier.MaxLoneRest) // one URI alone can ask for an hour
	if until := e.Logged.Add(max(s.c.ForHost(host, s.now).Politeness.LongestDelay(), asked)); until.After(m.rests[host]) {
		m.rests[host] = until
	}
}

// IsVisit reports whether a line is the result of a request.
func IsVisit(l crawllog.Entry) bool {
	refused := l.Status == aspects.StatusForbidden || l.Status == aspects.StatusOutOfScope
	return l.Schedule != nil && !refused && (l.Extra == nil || l.Extra.WaitEvaluator != "")
}

// Remembers reports whether the record of a URI includes the visit of a line. Every visit is counted, so the count
// suffices, unless the URI was forgotten and found again.
func Remembers(r frontier.Record, l crawllog.Entry) bool {
	return r.Visits >= l.Schedule.Visits || !r.LastVisit.Truncate(time.Millisecond).Before(l.Began())
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
