package daemon

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/alarm"
)

const (
	// maxNotices is the maximum number of notices that wait for the webhook. Further ones are only logged.
	maxNotices = 100
	// noticeEvery is the minimum time between two notices.
	noticeEvery = time.Second
)

// webhook sends alarms to the address in admin.webhook, one at a time.
type webhook struct {
	url   string // "" = send nothing
	log   zerolog.Logger
	queue chan alarm.Notice
	close func()
}

// openWebhook starts to send notices. The caller closes the webhook.
func openWebhook(url string, log zerolog.Logger) *webhook {
	h := &webhook{url: url, log: log, queue: make(chan alarm.Notice, maxNotices)}
	h.close = background(h.run)
	return h
}

// send queues a notice without waiting.
func (h *webhook) send(x alarm.Notice) {
	if h.url == "" {
		return // the alarm is in the log
	}
	select {
	case h.queue <- x:
	default:
		h.log.Warn().Str("alarm", x.Kind).Msg("alarm not sent: the webhook is too slow")
	}
}

// run sends the queued notices until ctx ends.
func (h *webhook) run(ctx context.Context) {
	pause := time.NewTicker(noticeEvery)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case x := <-h.queue:
			if err := alarm.Post(ctx, h.url, x); err != nil {
				h.log.Warn().Err(err).Str("alarm", x.Kind).Msg("could not deliver an alarm to the webhook")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}
