package admin

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// maxVisits is the maximum number of visits in progress in a status.
const maxVisits = 100

// maxUnreachable is the maximum number of unreachable hosts in a status.
const maxUnreachable = 20

// Status returns the state of the crawl.
func (w *Window) Status() api.Status {
	now := w.o.Now()
	s := api.Status{
		Version: w.o.Version, Instance: w.o.Config().Config.Instance(),
		Now: now.UTC(), Started: w.started.UTC(), Uptime: api.Seconds(now.Sub(w.started)),
		Condition: w.Condition(), Workers: w.workers(now), Config: w.config(),
	}
	for _, added := range w.o.Extensions {
		if added.Status != nil {
			added.Status(&s)
		}
	}
	w.countHosts(&s, now)
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Alarms = w.alarms.Raised()
	s.LastMinute = w.minute.Sum(now)
	s.LastHour = w.series.Sum(now.Add(-time.Hour), now).Counts.Plus(w.current)
	s.LastDay = w.series.Sum(now.Add(-24*time.Hour), now).Counts.Plus(w.current)
	s.Disk = api.Disk{Free: w.free, MinFree: w.o.Config().Config.Storage.MinFree}
	s.Disk.FullIn = w.series.FullIn(s.Disk)
	s.Archive = w.archive()
	return s
}

// archive returns the open archive files and the size of the store.
func (w *Window) archive() api.Archive {
	a := api.Archive{Files: []api.WARCFile{}, Store: w.storeSize()}
	if w.o.Stored != nil {
		w.o.Stored(&a)
	}
	return a
}

// Condition returns whether the crawl runs.
func (w *Window) Condition() api.Condition {
	at := w.o.Crawler.Status()
	s := api.Condition{State: api.Crawling, Since: api.Moment(at.Since), Until: api.Moment(at.Until)}
	switch {
	case at.Paused != "":
		s.State, s.Why = api.Paused, at.Paused
	case at.Held != "":
		s.State, s.Why = api.Held, at.Held
	}
	return s
}

// workers returns the visits in progress, longest first.
func (w *Window) workers(now time.Time) api.Workers {
	all := w.o.Crawler.InProgress()
	return api.Workers{All: w.o.Workers, Busy: len(all), Visits: shownVisits(all, now)}
}

// shownVisits returns the longest of some visits in progress, longest first.
func shownVisits(all []crawler.Visiting, now time.Time) []api.Visit {
	slices.SortFunc(all, func(a, b crawler.Visiting) int { return a.Claimed.Compare(b.Claimed) })
	list := []api.Visit{}
	for _, v := range all[:min(len(all), maxVisits)] {
		list = append(list, api.Visit{URI: v.URI.String(), Since: v.Claimed.UTC(), Seconds: api.Seconds(now.Sub(v.Claimed))})
	}
	return list
}

// countHosts fills in the counts of the frontier.
func (w *Window) countHosts(s *api.Status, now time.Time) {
	n := w.o.Frontier.Counts(now)
	s.Hosts = api.HostCounts{
		Known: n.Hosts, Ready: n.Ready, Snoozed: n.Snoozed, Busy: n.Busy, Idle: n.Idle, Paused: n.Paused,
		Down: n.Down,
	}
	s.Down = w.Unreachable(w.o.Frontier.HostsDown(now, 1))
	s.URIs = api.URICounts{
		Known: n.URIs, Queued: n.Queued, Forbidden: n.Forbidden, Held: n.Held,
		Due: w.counted(w.due.latest(now, w.o.Now)), Oldest: api.Moment(n.Oldest),
		Overdue: late(n.Oldest, now), OverdueReachable: late(n.OldestReachable, now),
	}
}

// config describes the configuration in force.
func (w *Window) config() api.Config {
	l := w.o.Config()
	return api.Config{
		Path: l.Config.Path, Digest: l.Config.Digest, Loaded: l.At.UTC(), Tried: api.Moment(l.Tried),
		Faults: append([]config.Fault{}, l.Faults...), Warnings: append([]config.Fault{}, l.Warnings...),
		AtRestart: l.Config.AtRestart,
	}
}

// hosts returns the selected hosts.
func (w *Window) hosts(q hostQuery) api.Hosts {
	now := w.o.Now()
	only := w.Chooses(q.only)
	views := slices.DeleteFunc(w.o.Frontier.Hosts(now), func(v frontier.HostView) bool {
		return !q.matches(v, now) || only != nil && !only(v.Host)
	})
	switch q.sort {
	case "overdue":
		slices.SortStableFunc(views, func(a, b frontier.HostView) int {
			return cmp.Compare(late(b.Oldest, now), late(a.Oldest, now))
		})
	case "uris":
		slices.SortStableFunc(views, func(a, b frontier.HostView) int { return cmp.Compare(b.URIs, a.URIs) })
	case "failures":
		slices.SortStableFunc(views, func(a, b frontier.HostView) int { return cmp.Compare(b.Failures, a.Failures) })
	}
	out := api.Hosts{Total: len(views), Hosts: []api.Host{}}
	views = views[min(q.offset, len(views)):]
	for _, v := range views[:min(q.limit, len(views))] {
		out.Hosts = append(out.Hosts, w.hostOf(v, now))
	}
	return out
}

func (w *Window) hostOf(v frontier.HostView, now time.Time) api.Host {
	return api.Host{
		Removed: w.names.Removed(v.Host),
		Host:    string(v.Host), State: v.State.String(), URIs: v.URIs, Queued: v.Queued,
		Forbidden: v.Forbidden, Held: v.Held, InProgress: v.InProgress,
		Slots: v.Slots, Failures: v.Failures, Paused: api.Moment(v.Paused), Ready: api.Moment(v.Ready),
		Oldest: api.Moment(v.Oldest), Rests: api.Moment(v.Rest), Overdue: late(v.Oldest, now),
		LastError: v.Reason, About: w.o.Config().Config.Site(v.Host),
	}.Named(w.o.Config().Config.HostsDir)
}

// Removed reports whether a host had a file of its own and has none any more.
func (w *Window) Removed(h uri.Host) bool { return w.names.Removed(h) }

// hostNames returns the hosts that are shown differently from their names, and the names of groups of hosts.
func (w *Window) hostNames() api.HostNames {
	views := w.o.Frontier.Hosts(w.o.Now())
	hosts := make([]uri.Host, len(views))
	for i, v := range views {
		hosts[i] = v.Host
	}
	out := w.names.Of(hosts)
	out.Sites = w.o.Config().Config.Sites().Names()
	return out
}

// updateNames remembers which hosts have a file.
func (w *Window) updateNames(c *config.Config) {
	if err := w.names.Update(c); err != nil {
		w.o.Log.Warn().Err(err).Msg("hosts whose file is deleted before the next start are not marked after it")
	}
}

// late returns how long ago due was, or 0 if due is zero or later.
func late(due, now time.Time) api.Seconds {
	if due.IsZero() {
		return 0
	}
	return api.Seconds(max(0, now.Sub(due)))
}

// siteRoutes returns the request for the state of some of the hosts.
func siteRoutes() []Route {
	return []Route{{
		Method: "GET", Path: api.Base + "/status/sites", Answer: api.SitesStatus{}, Params: Filtered(),
		Doc: "Returns the state of the hosts that a label, collection or owner selects, or of all. Overdue has their due URIs.",
		Serve: func(w *Window, r *http.Request) (any, error) {
			only := FilterOf(r)
			if only.IsZero() {
				return w.sitesStatus(nil)
			}
			if _, err := w.o.Config().Config.Sites().Choose(only); err != nil {
				return nil, Fault("%v", err)
			}
			return w.sitesStatus(w.Chooses(only))
		},
	}}
}

// sitesStatus returns the state of chosen hosts; of all hosts if chosen is nil.
func (w *Window) sitesStatus(chosen Choice) (api.SitesStatus, error) {
	now := w.o.Now()
	others := func(h uri.Host) bool { return chosen != nil && !chosen(h) }
	views := slices.DeleteFunc(w.o.Frontier.Hosts(now), func(v frontier.HostView) bool { return others(v.Host) })
	s := api.SitesStatus{Now: now.UTC(), Condition: w.Condition(), Alarms: w.AlarmsOf(chosen).Alarms}
	s.Down = w.Unreachable(views)
	var oldest, reachable time.Time
	for _, v := range views {
		s.Hosts.Add(v.State.String(), v.Failures > 0)
		s.URIs.Known += v.URIs
		s.URIs.Queued += v.Queued
		s.URIs.Forbidden += v.Forbidden
		s.URIs.Held += v.Held
		if !v.Oldest.IsZero() && v.State != frontier.Paused {
			oldest = earlier(oldest, v.Oldest)
			if v.Failures == 0 {
				reachable = earlier(reachable, v.Oldest)
			}
		}
	}
	s.URIs.Due, s.URIs.Oldest = -1, api.Moment(oldest)
	s.URIs.Overdue, s.URIs.OverdueReachable = late(oldest, now), late(reachable, now)
	visits := slices.DeleteFunc(w.o.Crawler.InProgress(), func(v crawler.Visiting) bool { return others(v.URI.Host()) })
	s.Busy, s.Visits = len(visits), shownVisits(visits, now)
	if w.o.Accounts == nil {
		return s, nil
	}
	var err error
	s.Today, err = today(w.o.Accounts, w.Ours(chosen), now)
	return s, err
}

// earlier returns the earlier one of two times. The first one may be zero: then there is only b.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// Unreachable returns the hosts that could not be reached, most failures first.
func (w *Window) Unreachable(views []frontier.HostView) []api.Unreachable {
	down := []api.Unreachable{}
	for _, h := range views {
		if h.Failures > 0 {
			down = append(down, api.Unreachable{
				Host: string(h.Host), Failures: h.Failures, Error: h.Reason, Removed: w.names.Removed(h.Host),
			})
		}
	}
	slices.SortStableFunc(down, func(a, b api.Unreachable) int { return cmp.Compare(b.Failures, a.Failures) })
	return down[:min(len(down), maxUnreachable)]
}

// Ours returns a function that reports whether a host is chosen, and belongs to this store. The store may still have
// what was learned of hosts that belong to another one.
func (w *Window) Ours(chosen Choice) Choice {
	if !w.o.Frontier.IsPart() {
		return chosen
	}
	var asked uri.Host // the rows of a host follow one another
	is := false
	return func(h uri.Host) bool {
		if h != asked {
			asked, is = h, w.o.Frontier.Has(h) && (chosen == nil || chosen(h))
		}
		return is
	}
}
