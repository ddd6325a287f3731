package messages

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
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

// digestSource returns what digests say about a daemon.
type digestSource struct {
	Summary func() summary // without Recent
	Each    func(since time.Time, use func(api.Capture)) (from time.Time)
	Changes findChanges
}

// sourceOf returns what digests say about a daemon whose window is made.
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

// office sends the alarms, the digests and the changes of pages of all daemons of a process: to webhooks, and by
// e-mail. Notices wait in a file until they are taken. It is safe for concurrent use.
type office struct {
	hook *webhook
	post *mailer
	subs *subscribers
	join func(numbers []int, states []api.Status) api.Status // see [daemon.Daemon.Join]

	using   sync.Mutex // guards the field below, and is held while sources are used
	sources map[int]digestSource

	mu     sync.Mutex                  // guards the fields below
	raised map[aboutAlarm]map[int]bool // by which daemons
	said   map[aboutAlarm]bool         // whether the last notice raised it
}

// aboutAlarm names an alarm of the process as a whole.
type aboutAlarm struct{ kind, about string }

// open opens an office, which first sends what an earlier run could not deliver. run runs a part of the office in a
// goroutine.
func (o *office) open(
	inForce func() *config.Config, join func([]int, []api.Status) api.Status, run func(func(context.Context)),
	now func() time.Time, log zerolog.Logger,
) {
	c := inForce()
	out, err := openOutbox(filepath.Join(c.Storage.State, outboxFile))
	if err != nil {
		log.Error().Err(err).Msg("some alarms may never be delivered to the webhook or by e-mail")
	}
	o.join, o.sources = join, map[int]digestSource{}
	o.raised, o.said = map[aboutAlarm]map[int]bool{}, map[aboutAlarm]bool{}
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
		config: inForce, daemons: o.changes, mail: sendMail, call: post, places: sent, now: now, log: log,
		failing: map[string]failure{},
	}
	run(func(ctx context.Context) { o.subs.run(ctx, true) })
	run(func(ctx context.Context) { o.subs.run(ctx, false) })
	run(o.hook.run)
	run(o.post.Run)
}

// troubles returns the subscriptions that are not delivered.
func (o *office) troubles() []alarm.Trouble { return o.subs.Troubles() }

// Join lets digests have what a daemon with a number knows until leave is called. Call leave before the daemon is
// closed.
func (o *office) Join(number int, s digestSource) (leave func()) {
	o.using.Lock()
	defer o.using.Unlock()
	o.sources[number] = s
	return func() {
		o.using.Lock()
		delete(o.sources, number)
		o.using.Unlock()
		o.mu.Lock()
		defer o.mu.Unlock()
		for _, by := range o.raised {
			delete(by, number)
		}
	}
}

// Notify sends the notices of a daemon. What is no alarm of a host concerns the process: it is sent once.
func (o *office) Notify(number int, list []notice) {
	list = o.news(number, list)
	if len(list) > 0 {
		o.hook.send(list)
		o.post.Add(list)
	}
}

// news returns the notices that no other daemon has sent, and that end an alarm for all of them.
func (o *office) news(number int, list []notice) (news []notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range list {
		if n.Host != "" {
			news = append(news, n)
			continue
		}
		a := aboutAlarm{n.Kind, n.About}
		if o.raised[a] == nil {
			o.raised[a] = map[int]bool{}
		}
		if o.raised[a][number] = true; !n.Raised {
			delete(o.raised[a], number)
		}
		is := len(o.raised[a]) > 0
		if was, known := o.said[a]; !known || was != is {
			o.said[a] = is
			news = append(news, n)
		}
	}
	return news
}

// summary returns what all daemons know; ok is false while there is none.
func (o *office) summary() (s summary, ok bool) {
	o.using.Lock()
	defer o.using.Unlock()
	var list []summary
	numbers := slices.Sorted(maps.Keys(o.sources))
	for _, n := range numbers {
		list = append(list, o.sources[n].Summary())
	}
	switch len(list) {
	case 0:
		return s, false
	case 1:
		return list[0], true
	}
	return joined(list, func(states []api.Status) api.Status { return o.join(numbers, states) }), true
}

// joined makes one summary of the summaries of several daemons. join makes one state of their states.
func joined(list []summary, join func([]api.Status) api.Status) summary {
	out, states := list[0], make([]api.Status, len(list))
	out.Short, out.ShortError = nil, ""
	for i, s := range list {
		states[i] = s.Status
		out.Short, out.ShortError = append(out.Short, s.Short...), cmp.Or(out.ShortError, s.ShortError)
	}
	out.Status = join(states)
	return out
}

// each calls use with the captures of all daemons after a given time. from is the latest of the times before which one
// has none.
func (o *office) each(since time.Time, use func(api.Capture)) (from time.Time) {
	o.using.Lock()
	defer o.using.Unlock()
	for _, s := range o.sources {
		if begins := s.Each(since, use); begins.After(from) {
			from = begins
		}
	}
	return from
}

// changes returns what finds the changes of each daemon.
func (o *office) changes() (all []daemonChanges) {
	o.using.Lock()
	defer o.using.Unlock()
	for _, number := range slices.Sorted(maps.Keys(o.sources)) {
		all = append(all, daemonChanges{number, func(
			s config.Subscription, after time.Time, most int,
		) (list []api.Capture, upTo time.Time) {
			o.using.Lock()
			defer o.using.Unlock()
			if of := o.sources[number]; of.Changes != nil {
				return of.Changes(s, after, most)
			}
			return nil, after // it has left
		}})
	}
	return all
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
