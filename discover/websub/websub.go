package websub

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

// DefaultLease is the time for which subscriptions are requested unless [Options] says otherwise.
const DefaultLease = 10 * 24 * time.Hour

const (
	defaultMax         = 10_000
	defaultMinInterval = time.Minute

	// patience is how long a hub may take to verify what was asked for before it is asked again.
	patience = 10 * time.Minute
	// The ladder of requests that failed.
	firstRetry = time.Minute
	lastRetry  = 24 * time.Hour
	// shortestLease bounds how often a hub can have its leases renewed.
	shortestLease = 5 * time.Minute
	// maxSteps is how many requests one Step makes.
	maxSteps = 20
)

// Options say how to subscribe.
type Options struct {
	Callback string        // public address under which the hubs reach Serve; no slash at the end
	Lease    time.Duration // time for which subscriptions are requested; zero means [DefaultLease]
	Max      int           // maximum number of subscriptions; zero means 10,000

	MinInterval time.Duration // minimum time between two triggers of a topic; zero means a minute

	Post   func(ctx context.Context, hub uri.URI, form url.Values) (status int, err error) // sends a form
	Notify func(feed uri.URI)                                                              // the feed has something new; it must not call back
	Random func() string                                                                   // at least 128 random bits, as letters and digits
	Log    zerolog.Logger
}

// subscription is one topic at one hub.
type subscription struct {
	id, secret string
	feed       uri.URI // what is visited
	topic, hub uri.URI
	pending    bool      // the hub was asked and has not verified yet
	due        time.Time // when to ask the hub (again)
	until      time.Time // end of the lease; zero if none
	failures   int
	triggered  time.Time
}

// Subscriber keeps the subscriptions. Its methods may be called by many goroutines at once.
type Subscriber struct {
	o Options

	mu   sync.Mutex // guards what follows; never held while waiting or calling out
	subs map[string]*subscription
	by   map[uri.URI]*subscription // by feed
}

// New makes a subscriber without subscriptions.
func New(o Options) (*Subscriber, error) {
	if o.Callback == "" || o.Post == nil || o.Notify == nil || o.Random == nil {
		return nil, errors.New("make a WebSub subscriber: callback, post, notify and random are needed")
	}
	o.Callback = strings.TrimSuffix(o.Callback, "/")
	if o.Max <= 0 {
		o.Max = defaultMax
	}
	if o.Lease <= 0 {
		o.Lease = DefaultLease
	}
	if o.MinInterval <= 0 {
		o.MinInterval = defaultMinInterval
	}
	return &Subscriber{o: o, subs: map[string]*subscription{}, by: map[uri.URI]*subscription{}}, nil
}

// Offer tells that a feed is published through a hub, as topic; the zero topic is the feed's own address. It reports whether that
// is new, so that Step is to be called. A feed that changes its hub or topic is subscribed to anew.
func (s *Subscriber) Offer(now time.Time, feed, topic, hub uri.URI) bool {
	if topic.IsZero() {
		topic = feed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.by[feed]
	if old != nil && old.topic == topic && old.hub == hub {
		return false
	}
	if old != nil {
		delete(s.subs, old.id)
		delete(s.by, feed)
	}
	if hub.IsZero() || len(s.subs) >= s.o.Max {
		return false
	}
	sub := &subscription{id: s.o.Random(), secret: s.o.Random(), feed: feed, topic: topic, hub: hub, due: now}
	s.subs[sub.id], s.by[feed] = sub, sub
	return true
}

// Step asks the hubs for what is due, and tells when it wants to be called again; zero if only an offer can change that.
func (s *Subscriber) Step(ctx context.Context, now time.Time) time.Time {
	for range maxSteps {
		sub, ok := s.take(now)
		if !ok || ctx.Err() != nil {
			break
		}
		status, err := s.o.Post(ctx, sub.hub, url.Values{
			"hub.mode": {"subscribe"}, "hub.topic": {sub.topic.String()}, "hub.callback": {s.o.Callback + "/" + sub.id},
			"hub.secret": {sub.secret}, "hub.lease_seconds": {strconv.FormatInt(int64(s.o.Lease/time.Second), 10)},
		})
		if err == nil && status >= 200 && status < 300 {
			continue
		}
		s.failed(sub.id, now)
		s.o.Log.Warn().Err(err).Int("status", status).Str("hub", sub.hub.String()).Str("topic", sub.topic.String()).
			Msg("a WebSub hub did not take a subscription: the feed is polled meanwhile, and the hub asked again later")
	}
	return s.next()
}

// take marks the first subscription that is due as asked for, and gives a copy.
func (s *Subscriber) take(now time.Time) (subscription, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.subs {
		if !sub.due.After(now) {
			sub.pending, sub.due = true, now.Add(patience)
			return *sub, true
		}
	}
	return subscription{}, false
}

// failed puts a subscription off.
func (s *Subscriber) failed(id string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub := s.subs[id]; sub != nil {
		sub.pending = false
		sub.due = now.Add(min(firstRetry<<min(sub.failures, 20), lastRetry))
		sub.failures++
	}
}

func (s *Subscriber) next() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first time.Time
	for _, sub := range s.subs {
		if first.IsZero() || sub.due.Before(first) {
			first = sub.due
		}
	}
	return first
}

// Active is how many subscriptions hold at a time, and how many there are.
func (s *Subscriber) Active(now time.Time) (active, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.subs {
		if sub.until.After(now) {
			active++
		}
	}
	return active, len(s.subs)
}
