// Package notices sends the alarms and the digests of one process, which may crawl several shards: to the webhook, and
// by e-mail. Notices wait in a file until they are taken.
package notices

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
	"github.com/arcrawl/arcrawl/admin/mail"
	"github.com/arcrawl/arcrawl/admin/outbox"
	"github.com/arcrawl/arcrawl/config"
)

// outboxFile is the file in the state folder with the notices that were not delivered yet.
const outboxFile = "outbox.json"

// Parts holds what an office needs.
type Parts struct {
	Config     func() *config.Config                        // in force
	Background func(run func(context.Context)) (end func()) // runs something until end is called
	Wait       func(context.Context, time.Duration) error
	Now        func() time.Time
	Log        zerolog.Logger
}

// Source returns what digests say about a shard.
type Source struct {
	Summary func() mail.Summary // without Recent
	Each    func(since time.Time, use func(api.Capture)) (from time.Time)
}

// Office sends the notices and digests of all shards of a process. It is safe for concurrent use.
type Office struct {
	hook    *webhook
	post    *Mailer
	posting func() // ends it

	using   sync.Mutex // guards the field below, and is held while sources are used
	sources map[int]Source

	mu     sync.Mutex             // guards the fields below
	raised map[about]map[int]bool // by which shards
	said   map[about]bool         // whether the last notice raised it
}

// about names an alarm of the process as a whole.
type about struct{ kind, about string }

// Open starts an office, which first sends what an earlier run could not deliver. The caller closes it.
func Open(p Parts) *Office {
	c := p.Config()
	out, err := outbox.Open(filepath.Join(c.Storage.State, outboxFile))
	if err != nil {
		p.Log.Error().Err(err).Msg("some alarms may never be delivered to the webhook or by e-mail")
	}
	o := &Office{sources: map[int]Source{}, raised: map[about]map[int]bool{}, said: map[about]bool{}}
	o.hook = openWebhook(c.Admin.Webhook, out, p)
	o.post = New(mailerParts{
		Config: p.Config, Summary: o.summary, Each: o.each, Send: mail.Send, Dir: c.Storage.State, Outbox: out,
		Now: p.Now, Log: p.Log,
	})
	o.posting = p.Background(o.post.Run)
	return o
}

// Close ends the sending.
func (o *Office) Close() {
	o.posting()
	o.hook.close()
}

// Join lets digests have what a shard knows until leave is called. Call leave before the shard is closed.
func (o *Office) Join(shard int, s Source) (leave func()) {
	o.using.Lock()
	defer o.using.Unlock()
	o.sources[shard] = s
	return func() {
		o.using.Lock()
		delete(o.sources, shard)
		o.using.Unlock()
		o.mu.Lock()
		defer o.mu.Unlock()
		for _, by := range o.raised {
			delete(by, shard)
		}
	}
}

// Notify sends the notices of a shard. What is no alarm of a host concerns the process: it is sent once for all shards.
func (o *Office) Notify(shard int, list []alarm.Notice) {
	list = o.news(shard, list)
	if len(list) > 0 {
		o.hook.send(list)
		o.post.Add(list)
	}
}

// news returns the notices that no other shard has sent, and that end an alarm for all shards.
func (o *Office) news(shard int, list []alarm.Notice) (news []alarm.Notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range list {
		if n.Host != "" {
			news = append(news, n)
			continue
		}
		a := about{n.Kind, n.About}
		if o.raised[a] == nil {
			o.raised[a] = map[int]bool{}
		}
		if o.raised[a][shard] = true; !n.Raised {
			delete(o.raised[a], shard)
		}
		is := len(o.raised[a]) > 0
		if was, known := o.said[a]; !known || was != is {
			o.said[a] = is
			news = append(news, n)
		}
	}
	return news
}

// summary returns what all shards know; ok is false while there is none.
func (o *Office) summary() (s mail.Summary, ok bool) {
	o.using.Lock()
	defer o.using.Unlock()
	for i, shard := range slices.Sorted(maps.Keys(o.sources)) {
		one := o.sources[shard].Summary()
		if i == 0 {
			s = one
			continue
		}
		s = sum(s, one)
	}
	return s, len(o.sources) > 0
}

// sum returns what two shards know together.
func sum(s, one mail.Summary) mail.Summary {
	s.Status.Hosts.Known += one.Status.Hosts.Known
	s.Status.Hosts.Down += one.Status.Hosts.Down
	s.Status.URIs.Known += one.Status.URIs.Known
	if s.Status.URIs.Due < 0 || one.Status.URIs.Due < 0 {
		s.Status.URIs.Due = -1 // of one shard they are not counted yet
	} else {
		s.Status.URIs.Due += one.Status.URIs.Due
	}
	day, more := &s.Status.LastDay, one.Status.LastDay
	day.Visits, day.Versions = day.Visits+more.Visits, day.Versions+more.Versions
	day.Unchanged += more.Unchanged
	day.Failed, day.Refused = day.Failed+more.Failed, day.Refused+more.Refused
	day.Received, day.Written = day.Received+more.Received, day.Written+more.Written
	if s.Status.Condition.Why == "" {
		s.Status.Condition = one.Status.Condition // of a shard that has trouble, if one has
	}
	has := func(a api.Alarm) bool {
		return slices.ContainsFunc(s.Status.Alarms, func(b api.Alarm) bool {
			return a.Host == "" && a.Host == b.Host && a.Kind == b.Kind && a.About == b.About
		})
	}
	for _, a := range one.Status.Alarms {
		if !has(a) {
			s.Status.Alarms = append(slices.Clip(s.Status.Alarms), a)
		}
	}
	s.Short = append(slices.Clip(s.Short), one.Short...)
	if s.ShortError == "" {
		s.ShortError = one.ShortError
	}
	return s
}

// each calls use with the captures of all shards after a given time. from is the latest of the times before which one
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
