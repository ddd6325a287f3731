package admin

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/internal/mediatype"
	"github.com/arcrawl/arcrawl/scope/spaces"
	"github.com/arcrawl/arcrawl/uri"
)

// survey is the result of reading every URI once.
type survey struct {
	asOf  time.Time
	took  time.Duration
	host  uri.Host // "" for all hosts
	all   *load
	hosts map[string]*load
	types map[string]*load
	waits map[string]*load
	paths map[string]*load // paths with names of parameters, or folders; only of a survey of one host
	lives lives            // of hosts

	config *config.Config // in force at the time
}

// surveys keeps the last survey, so that many requests can use one.
type surveys struct {
	mu   sync.Mutex // held during a survey, so that only one runs at a time
	last *survey
}

// maxTypes is the maximum number of media types with a row of their own.
const maxTypes = 100

// load counts the URIs of a group.
type load struct {
	uris, due int64
	demand    float64         // visits per second
	longest   time.Duration   // overdue time
	late      stats.Histogram // of URIs that are due
	targets   *targets        // of hosts only
}

func (l *load) add(w frontier.SurveyedURI, now time.Time) {
	if w.Held || w.Due.IsZero() {
		return
	}
	l.uris++
	if every := intervalOf(w); every > 0 {
		l.demand += 1 / every.Seconds()
	}
	if l.targets != nil && !w.LastVisit.IsZero() {
		l.targets.add(w)
	}
	late := now.Sub(w.Due)
	if late < 0 {
		return
	}
	l.due++
	l.longest = max(l.longest, late)
	l.late.Add(late)
}

// intervalOf returns the wait interval of a URI: from its last visit to its due time, or else the learned one. It is 0
// before the first visit.
func intervalOf(w frontier.SurveyedURI) time.Duration {
	if !w.LastVisit.IsZero() && w.Due.After(w.LastVisit) {
		return max(w.Due.Sub(w.LastVisit), time.Second)
	}
	return max(w.Wait, 0)
}

// surveyed returns a survey that is no older than maxAge.
func (w *Window) surveyed(host uri.Host, maxAge time.Duration) (*survey, error) {
	w.surveys.mu.Lock()
	defer w.surveys.mu.Unlock()
	if s := w.surveys.last; s != nil && s.host == host && w.o.Now().Sub(s.asOf) <= maxAge {
		return s, nil
	}
	now := w.o.Now()
	s := &survey{
		asOf: now, host: host, all: new(load), hosts: map[string]*load{}, types: map[string]*load{},
		waits: map[string]*load{}, paths: map[string]*load{},
		lives: lives{}, config: w.o.Config().Config,
	}
	for from := frontier.Cursor(""); ; {
		next, err := w.o.Frontier.Survey(host, from, func(x frontier.SurveyedURI) { s.add(x, now) })
		if err != nil {
			return nil, err
		}
		if from = next; next == "" {
			break
		}
	}
	s.took = w.o.Now().Sub(now)
	w.surveys.last = s
	return s, nil
}

func (s *survey) add(x frontier.SurveyedURI, now time.Time) {
	s.all.add(x, now)
	s.lives.add(x)
	host := into(s.hosts, string(x.Host))
	if host.targets == nil {
		host.targets = newTargets(s.config, now)
	}
	host.add(x, now)
	into(s.waits, waitClass(x)).add(x, now)
	if s.host != "" {
		s.addPath(x, now)
	}
	media := mediatype.Of(x.ContentType)
	switch _, known := s.types[media]; {
	case media == "":
		media = "unknown"
	case !known && len(s.types) >= maxTypes:
		media = "others"
	}
	into(s.types, media).add(x, now)
}

// maxPaths is the maximum number of paths with a row of their own.
const maxPaths = 1000

func (s *survey) addPath(x frontier.SurveyedURI, now time.Time) {
	path := spaces.PatternOf(x.URI)
	if _, known := s.paths[path]; !known && len(s.paths) >= maxPaths {
		path = "others"
	}
	into(s.paths, path).add(x, now)
}

func into(m map[string]*load, name string) *load {
	l := m[name]
	if l == nil {
		l = new(load)
		m[name] = l
	}
	return l
}

// waitClasses lists the classes of waits by their upper bounds.
var waitClasses = []struct {
	below time.Duration
	name  string
}{
	{time.Hour, "below 1h"},
	{6 * time.Hour, "1h to 6h"},
	{24 * time.Hour, "6h to 1d"},
	{7 * 24 * time.Hour, "1d to 7d"},
	{28 * 24 * time.Hour, "7d to 28d"},
}

func waitClass(x frontier.SurveyedURI) string {
	every := intervalOf(x)
	if every == 0 {
		return "first visit"
	}
	for _, c := range waitClasses {
		if every < c.below {
			return c.name
		}
	}
	return "28d and more"
}

// overdueQuery holds the parameters of a request.
type overdueQuery struct {
	by     string
	host   uri.Host
	limit  int
	maxAge time.Duration
}

// overdue returns the overdue URIs by host, media type or class of waits.
func (w *Window) overdue(q overdueQuery) (api.Overdue, error) {
	if q.host != "" {
		if _, ok := w.o.Frontier.Host(q.host, w.o.Now()); !ok {
			return api.Overdue{}, unknown("the host " + string(q.host))
		}
	}
	s, err := w.surveyed(q.host, q.maxAge)
	if err != nil {
		return api.Overdue{}, err
	}
	out := api.Overdue{
		AsOf: s.asOf.UTC(), Age: api.Seconds(w.o.Now().Sub(s.asOf)), Took: api.Seconds(s.took), By: q.by,
		Host: string(q.host),
		All:  s.all.backlog("all"), Rows: []api.Backlog{},
	}
	groups := map[string]map[string]*load{"host": s.hosts, "mime": s.types, "wait": s.waits, "path": s.paths}[q.by]
	byDemand := 0
	if q.by == "path" { // which URIs cost most
		byDemand = 1
	}
	names := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(
			byDemand*cmp.Compare(groups[b].demand, groups[a].demand),
			cmp.Compare(groups[b].longest, groups[a].longest),
			cmp.Compare(groups[b].due, groups[a].due),
			cmp.Compare(a, b),
		)
	})
	out.More = max(0, len(names)-q.limit)
	for _, name := range names[:len(names)-out.More] {
		b := groups[name].backlog(name)
		if q.by == "host" {
			w.predictEnd(&b, groups[name])
		}
		out.Rows = append(out.Rows, b)
	}
	return out, nil
}

func (l *load) backlog(name string) api.Backlog {
	return api.Backlog{
		Name: name, URIs: l.uris, Due: l.due, Most: api.Seconds(l.longest), P50: api.Seconds(l.late.Quantile(0.5)),
		P90: api.Seconds(l.late.Quantile(0.9)), P99: api.Seconds(l.late.Quantile(0.99)), Demand: l.demand * 3600,
	}
}

// predictEnd computes when a host's backlog will be gone, or what would end it.
func (w *Window) predictEnd(b *api.Backlog, l *load) {
	view, _ := w.o.Frontier.Host(uri.Host(b.Name), w.o.Now())
	delay, observed := w.delayOf(uri.Host(b.Name))
	b.Delay, b.Observed = api.Seconds(delay), observed
	slots := float64(max(view.Slots, 1))
	capacity := slots / max(delay.Seconds(), 0.001)
	b.Capacity = capacity * 3600
	if p, ok := w.promise(l, delay, view.Slots); ok {
		b.Promise, b.Share = p.String(), p.Share
	}
	switch stand := w.o.Crawler.Status(); {
	case l.due == 0:
		b.Ends = "nothing is due"
		return
	case !view.Paused.IsZero():
		b.Ends = "never: the host is held; arcrawl release " + b.Name
		return
	case stand.Paused != "" || stand.Held != "":
		b.Ends = "never: the crawl is paused"
		return
	}
	if spare := capacity - l.demand; spare > capacity*minSpare {
		in := api.Seconds(float64(l.due) / spare * float64(time.Second))
		b.GoneIn, b.Ends = &in, "in "+human.About(time.Duration(in))
		return
	}
	// The delay that leaves the minimum spare capacity.
	needs := api.Seconds(slots * (1 - minSpare) / l.demand * float64(time.Second))
	b.NeedsDelay = &needs
	b.FewerURIs = int64(math.Ceil(float64(l.uris) * (1 - capacity*(1-minSpare)/l.demand)))
	b.Ends = fmt.Sprintf("never: needs a delay of %s, or %d fewer URIs", human.About(time.Duration(needs)), b.FewerURIs)
}

// minSpare is the minimum share of spare capacity. With less, a backlog is assumed never to end.
const minSpare = 0.01
