package daemon

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// The bounds of a request from a WebSub hub.
const (
	hubHeaderTimeout = 10 * time.Second
	hubTimeout       = 30 * time.Second
	maxHubHeader     = 16 << 10
)

// maxSubscribeWait bounds the wait of the loop that renews subscriptions.
const maxSubscribeWait = time.Minute

// hubs subscribes to the WebSub hubs of feeds, and schedules a visit of a feed when its hub reports something new. It
// does nothing unless WebSub is configured.
type hubs struct {
	subscriber *feeds.Subscriber // nil without WebSub
	offered    chan struct{}     // has a token when there is a subscription to request
	trigger    func(now time.Time, feed uri.URI) error
	now        func() time.Time
	log        zerolog.Logger
}

// newHubs makes the subscriber that the configuration asks for. [Daemon.openHubs] opens it to hubs.
func newHubs(c *config.Config, version string, now func() time.Time, log zerolog.Logger) (h *hubs, err error) {
	h = &hubs{offered: make(chan struct{}, 1), now: now, log: log}
	if !c.WebSub.On() {
		return h, nil
	}
	dial := fetch.Guard(c.AllowNetworks, c.AllowHosts...)
	h.subscriber, err = feeds.NewSubscriber(feeds.PushOptions{
		Callback: c.WebSub.Callback, Lease: c.WebSub.Lease, AnyHub: c.WebSub.AnyHub,
		Log: log, Random: rand.Text, Notify: h.notify,
		Post: func(ctx context.Context, hub uri.URI, form url.Values) (int, error) {
			return fetch.PostForm(fetch.WithWay(ctx, c.Way()), dial, hub, c.UserAgent(version), form)
		},
	})
	return h, err
}

// offer records the hub of a feed, for [crawler.Parts].NotifyHub.
func (h *hubs) offer(now time.Time, feed, topic, hub uri.URI) {
	if h.subscriber != nil && h.subscriber.Offer(now, feed, topic, hub) {
		select {
		case h.offered <- struct{}{}:
		default:
		}
	}
}

// notify schedules a visit of a feed.
func (h *hubs) notify(feed uri.URI) {
	if err := h.trigger(h.now(), feed); err != nil {
		h.log.Error().Err(err).Str("uri", feed.String()).Msg("could not schedule a feed that a WebSub hub reported; it is visited when it is due")
	}
}

// openHubs listens for hubs and keeps the subscriptions.
func (d *Daemon) openHubs(time.Time) error {
	h := d.hubs
	h.trigger = d.crawler.Trigger
	if h.subscriber == nil {
		return nil
	}
	if err := d.listenForHubs(); err != nil {
		return err
	}
	d.background("subscriptions to WebSub hubs", h.subscribe)
	return nil
}

// listenForHubs serves the requests of hubs.
func (d *Daemon) listenForHubs() error {
	l, err := net.Listen("tcp", d.live.Current().WebSub.Listen)
	if err != nil {
		return fmt.Errorf("listen for WebSub hubs (websub.listen): %w", err)
	}
	handle := func(w http.ResponseWriter, r *http.Request) { d.hubs.subscriber.Serve(w, r, d.o.Now()) }
	server := &http.Server{
		Handler:           http.HandlerFunc(handle),
		ReadHeaderTimeout: hubHeaderTimeout, ReadTimeout: hubTimeout, WriteTimeout: hubTimeout, MaxHeaderBytes: maxHubHeader,
	}
	stopServing := d.serveBounded(server, l, func(err error) {
		d.log.Error().Err(err).Msg("no longer listening for WebSub hubs; feeds are polled")
	})
	d.closers.part("listener for WebSub hubs", func() error {
		_ = server.Close()
		stopServing()
		return nil
	})
	d.log.Info().Str("listen", l.Addr().String()).Msg("listening for WebSub hubs")
	return nil
}

// subscribe asks the hubs for new and expiring subscriptions, until ctx ends.
func (h *hubs) subscribe(ctx context.Context) {
	for {
		wait, now := maxSubscribeWait, h.now()
		if due := h.subscriber.Step(ctx, now); !due.IsZero() {
			wait = min(wait, max(due.Sub(now), time.Second))
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-h.offered:
			timer.Stop()
		case <-timer.C:
		}
	}
}
