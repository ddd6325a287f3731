package admin

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// survey is the result of reading every URI once.
type survey struct {
	asOf  time.Time
	took  time.Duration
	host  uri.Host // "" for all hosts
	only  config.Filter
	all   *backlogLoad
	hosts map[string]*backlogLoad
	types map[string]*backlogLoad
	waits map[string]*backlogLoad
	paths map[string]*backlogLoad // paths with names of parameters, or folders; only of a survey of one host
	lives map[uri.Host]alarm.Life

	endless EndlessWaiting

	config  *config.Config      // in force at the time
	foreign func(uri.Host) bool // whether the host belongs to another store
	asked   uri.Host            // the host that was last compared with the filter
	chosen  bool                // the result
}

// chooses reports whether the filter selects a host that belongs to this store. The URIs of a host are surveyed one
// after the other.
func (s *survey) chooses(h uri.Host) bool {
	if s.asked != h {
		s.asked, s.chosen = h, !s.foreign(h) && (s.only.IsZero() || s.only.Matches(s.config.Site(h)))
	}
	return s.chosen
}

// addLife counts the changes of a URI for its host.
func (s *survey) addLife(x frontier.SurveyedURI) {
	if x.Versions == 0 {
		return
	}
	h, known := s.lives[x.Host]
	h.Changes += int64(x.Versions - 1)
	if !known || x.FirstSeen.Before(h.First) {
		h.First = x.FirstSeen
	}
	if x.LastChange.After(h.Last) {
		h.Last = x.LastChange
	}
	s.lives[x.Host] = h
}

// maxTypes is the maximum number of media types with a row of their own.
const maxTypes = 100

// OtherTypes is the name of the row of all other media types.
const OtherTypes = "others"

// backlogLoad counts the URIs of a group.
type backlogLoad struct {
	uris, due int64
	demand    float64            // visits per second
	longest   time.Duration      // overdue time
	late      crawllog.Histogram // of URIs that are due
	targets   *targets           // of hosts only
}

func (l *backlogLoad) add(w frontier.SurveyedURI, now time.Time) {
	if w.Held || w.Due.IsZero() {
		return
	}
	l.uris++
	l.demand += perSecond(w)
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

// perSecond returns how many visits a second the wait of a URI asks for; 0 before the first visit.
func perSecond(w frontier.SurveyedURI) float64 {
	if every := intervalOf(w); every > 0 {
		return 1 / every.Seconds()
	}
	return 0
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
func (r *surveyor) surveyed(host uri.Host, only config.Filter, maxAge time.Duration) (*survey, error) {
	r.surveying.Lock()
	defer r.surveying.Unlock()
	last := &r.last
	switch {
	case !only.IsZero():
		last = &r.chosen
	case host != "":
		last = &r.single
	}
	if s := *last; s != nil && s.host == host && s.only == only && r.o.Now().Sub(s.asOf) <= maxAge {
		return s, nil
	}
	now := r.o.Now()
	s := &survey{
		asOf: now, host: host, only: only, all: new(backlogLoad),
		hosts: map[string]*backlogLoad{}, types: map[string]*backlogLoad{},
		waits: map[string]*backlogLoad{}, paths: map[string]*backlogLoad{},
		lives: map[uri.Host]alarm.Life{}, config: r.o.Config(), foreign: r.o.Frontier.IsForeign,
	}
	var err error
	if s.endless, err = newEndlessWaiting(r.o.Traps, host); err != nil {
		return nil, err
	}
	for from := frontier.Cursor(""); ; {
		next, err := r.o.Frontier.Survey(host, from, func(x frontier.SurveyedURI) { s.add(x, now) })
		if err != nil {
			return nil, err
		}
		if from = next; next == "" {
			break
		}
	}
	s.took = r.o.Now().Sub(now)
	*last = s
	if last == &r.last {
		r.known.Store(s)
	}
	return s, nil
}

func (s *survey) add(x frontier.SurveyedURI, now time.Time) {
	if !s.chooses(x.Host) {
		return
	}
	s.all.add(x, now)
	s.addLife(x)
	s.endless.add(x, perSecond(x))
	host := loadIn(s.hosts, string(x.Host))
	if host.targets == nil {
		host.targets = &targets{config: s.config, now: now, known: map[targetKey]*target{}}
	}
	host.add(x, now)
	loadIn(s.waits, waitClass(x)).add(x, now)
	if s.host != "" {
		path := spaces.PatternOf(x.URI)
		if _, known := s.paths[path]; !known && len(s.paths) >= maxPaths {
			path = "others"
		}
		loadIn(s.paths, path).add(x, now)
	}
	media := digest.MediaType(x.ContentType)
	switch _, known := s.types[media]; {
	case media == "":
		media = "unknown"
	case !known && len(s.types) >= maxTypes:
		media = OtherTypes
	}
	loadIn(s.types, media).add(x, now)
}

// maxPaths is the maximum number of paths with a row of their own.
const maxPaths = 1000

func loadIn(m map[string]*backlogLoad, name string) *backlogLoad {
	l := m[name]
	if l == nil {
		l = new(backlogLoad)
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

// overdueQuery holds the parameters of a report on overdue URIs.
type overdueQuery struct {
	By     string        // one row for each host, mime, wait or path
	Host   uri.Host      // "" for all hosts
	Only   config.Filter // of hosts
	Limit  int           // maximum number of rows
	MaxAge time.Duration
	// Latest means to answer at once, with rows of the last survey of all hosts. renew makes the next one.
	Latest bool
	// Late means to count how many URIs are overdue for how long: of all, and of each row unless it is a host.
	Late bool
}

// overdueFor returns the overdue URIs by host, media type or class of waits.
func (r *surveyor) overdueFor(q overdueQuery) (api.Overdue, error) {
	if q.Latest {
		r.wanted.Store(true)
		if s := r.known.Load(); s != nil {
			return r.overdueIn(s, q), nil
		}
		return api.Overdue{By: q.By, Rows: []api.Backlog{}}, nil
	}
	s, err := r.surveyed(q.Host, q.Only, q.MaxAge)
	if err != nil {
		return api.Overdue{}, err
	}
	return r.overdueIn(s, q), nil
}

// renew surveys all hosts if somebody has asked for the last survey, and it is old: surveys take at most a twentieth of
// the time.
func (r *surveyor) renew() error {
	s := r.known.Load()
	if !r.wanted.Load() || s != nil && r.o.Now().Sub(s.asOf) < max(maxAge, keptFor*s.took) {
		return nil
	}
	r.wanted.Store(false)
	_, err := r.surveyed("", config.Filter{}, 0)
	return err
}

// overdueIn returns the overdue URIs of a survey.
func (r *surveyor) overdueIn(s *survey, q overdueQuery) api.Overdue {
	out := api.Overdue{
		AsOf: s.asOf.UTC(), Age: api.Seconds(r.o.Now().Sub(s.asOf)), Took: api.Seconds(s.took), By: q.By,
		Host: string(q.Host),
		All:  s.all.backlog("all"), Rows: []api.Backlog{},
	}
	groups := map[string]map[string]*backlogLoad{"host": s.hosts, "mime": s.types, "wait": s.waits, "path": s.paths}[q.By]
	byDemand := 0
	if q.By == "path" { // which URIs cost most
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
	if q.Late {
		out.All.Late = lateness(s.all.late)
	}
	if q.Latest && !q.Only.IsZero() { // the survey is of all hosts
		out := func(host string) bool { return !q.Only.Matches(s.config.Site(uri.Host(host))) }
		names = slices.DeleteFunc(names, out)
	}
	out.More = max(0, len(names)-q.Limit)
	for _, name := range names[:len(names)-out.More] {
		b := groups[name].backlog(name)
		if q.By == "host" {
			r.predictEnd(&b, groups[name])
			b.Endless = s.endless.of(uri.Host(name))
		} else if q.Late {
			b.Late = lateness(groups[name].late)
		}
		out.Rows = append(out.Rows, b)
	}
	return out
}

// lateness returns a histogram for the API.
func lateness(h crawllog.Histogram) *api.Lateness {
	first, counts := h.Classes()
	return &api.Lateness{First: first, Counts: counts}
}

func (l *backlogLoad) backlog(name string) api.Backlog {
	return api.Backlog{
		Name: name, URIs: l.uris, Due: l.due, Most: api.Seconds(l.longest), P50: api.Seconds(l.late.Quantile(0.5)),
		P90: api.Seconds(l.late.Quantile(0.9)), P99: api.Seconds(l.late.Quantile(0.99)), Demand: l.demand * 3600,
	}
}

// predictEnd computes when a host's backlog will be gone, or what would end it.
func (r *surveyor) predictEnd(b *api.Backlog, l *backlogLoad) {
	view, _ := r.o.Frontier.Host(uri.Host(b.Name), r.o.Now())
	delay, observed := r.delayOf(uri.Host(b.Name))
	b.Delay, b.Observed = api.Seconds(delay), observed
	slots := float64(max(view.Slots, 1))
	capacity := slots / max(delay.Seconds(), 0.001)
	b.Capacity = capacity * 3600
	if p, ok := r.promise(l, delay, view.Slots); ok {
		b.Promise, b.Share = p.String(), p.Share
	}
	switch {
	case l.due == 0:
		b.Ends = "nothing is due"
		return
	case !view.Paused.IsZero():
		b.Ends = "never: the host is held; arcrawl release " + b.Name
		return
	case r.o.Stopped():
		b.Ends = "never: the crawl is paused"
		return
	case view.Failures > 0: // it is tried again and again, and what is due stays due until it answers
		b.Ends = fmt.Sprintf("unknown: the host was unreachable %s in a row", human.Count(view.Failures, "time"))
		return
	}
	if spare := capacity - l.demand; spare > capacity*minSpare {
		rest := max(0, view.Rest.Sub(r.o.Now()))
		in := api.Seconds(rest + time.Duration(float64(l.due)/spare*float64(time.Second)))
		b.GoneIn, b.Ends = &in, "in less than 1s"
		if time.Duration(in) >= time.Second {
			b.Ends = "in " + human.About(time.Duration(in))
		}
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
