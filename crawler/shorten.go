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
	tooLong   = 1.4 // a URI waits too long if it waits this many times as long as its host needs now
	moveBatch = 100 // number of due times that are moved at a time
)

// waits is the longest time to the next visit on a host, as a multiple of the wait that was asked for.
type waits struct{ important, other float64 }

// note counts a URI that waits.
func (l *waits) note(important bool, times float64) {
	if important {
		l.important = max(l.important, times)
	} else {
		l.other = max(l.other, times)
	}
}

// times returns how many times as long as asked a URI waits; 0 if it is due.
func times(w frontier.SurveyedURI, now time.Time) float64 {
	if w.LastVisit.IsZero() || w.Wait <= 0 || !w.Due.After(now) {
		return 0
	}
	return float64(w.Due.Sub(w.LastVisit)) / float64(w.Wait)
}

// shorten brings due times forward on hosts that carry more than when the waits were stretched.
func (e *Estimates) shorten(
	f *frontier.Frontier, cfg *config.Config, all map[uri.Host]*waits, now time.Time, stop <-chan struct{},
) error {
	for h, longest := range all {
		p := cfg.ForHost(h, now).Politeness
		important, other := e.of(h, p, true).Stretch, e.of(h, p, false).Stretch
		if longest.important < tooLong*important && longest.other < tooLong*other {
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
	if w.Held || times(w, s.now) < tooLong*by {
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
		n := min(moveBatch, len(found))
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

// maxSection is the maximum length of the name of a section, in bytes.
const maxSection = 24

// Important reports whether a URI leads to others, so that its wait is kept while the waits of the host are stretched:
// a seed, the front page of the host, a section, a feed or a sitemap.
func Important(u uri.URI, hops uri.HopPath, contentType string, source bool) bool {
	mime := strings.ToLower(contentType)
	switch {
	case hops == "", source, strings.Contains(mime, "rss"), strings.Contains(mime, "atom"):
		return true
	case !strings.Contains(mime, "html"):
		return false
	}
	return u.RequestTarget() == "/" || isSection(u.RequestTarget(), hops)
}

// isSection reports whether a page has an address as sections have it. It is at most one link away from a seed, and its
// path is one short name without digits and with at most one hyphen: /politics, /local-news/. The titles of articles
// are longer.
func isSection(target string, hops uri.HopPath) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(target, "/"), "/")
	return hops.Count(uri.Link) <= 1 && hops.Count(uri.Embed) == 0 && name != "" && len(name) <= maxSection &&
		!strings.ContainsAny(name, "0123456789/?&=%_.") && strings.Count(name, "-") <= 1
}

// Factors says how the waits of a host are stretched for one URI.
type Factors struct {
	Stretch float64 // the factor of its wait; 1 = not stretched
	First   bool    // the URI goes before the others of its host, whose waits are stretched more
}

// Of returns how the wait of a URI is stretched. r is its record after the visit.
func (e *Estimates) Of(r frontier.Record, p config.Politeness) Factors {
	return e.of(r.URI.Host(), p, Important(r.URI, r.Hops, r.ContentType, r.Source != ""))
}

// of returns how a host stretches a wait.
func (e *Estimates) of(h uri.Host, p config.Politeness, important bool) Factors {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.hosts[keyOf(h, p)]
	if b == nil {
		return Factors{Stretch: 1}
	}
	all, leading := b.Stretch(p.Valence, usualPace(p)), b.StretchImportant(p.Valence, usualPace(p))
	if important {
		return Factors{Stretch: leading, First: all > leading}
	}
	return Factors{Stretch: all}
}
