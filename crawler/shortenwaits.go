package crawler

import (
	"fmt"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	waitsTooLong = 1.4 // a URI waits too long if it waits this many times as long as its host needs now
	shortenBatch = 100 // number of due times that are moved at a time
)

// longestWaits is the longest time to the next visit on a host, as a multiple of the wait that was asked for.
type longestWaits struct{ important, other float64 }

// note counts a URI that waits.
func (l *longestWaits) note(important bool, times float64) {
	if important {
		l.important = max(l.important, times)
	} else {
		l.other = max(l.other, times)
	}
}

// timesAsLong returns how many times as long as asked a URI waits; 0 if it is due.
func timesAsLong(w frontier.SurveyedURI, now time.Time) float64 {
	if w.LastVisit.IsZero() || w.Wait <= 0 || !w.Due.After(now) {
		return 0
	}
	return float64(w.Due.Sub(w.LastVisit)) / float64(w.Wait)
}

// shorten brings due times forward on hosts that carry more than when the waits were stretched.
func (e *estimates) shorten(
	f *frontier.Frontier, cfg *config.Config, all map[uri.Host]*longestWaits, now time.Time, stop <-chan struct{},
) error {
	for h, longest := range all {
		p := cfg.ForHost(h, now).Politeness
		important, other := e.of(h, p, true).Stretch, e.of(h, p, false).Stretch
		if longest.important < waitsTooLong*important && longest.other < waitsTooLong*other {
			continue
		}
		s := shortener{f: f, now: now, important: important, other: other}
		for from := frontier.Cursor(""); ; {
			next, err := f.Survey(h, from, s.check)
			if err == nil {
				err = s.move(stop)
			}
			if err != nil {
				return fmt.Errorf("bring due times of %s forward: %w", h, err)
			}
			if from = next; next == "" {
				break
			}
		}
	}
	return nil
}

// shortener finds the URIs of a host that wait too long.
type shortener struct {
	f                *frontier.Frontier
	now              time.Time
	important, other float64 // factors of the waits
	found            []frontier.Candidate
}

// check notes a URI that seems to wait too long.
func (s *shortener) check(w frontier.SurveyedURI) {
	by := s.other
	if Important(w.URI, w.Hops, w.ContentType, w.Source) {
		by = s.important
	}
	if w.Held || timesAsLong(w, s.now) < waitsTooLong*by {
		return
	}
	due := w.LastVisit.Add(time.Duration(by * float64(w.Wait)))
	s.found = append(s.found, frontier.Candidate{URI: w.URI, Hops: w.Hops, Due: due, Sooner: true})
}

// move brings the due times of the noted URIs forward whose wait was stretched.
func (s *shortener) move(stop <-chan struct{}) error {
	found := s.found
	s.found = nil
	for len(found) > 0 {
		select {
		case <-stop:
			return nil
		default:
		}
		n := min(shortenBatch, len(found))
		var batch []frontier.Candidate
		for _, c := range found[:n] {
			r, ok, err := s.f.Get(c.URI)
			if err != nil {
				return err
			}
			if ok && isStretched(&r.History) {
				batch = append(batch, c)
			}
		}
		if _, err := s.f.Add(s.now, batch...); err != nil {
			return err
		}
		found = found[n:]
	}
	return nil
}

// isStretched reports whether the wait until a URI is due was stretched, and perhaps shortened since then. The wait
// after a failure is not.
func isStretched(h *frontier.History) bool {
	return h.Failures == 0 && h.Gone == 0 &&
		(strings.Contains(h.Why, evaluators.StretchedNote) || h.Why == frontier.WhySooner)
}
