package admin

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// alarmFile is the name of the file with the raised alarms.
const alarmFile = "alarms.json"

// maxNote is the maximum length of a note in bytes.
const maxNote = 1000

// alarmRoutes returns the requests about alarms.
func alarmRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: api.Base + "/alarms", Answer: api.Alarms{}, Params: Filtered(),
			Doc: "Returns the raised alarms, newest first. With a filter of hosts, alarms about the crawl as a whole are left out.",
			Serve: func(w *Window, r *http.Request) (any, error) {
				return w.AlarmsOf(w.Chooses(FilterOf(r))), nil
			},
		},
		{
			Method: "POST", Path: api.Base + "/alarms/acknowledge", Needs: access.Curate,
			Doc:  "Records that somebody knows of raised alarms. They are no longer shown on top, until they end and are raised again.",
			Body: api.Acknowledge{}, Answer: api.Acknowledged{},
			Serve: func(w *Window, r *http.Request) (any, error) {
				o, err := Read[api.Acknowledge](r)
				if err != nil {
					return nil, err
				}
				return w.acknowledge(o, access.CallerOf(r.Context()).Name)
			},
		},
	}
}

// AlarmsOf returns the raised alarms about chosen hosts; all if chosen is nil.
func (w *Window) AlarmsOf(chosen Choice) api.Alarms {
	w.mu.Lock()
	out := api.Alarms{Alarms: w.alarms.Raised()}
	w.mu.Unlock()
	if chosen != nil {
		out.Alarms = slices.DeleteFunc(out.Alarms, func(a api.Alarm) bool {
			return a.Host == "" || !chosen(uri.Host(a.Host))
		})
	}
	return out
}

// acknowledge records who knows of raised alarms.
func (w *Window) acknowledge(o api.Acknowledge, who string) (api.Acknowledged, error) {
	switch {
	case !slices.Contains(alarm.Kinds(), o.Kind):
		kinds := strings.Join(alarm.Kinds(), ", ")
		return api.Acknowledged{}, Fault("unknown kind of alarm %q; valid kinds: %s", o.Kind, kinds)
	case len(o.Note) > maxNote:
		return api.Acknowledged{}, Fault("the note has %d bytes; the maximum is %d", len(o.Note), maxNote)
	}
	w.mu.Lock()
	n := w.alarms.Acknowledge(o, who, w.o.Now())
	raised := w.alarms.Raised()
	w.mu.Unlock()
	if n == 0 {
		what := strings.TrimSpace(o.Kind + " " + o.About)
		return api.Acknowledged{}, Unknown("an alarm " + what + " that this would change")
	}
	w.saveAlarms(raised)
	return api.Acknowledged{Changed: n}, nil
}

// saveAlarms stores the raised alarms for the next run.
func (w *Window) saveAlarms(raised []api.Alarm) {
	if err := saveJSON(w.o.Dir, alarmFile, raised); err != nil {
		w.o.Log.Error().Err(err).Msg("could not store the raised alarms: a restart forgets who acknowledged them")
	}
}

// Thresholds of troubles.
const (
	minFailures  = 3             // times in a row that a host was unreachable
	minOverdue   = time.Hour     // of the URI that has been due for longest
	minDue       = 100           // URIs that are due
	growth       = 1.1           // factor of the due URIs within growthTime
	growthTime   = 6 * time.Hour // over which growth is measured
	soonFull     = 24 * time.Hour
	silenceEvery = time.Hour // between two checks for silence, each of which reads every URI
)

// troubles returns the problems of this moment.
func (w *Window) troubles(now time.Time) []alarm.Trouble {
	stand := w.o.Crawler.Status()
	var list []alarm.Trouble
	add := func(kind, about, format string, args ...any) {
		list = append(list, alarm.Trouble{Kind: kind, About: about, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case stand.Uplink:
		add(alarm.Uplink, "", "%s", stand.Held)
	case stand.Held != "":
		add(alarm.Standstill, "", "the crawl has stopped: %s", stand.Held)
	}
	if l := w.o.Config(); len(l.Faults) > 0 {
		add(alarm.Config, "", "the configuration on disk has %s; the last good one stays in force; arcrawl check lists the "+
			"faults", human.Count(len(l.Faults), "fault"))
	}
	if err := w.audit.Check(); err != nil {
		add(alarm.Audit, "", "orders are not recorded: %v; give the file to the user of the daemon", err)
	}
	if !stand.Uplink {
		for _, h := range w.o.Frontier.HostsDown(now, minFailures) {
			add(alarm.Host, string(h.Host), "%s was unreachable %d times in a row; its URIs keep their places%s",
				human.Host(string(h.Host)), h.Failures, because(h.Reason))
		}
	}
	if w.o.Stored != nil {
		var a api.Archive
		w.o.Stored(&a)
		list = append(list, alarm.ArchiveTroubles(a)...)
	}
	for _, d := range w.o.Crawler.ProxiesDown() {
		add(alarm.Proxy, d.Name,
			"the proxy %s has not worked since %s; the hosts behind it rest and lose nothing; the reason is: %s",
			d.Name, d.Since.UTC().Format(time.RFC3339), d.Why)
	}
	for _, f := range w.o.Crawler.LoginFailures() {
		add(alarm.Login, string(f.Host),
			"the login to %s fails; the host rests and is tried again at growing intervals; the reason is: %s",
			human.Host(string(f.Host)), f.Why)
	}
	for _, added := range w.o.Extensions {
		if added.Troubles != nil {
			list = append(list, added.Troubles()...)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.diskTrouble(add)
	w.backlogTrouble(add, now)
	list = append(list, w.gaps.Troubles(now)...)
	list = append(list, w.documents.Troubles(now)...)
	return append(list, w.silences...)
}

// because returns a reason as the end of a sentence; "" if there is none.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return "; the reason is: " + reason
}

// diskTrouble checks the free disk space. The caller holds w.mu.
func (w *Window) diskTrouble(add func(kind, about, format string, args ...any)) {
	d := api.Disk{Free: w.free, MinFree: w.o.Config().Config.Storage.MinFree}
	switch in := w.series.FullIn(d); {
	case d.Free < 0:
	case d.Free < 2*d.MinFree:
		add(alarm.Disk, "", "%s of disk space are free; the crawl pauses below %s; free some space",
			human.Bytes(d.Free), human.Bytes(d.MinFree))
	case in != nil && time.Duration(*in) < soonFull:
		add(alarm.Disk, "", "the disk will be full in %s at the rate of the last day; %s are free",
			human.About(time.Duration(*in)), human.Bytes(d.Free))
	}
}

// backlogTrouble compares the number of due URIs with some hours ago. The caller holds w.mu.
func (w *Window) backlogTrouble(add func(kind, about, format string, args ...any), now time.Time) {
	recent := w.series.Since(now.Add(-growthTime - time.Minute))
	if len(recent) < int(growthTime/time.Minute)/2 || w.o.Crawler.Status() != (crawler.Status{}) {
		return
	}
	then, at := recent[0].Gauges, recent[len(recent)-1].Gauges
	late := time.Duration(at.Overdue) * time.Second
	growing := then.Due >= 0 && float64(at.Due) >= growth*float64(then.Due) && at.Overdue > then.Overdue
	if !growing || at.Due < minDue || late < minOverdue {
		return
	}
	add(alarm.Backlog, "", "the backlog is growing: %d URIs are due, %d were due %s ago, the oldest is %s overdue; "+
		"arcrawl overdue shows what would clear it", at.Due, then.Due, human.About(growthTime), human.About(late))
}

// checkSilence checks once in silenceEvery whether hosts and seeds have been silent for too long.
func (w *Window) checkSilence(now time.Time) error {
	w.mu.Lock()
	wait := now.Before(w.silenceChecked.Add(silenceEvery))
	if !wait {
		w.silenceChecked = now
	}
	w.mu.Unlock()
	if wait || w.o.Crawler.Status() != (crawler.Status{}) {
		return nil
	}
	lives, err := w.survey.hostLives(silenceEvery / 2)
	if err != nil {
		return err
	}
	seeds, closed := w.seedLives()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silences = closed
	for host, l := range lives {
		if t, yes := l.HostSilence(string(host), w.activities, now); yes {
			w.silences = append(w.silences, t)
		}
	}
	for u, l := range seeds {
		if t, yes := l.SeedSilence(u, w.activities, now); yes {
			w.silences = append(w.silences, t)
		}
	}
	slices.SortFunc(w.silences, func(a, b alarm.Trouble) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.About, b.About))
	})
	return saveJSON(w.o.Dir, activityFile, w.activities)
}

// seedLives returns how often each seed changed, and the troubles of the seeds that let nobody in.
func (w *Window) seedLives() (lives map[string]alarm.Life, closed []alarm.Trouble) {
	lives = map[string]alarm.Life{}
	c := w.o.Config().Config
	for _, seed := range c.Seeds {
		r, ok, err := w.o.Frontier.Get(seed.URI)
		if err != nil || !ok {
			continue
		}
		lives[seed.URI.String()] = alarm.Life{Changes: int64(r.Versions - 1), First: r.FirstSeen, Last: r.LastChange}
		s := c.For(config.About{URI: seed.URI, Now: w.o.Now()})
		gone := config.Own[misfortune.Options](&s).GoneAfter
		f, yes := w.seedFault(r, func(r frontier.Record) (int, int) { return patience(r, gone, w.o.Now()) })
		if yes {
			closed = append(closed, alarm.Trouble{Kind: alarm.Seed, About: r.URI.String(), Text: f.text(r)})
		}
	}
	return lives, closed
}

// noteActivity updates the activity of the host of a visit, and of its URI if it is a seed.
func (w *Window) noteActivity(r crawler.Report) {
	if r.Failed || r.Verdict.State == evaluators.Unknown {
		return
	}
	changed := r.Verdict.State == evaluators.Changed
	w.activities.Add(string(r.URI.Host()), changed, r.Finished)
	if r.Hops == "" {
		w.activities.Add(r.URI.String(), changed, r.Finished)
	}
}

// watch turns troubles into alarms, and reports which were raised and cleared.
func (w *Window) watch(now time.Time) {
	if err := w.checkSilence(now); err != nil {
		w.o.Log.Error().Err(err).Msg("could not check hosts for silence")
	}
	troubles := w.troubles(now)
	w.mu.Lock()
	changes := w.alarms.Update(now, troubles)
	raised := w.alarms.Raised()
	w.mu.Unlock()
	if len(changes) == 0 {
		return
	}
	for _, c := range changes {
		if c.Raised {
			w.o.Log.Warn().Str("alarm", c.Kind).Str("about", c.About).Msg(c.Text)
		} else {
			w.o.Log.Info().Str("alarm", c.Kind).Str("about", c.About).Msg("alarm cleared: " + c.Text)
		}
	}
	// A crash between the two repeats changes; the other way round it would lose them.
	for _, added := range w.o.Extensions {
		if added.Alarms != nil {
			added.Alarms(changes, now)
		}
	}
	w.saveAlarms(raised)
}
