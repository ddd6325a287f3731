package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/discover/websub"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// The bounds of a request that a hub makes.
const (
	hubHeadTimeout = 10 * time.Second
	hubTimeout     = 30 * time.Second
	maxHubHead     = 16 << 10
	// maxSubscribeNap bounds the wait of the loop that renews subscriptions.
	maxSubscribeNap = time.Minute
)

// pushed subscribes to the hubs of feeds, and has a feed visited when its hub tells of news. Its zero value does nothing.
type pushed struct {
	subscriber *websub.Subscriber
	offered    chan struct{} // a token when there is something to ask a hub for
	crawl      *crawler.Crawler
	log        zerolog.Logger
}

// newPushed makes the subscriber that the configuration asks for, if it does.
func newPushed(c *config.Config, log zerolog.Logger) (*pushed, error) {
	p := &pushed{offered: make(chan struct{}, 1), log: log}
	if !c.WebSub.On() {
		return p, nil
	}
	dial := fetch.Guard(c.AllowNetworks)
	var err error
	p.subscriber, err = websub.New(websub.Options{
		Callback: c.WebSub.Callback, Lease: c.WebSub.Lease, Log: log, Random: rand.Text, Notify: p.notify,
		Post: func(ctx context.Context, hub uri.URI, form url.Values) (int, error) {
			return fetch.PostForm(ctx, dial, hub, c.UserAgent(programVersion()), form)
		},
	})
	return p, err
}

// offer is for [crawler.Rooms].Hub.
func (p *pushed) offer(now time.Time, feed, topic, hub uri.URI) {
	if p.subscriber != nil && p.subscriber.Offer(now, feed, topic, hub) {
		select {
		case p.offered <- struct{}{}:
		default:
		}
	}
}

func (p *pushed) notify(feed uri.URI) {
	if err := p.crawl.Trigger(time.Now(), feed); err != nil {
		p.log.Error().Err(err).Msg("a hub's notification could not be followed")
	}
}

// open listens for hubs and keeps the subscriptions until the returned function is called.
func (p *pushed) open(ctx context.Context, cr *crawler.Crawler, listen string) (shut func(), err error) {
	p.crawl = cr
	if p.subscriber == nil {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listen for WebSub hubs (websub.listen): %w", err)
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p.subscriber.Serve(w, r, time.Now())
		}),
		ReadHeaderTimeout: hubHeadTimeout, ReadTimeout: hubTimeout, WriteTimeout: hubTimeout, MaxHeaderBytes: maxHubHead,
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			p.log.Error().Err(err).Msg("hubs are listened for no longer: feeds are polled")
		}
	})
	running.Go(func() { p.subscribe(ctx) })
	p.log.Info().Str("listen", l.Addr().String()).Msg("WebSub hubs may push")
	return func() {
		cancel()
		_ = server.Close()
		running.Wait()
	}, nil
}

// subscribe asks the hubs for what is due, until ctx ends.
func (p *pushed) subscribe(ctx context.Context) {
	for {
		nap := maxSubscribeNap
		now := time.Now()
		if next := p.subscriber.Step(ctx, now); !next.IsZero() {
			nap = min(nap, max(next.Sub(now), time.Second))
		}
		timer := time.NewTimer(nap)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-p.offered:
			timer.Stop()
		case <-timer.C:
		}
	}
}
