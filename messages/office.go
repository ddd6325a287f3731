package messages

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/uri"
)

// outboxFile is the file in the state folder with the notices that were not delivered yet.
const outboxFile = "outbox.json"

// digestSource returns what digests say about the daemon.
type digestSource struct {
	Summary func() summary // without Recent
	Each    func(since time.Time, use func(api.Capture)) (from time.Time)
	Changes findChanges
}

// sourceOf returns what digests say about the daemon when its window is made.
func sourceOf(d *daemon.Daemon) digestSource {
	return digestSource{Each: d.Window().EachCapture, Changes: d.Window().Changes, Summary: func() summary {
		c := d.Live().Current()
		s := summary{
			Institution: c.Operator.Name, Link: c.Admin.URL, Status: d.Window().Status(),
			Names: func(host string) []string { return c.Site(uri.Host(host)).Names() },
			Title: func(host string) string { return c.Site(uri.Host(host)).Title },
		}
		var err error
		if s.Short, err = d.Window().BelowTarget(); err != nil {
			s.ShortError = err.Error()
		}
		return s
	}}
}

// office sends the alarms, the digests and the changes of pages: to webhooks, and by e-mail. Notices wait in a file
// until they are taken. It is safe for concurrent use.
type office struct {
	hook *webhook
	post *mailer
	subs *subscribers

	using  sync.Mutex // guards the field below, and is held while the source is used
	source *digestSource
}

// open opens an office, which first sends what an earlier run could not deliver. run runs a part of the office in a
// goroutine.
func (o *office) open(
	inForce func() *config.Config, run func(func(context.Context)), now func() time.Time, log zerolog.Logger,
) {
	c := inForce()
	out, err := openOutbox(filepath.Join(c.Storage.State, outboxFile))
	if err != nil {
		log.Error().Err(err).Msg("some alarms may never be delivered to the webhook or by e-mail")
	}
	o.hook = openWebhook(c.Admin.Webhook, out, postNotice, now, log)
	o.post = &mailer{
		config: inForce, summary: o.summary, each: o.each, send: sendMail, dir: c.Storage.State, outbox: out,
		now: now, log: log, failing: map[string]bool{},
	}
	sent, err := openPlaces(filepath.Join(c.Storage.State, placesFile))
	if err != nil {
		log.Error().Err(err).Msg("subscriptions begin with the changes from now on")
	}
	o.subs = &subscribers{
		config: inForce, changes: o.changes, mail: sendMail, call: post, places: sent, now: now, log: log,
		failing: map[string]failure{},
	}
	run(func(ctx context.Context) { o.subs.run(ctx, true) })
	run(func(ctx context.Context) { o.subs.run(ctx, false) })
	run(o.hook.run)
	run(o.post.Run)
}

// troubles returns the subscriptions that are not delivered.
func (o *office) troubles() []alarm.Trouble { return o.subs.Troubles() }

// Join lets digests have what the daemon knows, until Leave is called.
func (o *office) Join(s digestSource) {
	o.using.Lock()
	defer o.using.Unlock()
	o.source = &s
}

// Leave ends that, and waits until nothing is read any more. Call it before the daemon is closed.
func (o *office) Leave() {
	o.using.Lock()
	defer o.using.Unlock()
	o.source = nil
}

// Notify sends notices.
func (o *office) Notify(list []notice) {
	if len(list) > 0 {
		o.hook.send(list)
		o.post.Add(list)
	}
}

// summary returns what the daemon knows; ok is false before it has joined, and when it has left.
func (o *office) summary() (s summary, ok bool) {
	o.using.Lock()
	defer o.using.Unlock()
	if o.source == nil {
		return s, false
	}
	return o.source.Summary(), true
}

// each calls use with the captures after a given time. from is the time before which none are known.
func (o *office) each(since time.Time, use func(api.Capture)) (from time.Time) {
	o.using.Lock()
	defer o.using.Unlock()
	if o.source == nil {
		return from
	}
	return o.source.Each(since, use)
}

// changes returns what finds the changes of pages; nil before the daemon has joined, and when it has left.
func (o *office) changes() findChanges {
	o.using.Lock()
	defer o.using.Unlock()
	if o.source == nil {
		return nil
	}
	return func(s config.Subscription, after time.Time, most int) (list []api.Capture, upTo time.Time) {
		o.using.Lock()
		defer o.using.Unlock()
		if o.source == nil { // it has left
			return nil, after
		}
		return o.source.Changes(s, after, most)
	}
}

// wait waits for d. It returns the error of ctx if ctx ends first.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
