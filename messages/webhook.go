package messages

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"
)

const (
	// webhookName is the receiver in the outbox. No e-mail address is called so.
	webhookName = "webhook"
	// noticeEvery is the minimum time between two notices, and the pause after a failure. It doubles up to maxNoticePause.
	noticeEvery    = time.Second
	maxNoticePause = 15 * time.Minute
)

// webhook sends alarms to the address in admin.webhook, one after the other, each until it is taken or outdated.
type webhook struct {
	url    string // "" = send nothing
	outbox *outbox
	post   func(ctx context.Context, url string, n notice) error
	log    zerolog.Logger
	wake   chan struct{} // something was added
	now    func() time.Time

	failures int // in a row; only run uses it
}

// openWebhook returns what sends notices with post, first those that an earlier run could not deliver. The caller runs
// it.
func openWebhook(
	url string, out *outbox, post func(context.Context, string, notice) error, now func() time.Time,
	log zerolog.Logger,
) *webhook {
	h := &webhook{url: url, outbox: out, post: post, now: now, log: log, wake: make(chan struct{}, 1)}
	if url == "" {
		h.check(out.Forget(func(to string) bool { return to != webhookName }))
	}
	return h
}

// send queues notices. It writes a file, and does not wait for the network.
func (h *webhook) send(list []notice) {
	if h.url == "" {
		return // the alarms are in the log
	}
	h.check(h.outbox.Add(list, func(notice) []string { return []string{webhookName} }, false))
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// check logs an error of the outbox.
func (h *webhook) check(err error) {
	if err != nil {
		h.log.Warn().Err(err).Msg("alarms for the webhook are lost if the daemon ends before they are delivered")
	}
}

// run sends the queued notices until ctx ends.
func (h *webhook) run(ctx context.Context) {
	for ctx.Err() == nil {
		if h.step(ctx, h.now()) {
			_ = wait(ctx, h.pause()) // the loop checks ctx
			continue
		}
		select {
		case <-ctx.Done():
		case <-h.wake:
		}
	}
}

// pause returns the time until the next attempt.
func (h *webhook) pause() time.Duration {
	return min(noticeEvery<<min(h.failures, 16), maxNoticePause)
}

// step tries to deliver the oldest notice, and reports whether there was one.
func (h *webhook) step(ctx context.Context, now time.Time) bool {
	if h.url == "" {
		return false
	}
	list, outdated := h.outbox.For(webhookName, now)
	if outdated > 0 {
		h.log.Error().Int("alarms", outdated).Msg("dropped alarms that the webhook did not take for days; see the journal")
	}
	if len(list) == 0 {
		return false
	}
	first := list[0]
	err := h.post(ctx, h.url, first.Notice)
	switch {
	case ctx.Err() != nil && err != nil:
		return true
	case errors.Is(err, errRefused):
		h.log.Error().Err(err).Str("alarm", first.Notice.Kind).Msg("could not deliver an alarm to the webhook: not trying again")
	case err != nil:
		if h.failures++; h.failures == 1 {
			h.log.Warn().Err(err).Str("alarm", first.Notice.Kind).
				Msg("could not deliver an alarm to the webhook: trying again until it is taken")
		}
		return true
	case h.failures > 0:
		h.log.Info().Int("attempts", h.failures+1).Msg("the webhook takes alarms again")
	}
	h.failures = 0
	h.check(h.outbox.Taken(webhookName, first.Seq))
	return true
}
