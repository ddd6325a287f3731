package admin

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of what is no trouble yet.
const (
	leastFailures = 3             // times in a row that a host could not be reached
	leastOverdue  = time.Hour     // of the URI that has been due for longest
	leastDue      = 100           // URIs that are due
	growth        = 1.1           // of what is due, within growthTime
	growthTime    = 6 * time.Hour // over which growth is measured
	soonFull      = 24 * time.Hour
	silenceEvery  = time.Hour      // between two looks for silence, each of which reads every URI
	gapLasts      = 24 * time.Hour // how long a gap of a feed is a trouble
	maxGaps       = 1000
)

// troubles lists what is wrong at this moment.
func (w *Window) troubles(now time.Time) []trouble {
	stand := w.o.Crawler.Status()
	var list []trouble
	add := func(kind, about, format string, args ...any) {
		list = append(list, trouble{kind, about, fmt.Sprintf(format, args...)})
	}
	switch {
	case stand.Uplink:
		add(alarmUplink, "", "%s", stand.Held)
	case stand.Held != "":
		add(alarmStandstill, "", "the crawl stands still: %s", stand.Held)
	}
	if l := w.o.Config(); len(l.Faults) > 0 {
		add(alarmConfig, "", "the configuration on disk has %d faults and is not in force, the last good one is; arcrawl check lists them", len(l.Faults))
	}
	if !stand.Uplink {
		for _, h := range w.o.Frontier.Hosts(now) {
			if h.Failures >= leastFailures {
				add(alarmHost, string(h.Host), "%s could not be reached %d times in a row; its URIs keep their places", h.Host, h.Failures)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.diskTrouble(add)
	w.backlogTrouble(add, now)
	for u, at := range w.gaps {
		if now.Sub(at) > gapLasts {
			delete(w.gaps, u)
			continue
		}
		add(alarmFeedGap, u, "the feed %s turned over between two visits at %s: items may have come and gone; its wait may be too long", u, clock(at))
	}
	return append(list, w.silences...)
}

// diskTrouble looks at the space that is left. The lock is held, as for what follows.
func (w *Window) diskTrouble(add func(kind, about, format string, args ...any)) {
	d := Disk{Free: w.free, MinFree: w.o.Config().Config.Storage.MinFree}
	switch in := w.series.fullIn(d); {
	case d.Free < 0:
	case d.Free < 2*d.MinFree:
		add(alarmDisk, "", "%d MB of disk space are free, and below %d MB the crawl stands still: free some space", d.Free>>20, d.MinFree>>20)
	case in != nil && time.Duration(*in) < soonFull:
		add(alarmDisk, "", "the disk is full in %s at the pace of the last day: %d MB are free", text(time.Duration(*in)), d.Free>>20)
	}
}

// backlogTrouble compares what is due with some hours ago.
func (w *Window) backlogTrouble(add func(kind, about, format string, args ...any), now time.Time) {
	recent := w.series.since(now.Add(-growthTime - time.Minute))
	if len(recent) < int(growthTime/time.Minute)/2 || w.o.Crawler.Status() != (crawler.Status{}) {
		return
	}
	then, at := recent[0].Gauges, recent[len(recent)-1].Gauges
	late := time.Duration(at.Overdue) * time.Second
	if at.Due < leastDue || late < leastOverdue || float64(at.Due) < growth*float64(then.Due) || at.Overdue <= then.Overdue {
		return
	}
	add(alarmBacklog, "", "the backlog grows: %d URIs are due, %d were %s ago, and the latest is %s overdue; arcrawl overdue tells what would let it end",
		at.Due, then.Due, text(growthTime), text(late))
}

// listen looks from time to time whether hosts and seeds have been silent for too long.
func (w *Window) listen(now time.Time) error {
	w.mu.Lock()
	wait := now.Before(w.listened.Add(silenceEvery))
	if !wait {
		w.listened = now
	}
	w.mu.Unlock()
	if wait || w.o.Crawler.Status() != (crawler.Status{}) {
		return nil
	}
	s, err := w.surveyed("", silenceEvery/2)
	if err != nil {
		return err
	}
	seeds := w.seedLives()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silences = nil
	for host, l := range s.lives {
		if chance, yes := l.silent(w.pulses[string(host)], now); yes {
			w.silences = append(w.silences, trouble{alarmSilence, string(host), fmt.Sprintf(
				"nothing new from %s for %s, where %.1f versions a day came; the chance of that is %.0e. Is it blocking us, or its address another?",
				host, text(now.Sub(l.last)), float64(l.changes)/l.last.Sub(l.first).Hours()*24, chance)})
		}
	}
	for u, l := range seeds {
		if chance, yes := l.silent(w.pulses[u], now); yes {
			w.silences = append(w.silences, trouble{alarmFrontPage, u, fmt.Sprintf(
				"%s has not changed for %s, where %.1f versions a day came; the chance of that is %.0e. arcrawl why %s tells more",
				u, text(now.Sub(l.last)), float64(l.changes)/l.last.Sub(l.first).Hours()*24, chance, u)})
		}
	}
	slices.SortFunc(w.silences, func(a, b trouble) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.about, b.about)) })
	return keepJSON(w.o.Dir, pulseFile, w.pulses)
}

// seedLives is how often each seed changed.
func (w *Window) seedLives() map[string]life {
	lives := map[string]life{}
	for _, s := range w.o.Config().Config.Seeds {
		r, ok, err := w.o.Frontier.Get(s.URI)
		if err == nil && ok {
			lives[s.URI.String()] = life{int64(r.Versions - 1), r.FirstSeen, r.LastChange}
		}
	}
	return lives
}

// lives sums up how often something of a host changed.
type lives map[uri.Host]life

func (l lives) add(x frontier.SurveyedURI) {
	if x.Versions == 0 {
		return
	}
	h, known := l[x.Host]
	h.changes += int64(x.Versions - 1)
	if !known || x.FirstSeen.Before(h.first) {
		h.first = x.FirstSeen
	}
	h.last = later(h.last, x.LastChange)
	l[x.Host] = h
}

// watch turns what is wrong into alarms, and tells what is raised and cleared.
func (w *Window) watch(now time.Time) {
	if err := w.listen(now); err != nil {
		w.o.Log.Error().Err(err).Msg("it could not be looked whether hosts are silent")
	}
	troubles := w.troubles(now)
	w.mu.Lock()
	changes := w.alarms.see(now, troubles)
	w.mu.Unlock()
	for _, c := range changes {
		if c.Raised {
			w.o.Log.Warn().Str("alarm", c.Kind).Str("about", c.About).Msg(c.Text)
		} else {
			w.o.Log.Info().Str("alarm", c.Kind).Str("about", c.About).Msg("no longer: " + c.Text)
		}
		if w.o.Notify != nil {
			w.o.Notify(Notice{Alarm: c.Alarm, Raised: c.Raised, At: now.UTC()})
		}
	}
}
