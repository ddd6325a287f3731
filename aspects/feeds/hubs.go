package feeds

import (
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

const (
	// hubEvery is the minimum time between two requests to a hub.
	hubEvery = 2 * time.Second
	// maxFailures is the number of requests in a row that fail until a hub is dropped, which takes five days. dropTime is
	// how long it is not asked then.
	maxFailures = 16
	dropTime    = 7 * 24 * time.Hour
	// maxHubs bounds the hubs in memory.
	maxHubs = 10_000
	// maxPerDomain is the maximum number of subscriptions to the feeds of one registrable domain.
	maxPerDomain = 200
)

// hubState says when a hub may be asked.
type hubState struct {
	next     time.Time // of the next request
	failures int       // in a row
	dropped  time.Time // when the hub may be asked again
}

// mayUse reports whether a hub is one that a feed may name. A hub elsewhere than at the standard port of https could be
// any service, which would receive requests because a stranger's page says so.
func (s *Subscriber) mayUse(hub uri.URI) bool {
	return s.o.AnyHub || hub.Scheme() == "https" && hub.Port() == "443"
}

// hubOf returns the state of a hub, nil if there are too many hubs. The mutex is held.
func (s *Subscriber) hubOf(hub uri.URI, now time.Time) *hubState {
	h := s.hubs[hub.Host()]
	if h == nil && len(s.hubs) >= maxHubs {
		for name, old := range s.hubs {
			if !old.dropped.After(now) && !old.next.After(now) && old.failures == 0 {
				delete(s.hubs, name)
			}
		}
	}
	if h == nil && len(s.hubs) < maxHubs {
		h = &hubState{}
		s.hubs[hub.Host()] = h
	}
	return h
}

// mayOffer reports whether there is a place for a subscription. The mutex is held.
func (s *Subscriber) mayOffer(now time.Time, feed, hub uri.URI) bool {
	if hub.IsZero() || !s.mayUse(hub) || len(s.subs) >= s.o.Max || s.perDomain[feed.Domain()] >= maxPerDomain {
		return false
	}
	h := s.hubOf(hub, now)
	return h != nil && !h.dropped.After(now)
}

// put adds a subscription. The mutex is held.
func (s *Subscriber) put(sub *subscription) {
	s.subs[sub.id], s.byFeed[sub.feed] = sub, sub
	s.perDomain[sub.feed.Domain()]++
}

// remove removes a subscription. The mutex is held.
func (s *Subscriber) remove(sub *subscription) {
	delete(s.subs, sub.id)
	delete(s.byFeed, sub.feed)
	domain := sub.feed.Domain()
	if s.perDomain[domain]--; s.perDomain[domain] <= 0 {
		delete(s.perDomain, domain)
	}
}

// answered notes whether a hub has taken a request. A hub that fails rests, and one that fails too often in a row is
// dropped with all its subscriptions; dropped is true then. The mutex is held.
func (s *Subscriber) answered(hub uri.URI, now time.Time, ok bool) (dropped bool) {
	h := s.hubOf(hub, now)
	if h == nil {
		return false
	}
	if ok {
		h.failures = 0
		return false
	}
	h.next = now.Add(min(firstRetry<<h.failures, maxRetry)) // all its subscriptions wait
	if h.failures++; h.failures < maxFailures {
		return false
	}
	h.failures, h.dropped = 0, now.Add(dropTime)
	for _, sub := range s.subs {
		if sub.hub.Host() == hub.Host() {
			s.remove(sub)
		}
	}
	return true
}
