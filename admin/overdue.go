package admin

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"mime"
	"slices"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Overdue tells what waits though its time has come, and whether that will ever end.
type Overdue struct {
	AsOf time.Time `json:"as_of"`        // when every URI was looked at
	Age  Seconds   `json:"age_seconds"`  // since then
	Took Seconds   `json:"took_seconds"` // that looking took so long
	By   string    `json:"by"`           // what the rows are of: "host", "mime" or "wait"
	Host string    `json:"host,omitempty"`

	All  Backlog   `json:"all"`  // everything together
	Rows []Backlog `json:"rows"` // the most overdue first, at most 1000
	More int       `json:"more"` // rows that are not here
}

// Backlog is what waits of a host, a type or a class of waits. What follows Demand is of hosts only.
type Backlog struct {
	Name   string  `json:"name"`
	URIs   int64   `json:"uris"` // that have a due time
	Due    int64   `json:"due"`  // whose time has come
	Most   Seconds `json:"most_seconds"`
	P50    Seconds `json:"p50_seconds"` // half of what is due is overdue for longer
	P90    Seconds `json:"p90_seconds"`
	P99    Seconds `json:"p99_seconds"`
	Demand float64 `json:"demand_per_hour"` // visits that the waits ask for

	Delay    Seconds `json:"delay_seconds"`     // from one visit through a slot to the next, as observed; else as configured
	Observed bool    `json:"observed"`          // Delay was
	Capacity float64 `json:"capacity_per_hour"` // visits that this delay allows

	// Ends says in words when the backlog will be gone; the three that follow say it in numbers. GoneIn is null when it will
	// never be, and then one of the others helps: a delay of at most NeedsDelay, or so many URIs fewer.
	Ends       string   `json:"ends,omitempty"`
	GoneIn     *Seconds `json:"gone_in_seconds,omitempty"`
	NeedsDelay *Seconds `json:"needs_delay_seconds,omitempty"`
	FewerURIs  int64    `json:"fewer_uris,omitempty"`

	// Promise says in words what this delay can keep of the capture targets that URIs of the host have, if any; Share is the share
	// of their versions that can be captured.
	Promise string  `json:"promise,omitempty"`
	Share   float64 `json:"captured_share,omitempty"`
}

// survey is what one look at every URI came to.
type survey struct {
	asOf  time.Time
	took  time.Duration
	host  uri.Host // "" is all
	all   *load
	hosts map[string]*load
	types map[string]*load
	waits map[string]*load
	lives lives // of hosts

	config *config.Config // in force when it was made
}

// surveys keeps the last survey, so that many questions cost one.
type surveys struct {
	looking sync.Mutex // held by the one who looks, so that nobody looks at the same time
	last    *survey
}

// maxTypes is how many media types are told apart; the rest are one.
const maxTypes = 100

// load is what waits somewhere.
type load struct {
	uris, due int64
	demand    float64 // visits per second
	most      time.Duration
	late      stats.Histogram // of URIs that are due
	aims      *aims           // of hosts only
}

func (l *load) add(w frontier.SurveyedURI, now time.Time) {
	if w.Held || w.Due.IsZero() {
		return
	}
	l.uris++
	if every := intervalOf(w); every > 0 {
		l.demand += 1 / every.Seconds()
	}
	if l.aims != nil && !w.LastVisit.IsZero() {
		l.aims.add(w)
	}
	late := now.Sub(w.Due)
	if late < 0 {
		return
	}
	l.due++
	l.most = max(l.most, late)
	l.late.Add(late)
}

// intervalOf is how often a URI wants to be visited: as it was last put off, or else as was learned; 0 is not known,
// before the first visit.
func intervalOf(w frontier.SurveyedURI) time.Duration {
	if !w.LastVisit.IsZero() && w.Due.After(w.LastVisit) {
		return max(w.Due.Sub(w.LastVisit), time.Second)
	}
	return max(w.Wait, 0)
}

// surveyed gives a survey that is no older than maxAge.
func (w *Window) surveyed(host uri.Host, maxAge time.Duration) (*survey, error) {
	w.surveys.looking.Lock()
	defer w.surveys.looking.Unlock()
	if s := w.surveys.last; s != nil && s.host == host && w.o.Now().Sub(s.asOf) <= maxAge {
		return s, nil
	}
	now := w.o.Now()
	s := &survey{asOf: now, host: host, all: new(load), hosts: map[string]*load{}, types: map[string]*load{}, waits: map[string]*load{}, lives: lives{}, config: w.o.Config().Config}
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
	if host.aims == nil {
		host.aims = newAims(s.config, now)
	}
	host.add(x, now)
	into(s.waits, waitClass(x)).add(x, now)
	media, _, err := mime.ParseMediaType(x.ContentType)
	switch _, known := s.types[media]; {
	case err != nil && media == "":
		media = "not known"
	case !known && len(s.types) >= maxTypes:
		media = "others"
	}
	into(s.types, media).add(x, now)
}

func into(m map[string]*load, name string) *load {
	l := m[name]
	if l == nil {
		l = new(load)
		m[name] = l
	}
	return l
}

// waitClasses are the classes of waits, by their upper ends.
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

// overdueQuery says what is asked.
type overdueQuery struct {
	by     string
	host   uri.Host
	limit  int
	maxAge time.Duration
}

// overdue tells what waits though its time has come.
func (w *Window) overdue(q overdueQuery) (Overdue, error) {
	if q.host != "" {
		if _, ok := w.o.Frontier.Host(q.host, w.o.Now()); !ok {
			return Overdue{}, unknown("the host " + string(q.host))
		}
	}
	s, err := w.surveyed(q.host, q.maxAge)
	if err != nil {
		return Overdue{}, err
	}
	out := Overdue{
		AsOf: s.asOf.UTC(), Age: Seconds(w.o.Now().Sub(s.asOf)), Took: Seconds(s.took), By: q.by, Host: string(q.host),
		All: s.all.backlog("all"), Rows: []Backlog{},
	}
	groups := map[string]map[string]*load{"host": s.hosts, "mime": s.types, "wait": s.waits}[q.by]
	names := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(groups[b].most, groups[a].most), cmp.Compare(groups[b].due, groups[a].due), cmp.Compare(a, b))
	})
	out.More = max(0, len(names)-q.limit)
	for _, name := range names[:len(names)-out.More] {
		b := groups[name].backlog(name)
		if q.by == "host" {
			w.foresee(&b, groups[name])
		}
		out.Rows = append(out.Rows, b)
	}
	return out, nil
}

func (l *load) backlog(name string) Backlog {
	return Backlog{
		Name: name, URIs: l.uris, Due: l.due, Most: Seconds(l.most), P50: Seconds(l.late.Quantile(0.5)),
		P90: Seconds(l.late.Quantile(0.9)), P99: Seconds(l.late.Quantile(0.99)), Demand: l.demand * 3600,
	}
}

// foresee says when a host's backlog will be gone.
func (w *Window) foresee(b *Backlog, l *load) {
	view, _ := w.o.Frontier.Host(uri.Host(b.Name), w.o.Now())
	delay, observed := w.delayOf(uri.Host(b.Name))
	b.Delay, b.Observed = Seconds(delay), observed
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
		b.Ends = "never: the crawl stands still"
		return
	}
	if spare := capacity - l.demand; spare > capacity*leastSpare {
		in := Seconds(float64(l.due) / spare * float64(time.Second))
		b.GoneIn, b.Ends = &in, "in "+text(time.Duration(in))
		return
	}
	// As much as leaves the least to spare that a backlog needs to shrink.
	needs := Seconds(slots * (1 - leastSpare) / l.demand * float64(time.Second))
	b.NeedsDelay = &needs
	b.FewerURIs = int64(math.Ceil(float64(l.uris) * (1 - capacity*(1-leastSpare)/l.demand)))
	b.Ends = fmt.Sprintf("never: needs a delay of %s or %d URIs fewer", text(time.Duration(needs)), b.FewerURIs)
}

// leastSpare is the share of a host's capacity without which its backlog is taken to last for ever.
const leastSpare = 0.01

// text is a duration for people, to two digits or whole units.
func text(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
