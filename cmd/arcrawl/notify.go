package main

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin"
)

const (
	// maxNotices is how many notices wait for the webhook at most; further ones are in the log alone.
	maxNotices = 100
	// noticeEvery is the least time between two of them.
	noticeEvery = time.Second
)

// notifier tells a webhook of alarms, one after the other and no faster than one a second.
type notifier struct {
	url   string
	log   zerolog.Logger
	queue chan admin.Notice
	stop  context.CancelFunc
	busy  sync.WaitGroup
}

// newNotifier begins to listen for notices. Without a webhook it drops them, for they are in the log.
func newNotifier(url string, log zerolog.Logger) *notifier {
	ctx, stop := context.WithCancel(context.Background())
	n := &notifier{url: url, log: log, queue: make(chan admin.Notice, maxNotices), stop: stop}
	n.busy.Go(func() { n.run(ctx) })
	return n
}

// tell hands over a notice without waiting.
func (n *notifier) tell(x admin.Notice) {
	if n.url == "" {
		return
	}
	select {
	case n.queue <- x:
	default:
		n.log.Warn().Str("alarm", x.Kind).Msg("the webhook is too slow: it is not told of this")
	}
}

func (n *notifier) run(ctx context.Context) {
	pause := time.NewTicker(noticeEvery)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case x := <-n.queue:
			if err := admin.PostNotice(ctx, n.url, x); err != nil {
				n.log.Warn().Err(err).Str("alarm", x.Kind).Msg("the webhook did not hear of an alarm")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// shut stops telling.
func (n *notifier) shut() {
	n.stop()
	n.busy.Wait()
}
