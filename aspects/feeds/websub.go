package feeds

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/uri"
)

// DefaultLease is the time for which subscriptions are requested unless [WebsubOptions] says otherwise.
const DefaultLease = 10 * 24 * time.Hour

const (
	defaultMax = 10_000
	// triggerInterval is the minimum time between two triggers of a topic.
	triggerInterval = time.Minute

	// verifyTimeout is how long a hub may take to verify a request before it is asked again.
	verifyTimeout = 10 * time.Minute
	// Failed requests are retried after firstRetry, then after twice as long each time, up to maxRetry.
	firstRetry = time.Minute
	maxRetry   = 24 * time.Hour
	// minLease is the minimum time before a subscription is renewed, however short the hub makes its lease.
	minLease = 5 * time.Minute
	// maxRequests is the maximum number of requests of one Step.
	maxRequests = 20
)

// PushOptions configure a [Subscriber]. Callback, Post, Notify and Random are required.
type PushOptions struct {
	Callback string        // public address where hubs reach Serve
	Lease    time.Duration // time for which subscriptions are requested; zero means [DefaultLease]
	Max      int           // maximum number of subscriptions; zero means 10,000
	AnyHub   bool          // accept hubs with http, and at any port; otherwise only https at port 443

	// Post sends a form to a hub.
	Post func(ctx context.Context, hub uri.URI, form url.Values) (status int, err error)
	// Notify is called when a feed has something new. It must not call the Subscriber.
	Notify func(feed uri.URI)
	// Random returns at least 128 random bits, as letters and digits.
	Random func() string
	Log    zerolog.Logger
}

// subscription is one topic at one hub.
type subscription struct {
	id, secret string
	feed       uri.URI // the URI to visit
	topic, hub uri.URI
	pending    bool      // the hub was asked and has not yet verified the request
	due        time.Time // when to ask the hub (again)
	until      time.Time // end of the lease; zero if there is none
	failures   int
	triggered  time.Time // last trigger
}

// A Subscriber subscribes to the hubs of feeds (W3C WebSub), so that a hub reports at once when a feed has something
// new. Each genuine notification triggers a visit of the feed. The content of a notification is only used to check
// its signature and is never archived: only the answer of the site itself is.
//
// # A subscription
//
//	            Offer                Step                    Serve: hub.mode=subscribe
//	(unknown) ─────────▶ wanted ─────────────▶ asked ─────────────────────────────────▶ active
//	                       ▲   the hub refused   │                                        │
//	                       ├─────────────────────┘          the lease ends                │
//	                       └──────────────────────────────────────────────────────────────┘
//
// Nothing is stored on disk. After a restart, each visit of a feed offers its topic again, under a new callback.
// Requests to the old callbacks are answered 410, so that the hub forgets them.
//
// # Who may trigger
//
// Each subscription has a callback that cannot be guessed and a secret. A notification without the HMAC of that
// secret is accepted, as the standard requires, and ignored. One topic triggers at most one visit per minute.
//
// # Invariants
//
// There are at most [PushOptions].Max subscriptions, and at most 200 to the feeds of one registrable domain. A hub is
// asked at most once in two seconds. After a failure all its subscriptions wait, and after 16 in a row, which take
// five days, it is dropped for a week. A lease is never longer than requested, whatever a hub grants. Hubs must have
// https and its standard port, unless [PushOptions].AnyHub is set.
//
// At most 16 MiB of a notification are read, and none are kept. The package starts no goroutine and does not ask the
// clock: its owner calls [Subscriber.Step] at the time that Step returned, and [Subscriber.Serve] for each request.
//
// Its methods may be called by many goroutines at once.
type Subscriber struct {
	o PushOptions

	mu     sync.Mutex               // guards the fields below; never held while waiting or calling out
	subs   map[string]*subscription // by id
	byFeed map[uri.URI]*subscription
	hubs   map[uri.Host]*hubState

	perDomain map[string]int // subscriptions by the registrable domain of the feed
}

// NewSubscriber returns a subscriber without subscriptions.
func NewSubscriber(o PushOptions) (*Subscriber, error) {
	if o.Callback == "" || o.Post == nil || o.Notify == nil || o.Random == nil {
		return nil, errors.New("make a WebSub subscriber: Callback, Post, Notify and Random are required")
	}
	o.Callback = strings.TrimSuffix(o.Callback, "/")
	if o.Max <= 0 {
		o.Max = defaultMax
	}
	if o.Lease <= 0 {
		o.Lease = DefaultLease
	}
	return &Subscriber{
		o: o, subs: map[string]*subscription{}, byFeed: map[uri.URI]*subscription{}, hubs: map[uri.Host]*hubState{},
		perDomain: map[string]int{},
	}, nil
}

// Offer notes that a feed is published through a hub under a topic. The zero topic is the feed's own address. Offer
// reports whether there is a new subscription to request, so that Step is to be called. If a feed changes its hub or
// topic, its subscription is replaced.
func (s *Subscriber) Offer(now time.Time, feed, topic, hub uri.URI) bool {
	if topic.IsZero() {
		topic = feed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.byFeed[feed]
	if old != nil && old.topic == topic && old.hub == hub {
		return false
	}
	if old != nil {
		s.remove(old)
	}
	if !s.mayOffer(now, feed, hub) {
		return false
	}
	sub := &subscription{id: s.o.Random(), secret: s.o.Random(), feed: feed, topic: topic, hub: hub, due: now}
	s.put(sub)
	return true
}

// Step requests the subscriptions that are due, and returns when to call it again. The zero time means: after the next
// offer.
func (s *Subscriber) Step(ctx context.Context, now time.Time) time.Time {
	for range maxRequests {
		sub, ok := s.takeDue(now)
		if !ok || ctx.Err() != nil {
			break
		}
		status, err := s.o.Post(ctx, sub.hub, url.Values{
			"hub.mode": {"subscribe"}, "hub.topic": {sub.topic.String()}, "hub.callback": {s.o.Callback + "/" + sub.id},
			"hub.secret": {sub.secret}, "hub.lease_seconds": {strconv.FormatInt(int64(s.o.Lease/time.Second), 10)},
		})
		ok = err == nil && status >= 200 && status < 300
		dropped := s.settle(sub, now, ok)
		if ok {
			continue
		}
		if dropped {
			s.o.Log.Warn().Err(err).Int("status", status).Str("hub", sub.hub.String()).Str("for", dropTime.String()).
				Msg("dropping a WebSub hub that failed too often: its feeds are only polled")
			continue
		}
		s.o.Log.Warn().Err(err).Int("status", status).Str("hub", sub.hub.String()).Str("topic", sub.topic.String()).
			Msg("could not subscribe at a WebSub hub: the feed is polled meanwhile; retrying later")
	}
	return s.nextDue()
}

// takeDue marks a subscription that is due as pending, and returns a copy of it.
func (s *Subscriber) takeDue(now time.Time) (subscription, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.subs {
		h := s.hubOf(sub.hub, now)
		if h == nil || sub.due.After(now) || h.next.After(now) {
			continue
		}
		h.next = now.Add(hubEvery)
		wait := verifyTimeout
		if sub.pending { // the hub took the last request and never verified it
			wait = min(verifyTimeout<<min(sub.failures, 20), maxRetry)
			sub.failures++
		}
		sub.pending, sub.due = true, now.Add(wait)
		return *sub, true
	}
	return subscription{}, false
}

// settle notes whether a hub has taken a request, and schedules the retry of one that failed. It reports true if the
// hub was dropped instead.
func (s *Subscriber) settle(request subscription, now time.Time, ok bool) (dropped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answered(request.hub, now, ok) {
		return true
	}
	if sub := s.subs[request.id]; sub != nil && !ok {
		sub.pending = false
		sub.due = now.Add(min(firstRetry<<min(sub.failures, 20), maxRetry))
		sub.failures++
	}
	return false
}

// nextDue returns when the first subscription is due, the zero time if there is none.
func (s *Subscriber) nextDue() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first time.Time
	for _, sub := range s.subs {
		due := sub.due
		if h := s.hubs[sub.hub.Host()]; h != nil && h.next.After(due) {
			due = h.next
		}
		if first.IsZero() || due.Before(first) {
			first = due
		}
	}
	return first
}

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
