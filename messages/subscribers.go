// This file sends the changes of pages to subscribers: as digests by e-mail, and to webhooks.

package messages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
)

const (
	// subscribersEvery is the time between two looks for changes.
	subscribersEvery = 5 * time.Second
	// mostChanges is the maximum number of changes in a call of a webhook, and maxCall is their maximum size in bytes.
	// One change is smaller.
	mostChanges = 100
	maxCall     = 1 << 20
)

// findChanges returns the changes that a subscription selects, see [admin.Extension].
type findChanges func(s config.Subscription, after time.Time, most int) (list []api.Capture, upTo time.Time)

// subscribers sends changes of pages, as [[subscription]] of the configuration in force says. Its methods are safe for
// concurrent use, but each of run is called once.
type subscribers struct {
	config  func() *config.Config
	changes func() findChanges // nil while none can be found
	mail    func(ctx context.Context, s config.Mail, m mail) error
	call    func(ctx context.Context, url string, body any) error
	places  *places
	now     func() time.Time
	log     zerolog.Logger

	mu      sync.Mutex // guards the field below
	failing map[string]failure
}

// failure says since when a receiver takes nothing.
type failure struct {
	subscription, to, why string
	since, next           time.Time // next is when it is tried again
	attempts              int
}

// receiver is one address of a subscription.
type receiver struct {
	config.Subscription
	address string // of mail; "" = the webhook
}

// key returns the name under which the place of the receiver is stored. No name of a subscription has a colon.
func (r receiver) key() string { return r.Name + ": " + cmp.Or(r.address, webhookName) }

// receivers returns who gets mail, or the webhooks.
func receivers(all []config.Subscription, byMail bool) (list []receiver) {
	for _, s := range all {
		if !byMail && s.Webhook != "" {
			list = append(list, receiver{Subscription: s})
		}
		for _, address := range s.Mail {
			if byMail {
				list = append(list, receiver{s, address})
			}
		}
	}
	return list
}

// run sends what is due, to all receivers of mail or to all webhooks, until ctx ends.
func (s *subscribers) run(ctx context.Context, byMail bool) {
	pause := time.Duration(0)
	for wait(ctx, pause) == nil {
		pause = subscribersEvery
		if s.round(ctx, byMail) {
			pause = noticeEvery
		}
	}
	s.check(s.places.Save())
}

// round tries once to send to each receiver what is due. more reports whether it has more to send at once.
func (s *subscribers) round(ctx context.Context, byMail bool) (more bool) {
	c := s.config()
	s.forget(c.Subscriptions)
	for _, r := range receivers(c.Subscriptions, byMail) {
		now := s.now()
		if ctx.Err() != nil || now.Before(s.retry(r)) {
			continue
		}
		if byMail {
			s.check(s.digest(ctx, c, r, now))
			continue
		}
		again, err := s.batch(ctx, c, r, now)
		s.check(err)
		more = more || again
	}
	return more
}

// forget drops the places of receivers that the configuration no longer names.
func (s *subscribers) forget(all []config.Subscription) {
	named := map[string]bool{}
	for _, r := range slices.Concat(receivers(all, true), receivers(all, false)) {
		named[r.key()] = true
	}
	s.check(s.places.Forget(named))
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.failing, func(key string, _ failure) bool { return !named[key] })
}

// check logs an error of the file of places.
func (s *subscribers) check(err error) {
	if err != nil {
		s.log.Warn().Err(err).Msg("changes are sent to subscribers again if the daemon ends before their place is stored")
	}
}

// batch sends the next changes to a webhook. more reports whether there may be more at once.
func (s *subscribers) batch(ctx context.Context, c *config.Config, r receiver, now time.Time) (more bool, err error) {
	find := s.changes()
	if find == nil {
		return false, nil
	}
	at := s.places.Of(r.key())
	list, upTo := find(r.Subscription, at.Noted.Upto, mostChanges)
	fits := fitting(list)
	if more = len(list) == mostChanges || fits < len(list); fits < len(list) {
		list, upTo = list[:fits], list[fits-1].Change.Noted
	}
	at.Noted.Upto = upTo
	if len(list) == 0 {
		return false, s.places.Put(r.key(), at, now, false)
	}
	err = s.call(ctx, r.Webhook, changesNotice{r.Name, c.Instance(), c.Operator.Name, list})
	if !s.noted(ctx, r, err, now, len(list)) {
		return false, nil
	}
	return more, s.places.Put(r.key(), at, now, true)
}

// changesNotice is the body of the call of a webhook, see docs/curators.md.
type changesNotice struct {
	Subscription string        `json:"subscription"`
	Instance     string        `json:"instance"`
	Institution  string        `json:"institution"`
	Changes      []api.Capture `json:"changes"`
}

// fitting returns how many of the first changes fit into a call.
func fitting(list []api.Capture) int {
	size := 0
	for i, c := range list {
		text, err := json.Marshal(c)
		if size += len(text); err == nil && size > maxCall && i > 0 {
			return i
		}
	}
	return len(list)
}

// digest sends the changes since the last digest by mail if it is time for it. It sends nothing if there are none.
func (s *subscribers) digest(ctx context.Context, c *config.Config, r receiver, now time.Time) error {
	find, at, due := s.changes(), s.places.Of(r.key()), r.Due(now)
	isNew := at.Digest.IsZero()
	if find == nil || !isNew && !due.After(at.Digest) {
		return nil
	}
	after := at.Noted.Upto
	if isNew {
		after = time.Time{}
	}
	d := changesDigest{subscription: r.Name, since: at.Digest}
	at.Noted.Upto = d.collect(ctx, find, r.Subscription, after)
	if ctx.Err() != nil { // the daemon stops
		return nil
	}
	at.Digest = due
	if d.count == 0 {
		return s.places.Put(r.key(), at, now, isNew)
	}
	m := d.mail(c)
	m.From, m.To, m.Date = c.Mail.From, r.address, now
	limited, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	if !s.noted(ctx, r, s.mail(limited, c.Mail, m), now, d.count) {
		return nil
	}
	return s.places.Put(r.key(), at, now, true)
}

// noted notes the result of an attempt, and reports whether the receiver is done with what it was sent.
func (s *subscribers) noted(ctx context.Context, r receiver, err error, now time.Time, changes int) (done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, failed := s.failing[r.key()]
	log := func(e *zerolog.Event) *zerolog.Event {
		return e.Str("subscription", r.Name).Str("to", cmp.Or(r.address, webhookName)).Int("changes", changes)
	}
	switch {
	case err == nil:
		if failed {
			log(s.log.Info()).Msg("the subscription is delivered again")
			delete(s.failing, r.key())
		}
		return true
	case ctx.Err() != nil: // the daemon stops
		return false
	case !failed:
		f = failure{subscription: r.Name, to: cmp.Or(r.address, "its webhook"), since: now}
	}
	f.why = plain(err.Error())
	refused := errors.Is(err, errRefused)
	if refused {
		log(s.log.Error()).Err(err).Msg("the webhook refused changes: they are not sent again")
	} else if f.attempts++; f.attempts == 1 {
		log(s.log.Warn()).Err(err).Msg("could not deliver a subscription: trying again until it is taken")
	}
	f.next = now.Add(min(noticeEvery<<min(f.attempts, 16), maxNoticePause))
	s.failing[r.key()] = f
	return refused
}

// retry returns when a receiver may be sent something.
func (s *subscribers) retry(r receiver) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failing[r.key()].next
}

// Troubles returns the subscriptions that are not delivered.
func (s *subscribers) Troubles() (list []alarm.Trouble) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(s.failing)) {
		f := s.failing[key]
		list = append(list, alarm.Trouble{Kind: alarm.Subscription, About: f.subscription, Text: fmt.Sprintf(
			"changes of the subscription %q are not taken by %s since %s; the daemon tries again; the reason is: %s",
			f.subscription, f.to, f.since.UTC().Format(time.RFC3339), f.why)})
	}
	return list
}
