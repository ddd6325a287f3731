package messages

import (
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
)

// outboxFile is the file in the state folder with the notices that were not delivered yet.
const outboxFile = "outbox.json"

// DigestSource returns what digests say about a daemon.
type DigestSource struct {
	Summary func() Summary // without Recent
	Each    func(since time.Time, use func(api.Capture)) (from time.Time)
}

// Office sends the alarms and the digests of all daemons of a process: to the webhook, and by e-mail. Notices wait in a
// file until they are taken. It is safe for concurrent use.
type Office struct {
	hook *webhook
	post *mailer
	join func(numbers []int, list []Summary) Summary

	using   sync.Mutex // guards the field below, and is held while sources are used
	sources map[int]DigestSource

	mu     sync.Mutex                  // guards the fields below
	raised map[aboutAlarm]map[int]bool // by which daemons
	said   map[aboutAlarm]bool         // whether the last notice raised it
}

// aboutAlarm names an alarm of the process as a whole.
type aboutAlarm struct{ kind, about string }

// OpenOffice opens an office, which first sends what an earlier run could not deliver. join makes one digest of
// several; nil means that there is one daemon. run runs a part of the office in a goroutine.
func OpenOffice(
	inForce func() *config.Config, join func([]int, []Summary) Summary, run func(func(context.Context)),
	now func() time.Time, log zerolog.Logger,
) *Office {
	c := inForce()
	out, err := OpenOutbox(filepath.Join(c.Storage.State, outboxFile))
	if err != nil {
		log.Error().Err(err).Msg("some alarms may never be delivered to the webhook or by e-mail")
	}
	o := &Office{
		join: join, sources: map[int]DigestSource{}, raised: map[aboutAlarm]map[int]bool{}, said: map[aboutAlarm]bool{},
	}
	o.hook = openWebhook(c.Admin.Webhook, out, Post, now, log)
	o.post = &mailer{
		config: inForce, summary: o.summary, each: o.each, send: SendMail, dir: c.Storage.State, outbox: out,
		now: now, log: log, failing: map[string]bool{},
	}
	run(o.hook.run)
	run(o.post.Run)
	return o
}

// Join lets digests have what a daemon with a number knows until leave is called. Call leave before the daemon is
// closed.
func (o *Office) Join(number int, s DigestSource) (leave func()) {
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
func (o *Office) Notify(number int, list []alarm.Notice) {
	list = o.news(number, list)
	if len(list) > 0 {
		o.hook.send(list)
		o.post.Add(list)
	}
}

// news returns the notices that no other daemon has sent, and that end an alarm for all of them.
func (o *Office) news(number int, list []alarm.Notice) (news []alarm.Notice) {
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
func (o *Office) summary() (s Summary, ok bool) {
	o.using.Lock()
	defer o.using.Unlock()
	var list []Summary
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
	return o.join(numbers, list), true
}

// each calls use with the captures of all daemons after a given time. from is the latest of the times before which one
// has none.
func (o *Office) each(since time.Time, use func(api.Capture)) (from time.Time) {
	o.using.Lock()
	defer o.using.Unlock()
	for _, s := range o.sources {
		if begins := s.Each(since, use); begins.After(from) {
			from = begins
		}
	}
	return from
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
