package admin

import (
	"cmp"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
)

// maxVisits is the maximum number of visits in progress in a status.
const maxVisits = 100

// status returns the state of the crawl.
func (w *Window) status() Status {
	now := w.o.Now()
	s := Status{
		Version: w.o.Version, Now: now.UTC(), Started: w.started.UTC(), Uptime: Seconds(now.Sub(w.started)),
		Stand: w.stand(), Workers: w.workers(now), Config: w.config(),
	}
	w.countHosts(&s, now)
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Alarms = w.alarms.raised()
	s.LastMinute = w.minute.sum(now)
	s.LastHour = w.series.sum(now.Add(-time.Hour), now).Counts.plus(w.current)
	s.LastDay = w.series.sum(now.Add(-24*time.Hour), now).Counts.plus(w.current)
	s.Disk = Disk{Free: w.free, MinFree: w.o.Config().Config.Storage.MinFree}
	s.Disk.FullIn = w.series.fullIn(s.Disk)
	s.Archive = w.archive()
	return s
}

// archive returns the open archive files and the size of the store.
func (w *Window) archive() Archive {
	a := Archive{Files: []WARCFile{}, Store: w.storeSize()}
	if w.o.Archive == nil {
		return a
	}
	for _, f := range w.o.Archive.Growing() {
		a.Files = append(a.Files, WARCFile{Name: f.Name, Opened: f.Opened.UTC(), Size: f.Size})
	}
	return a
}

// alarmsRaised returns the raised alarms.
func (w *Window) alarmsRaised() Alarms {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Alarms{Alarms: w.alarms.raised()}
}

// stand returns whether the crawl runs.
func (w *Window) stand() Stand {
	at := w.o.Crawler.Status()
	s := Stand{State: Crawling, Since: moment(at.Since), Until: moment(at.Until)}
	switch {
	case at.Paused != "":
		s.State, s.Why = Paused, at.Paused
	case at.Held != "":
		s.State, s.Why = Held, at.Held
	}
	return s
}

// workers returns the visits in progress, longest first.
func (w *Window) workers(now time.Time) Workers {
	all := w.o.Crawler.InProgress()
	slices.SortFunc(all, func(a, b crawler.Visiting) int { return a.Claimed.Compare(b.Claimed) })
	out := Workers{All: w.o.Workers, Busy: len(all), Visits: []Visit{}}
	for _, v := range all[:min(len(all), maxVisits)] {
		out.Visits = append(out.Visits, Visit{URI: v.URI.String(), Since: v.Claimed.UTC(), Seconds: Seconds(now.Sub(v.Claimed))})
	}
	return out
}

// countHosts fills in the counts of the frontier.
func (w *Window) countHosts(s *Status, now time.Time) {
	n := w.o.Frontier.Counts(now)
	s.Hosts = HostCounts{Known: n.Hosts, Ready: n.Ready, Snoozed: n.Snoozed, Busy: n.Busy, Idle: n.Idle, Paused: n.Paused}
	for _, h := range w.o.Frontier.Hosts(now) {
		if h.Failures > 0 {
			s.Hosts.Down++
		}
	}
	s.URIs = URICounts{Known: n.URIs, Queued: n.Queued, Forbidden: n.Forbidden, Held: n.Held, Due: w.countDue(now), Oldest: moment(n.Oldest), Overdue: late(n.Oldest, now)}
}

// fullIn predicts when the space will be used up, from its change over the known minutes. It returns nil if it cannot.
func (s *series) fullIn(d Disk) *Seconds {
	known := slices.DeleteFunc(slices.Clone(s.minutes), func(p Point) bool { return p.Gauges.DiskFree < 0 })
	if len(known) < 10 || d.Free < 0 {
		return nil
	}
	first, last := known[0], known[len(known)-1]
	used := first.Gauges.DiskFree - last.Gauges.DiskFree
	if used <= 0 {
		return nil
	}
	perByte := float64(last.Start.Sub(first.Start)) / float64(used)
	left := min(max(0, float64(d.Free-d.MinFree))*perByte, float64(100*365*24*time.Hour))
	in := Seconds(left)
	return &in
}

// config describes the configuration in force.
func (w *Window) config() Config {
	l := w.o.Config()
	return Config{
		Path: l.Config.Path, Digest: l.Config.Digest, Loaded: l.At.UTC(), Tried: moment(l.Tried),
		Faults: Faults(l.Faults), Warnings: Faults(l.Config.Warnings),
	}
}

// Faults converts faults for the API.
func Faults(list []config.Fault) []Fault {
	out := make([]Fault, len(list))
	for i, f := range list {
		out[i] = Fault(f)
	}
	return out
}

// hosts returns the selected hosts.
func (w *Window) hosts(q hostQuery) Hosts {
	now := w.o.Now()
	views := slices.DeleteFunc(w.o.Frontier.Hosts(now), func(v frontier.HostView) bool { return !q.matches(v, now) })
	switch q.sort {
	case "overdue":
		slices.SortStableFunc(views, func(a, b frontier.HostView) int { return cmp.Compare(late(b.Oldest, now), late(a.Oldest, now)) })
	case "uris":
		slices.SortStableFunc(views, func(a, b frontier.HostView) int { return cmp.Compare(b.URIs, a.URIs) })
	case "failures":
		slices.SortStableFunc(views, func(a, b frontier.HostView) int { return cmp.Compare(b.Failures, a.Failures) })
	}
	out := Hosts{Total: len(views), Hosts: []Host{}}
	views = views[min(q.offset, len(views)):]
	for _, v := range views[:min(q.limit, len(views))] {
		out.Hosts = append(out.Hosts, hostOf(v, now))
	}
	return out
}

func hostOf(v frontier.HostView, now time.Time) Host {
	return Host{
		Host: string(v.Host), State: v.State.String(), URIs: v.URIs, Queued: v.Queued, Forbidden: v.Forbidden, Held: v.Held, InProgress: v.InProgress,
		Slots: v.Slots, Failures: v.Failures, Paused: moment(v.Paused), Ready: moment(v.Ready), Oldest: moment(v.Oldest), Rests: moment(v.Rest), Overdue: late(v.Oldest, now),
	}
}

// late returns how long ago due was, or 0 if due is zero or later.
func late(due, now time.Time) Seconds {
	if due.IsZero() {
		return 0
	}
	return Seconds(max(0, now.Sub(due)))
}

// moment returns a time for JSON, or nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
