package admin

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/survey"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

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
	today, err := survey.Days(w.o.Accounts, "", w.ours(chosen), now.UTC().Truncate(24*time.Hour), time.Time{})
	s.Today = today.All
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

// ours returns a function that reports whether a host is chosen, and this shard counts it. After a division each shard
// has what all of them had learned before.
func (w *Window) ours(chosen Choice) Choice {
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
