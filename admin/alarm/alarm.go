package alarm

import (
	"cmp"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// Kinds of alarms. Metrics and webhooks contain them, so they never change.
const (
	Standstill = "standstill" // a fault of its own stops the crawl: a full disk, an archive that is not writable
	Uplink     = "uplink"     // no host is reachable: our own network is down
	Disk       = "disk"       // disk space runs out
	Backlog    = "backlog"    // more URIs become due than are visited
	Config     = "config"     // the configuration on disk has faults and is not in force
	Host       = "host"       // a host is unreachable
	Silence    = "silence"    // nothing new from a host for improbably long, compared with its history
	FrontPage  = "front-page" // a seed has not changed for improbably long, compared with its history
	FeedGap    = "feed-gap"   // a feed lost entries between two visits
	Rules      = "rules"      // the scrubbing rules take too long on a page, which is compared whole
	Seed       = "seed"       // a seed lets nobody in: a wall, a challenge, a refusal, or it is gone
	Sealed     = "sealed"     // nobody takes the finished archive files
	Lost       = "lost"       // finished archive files are gone
	Fixity     = "fixity"     // finished archive files are not what they were when they were sealed
	Proxy      = "proxy"      // a proxy does not work
	Folders    = "folders"    // finished archive files cannot be moved to further folders
	Login      = "login"      // the login to a host fails
	Upload     = "upload"     // finished archive files cannot be uploaded
	Database   = "database"   // the database of the cluster has no synchronous replica
	Audit      = "audit"      // the audit log cannot be written
	// Subscription is the kind of an alarm about changes of pages that a mail server or a webhook does not take.
	Subscription = "subscription"
	Document     = "document" // a document could not be processed because of a fault of the program
)

// traits says how alarms of one kind behave.
type traits struct {
	kind   string
	raise  time.Duration // a trouble must last for that long before it is raised; one that is measured over hours need not
	clear  time.Duration // and must be gone for that long before it is cleared
	ofHost bool          // About names a host; otherwise it may name a URI, or nothing
}

// everyKind lists all kinds, in the order in which people see them.
var everyKind = []traits{
	{Standstill, time.Minute, time.Minute, false},
	{Uplink, 0, time.Minute, false},
	{Disk, time.Minute, 10 * time.Minute, false},
	{Backlog, 30 * time.Minute, time.Hour, false},
	{Config, time.Minute, 0, false},
	{Audit, 0, time.Minute, false},
	{Host, time.Hour, 10 * time.Minute, true},
	{Silence, 0, time.Hour, true},
	{FrontPage, 0, time.Hour, false},
	{FeedGap, 0, 0, true},
	{Seed, 0, time.Hour, false},
	{Document, 0, time.Hour, true},
	{Rules, 0, time.Hour, true},
	{Sealed, 15 * time.Minute, time.Minute, false},
	{Lost, 0, time.Minute, false},
	{Fixity, 0, time.Minute, false},
	{Proxy, time.Minute, time.Minute, false},
	{Folders, time.Minute, time.Minute, false},
	{Login, 0, time.Minute, true},
	{Upload, 15 * time.Minute, time.Minute, false},
	{Database, time.Minute, time.Minute, false},
	{Subscription, 15 * time.Minute, time.Minute, false},
}

// Kinds returns every kind of alarm.
func Kinds() []string {
	kinds := make([]string, len(everyKind))
	for i, t := range everyKind {
		kinds[i] = t.kind
	}
	return kinds
}

// of returns the traits of a kind.
func of(kind string) traits {
	return everyKind[slices.IndexFunc(everyKind, func(t traits) bool { return t.kind == kind })]
}

// Trouble is a problem at one moment.
type Trouble struct {
	Kind, About, Text string
}

// hostOf returns the host that an alarm is about; "" if it is about the whole crawl.
func hostOf(kind, about string) string {
	if of(kind).ofHost {
		return about
	}
	if u, err := uri.Parse(about); err == nil {
		return string(u.Host())
	}
	return ""
}

type alarmKey struct{ kind, about string }

// watched is a trouble that was observed, and possibly raised as an alarm.
type watched struct {
	api.Alarm
	first  time.Time // start of the uninterrupted observation
	last   time.Time // last observation
	raised bool
}

// Set turns troubles into alarms with hysteresis. An alarm is raised when its trouble has lasted for some time, and
// cleared when it has been gone for some time. So a trouble that comes and goes is reported once.
type Set struct {
	known map[alarmKey]*watched
}

// maxOfKind is the maximum number of alarms of one kind.
const maxOfKind = 100

// Change is an alarm that was raised or cleared.
type Change struct {
	api.Alarm
	Raised bool
}

// Update updates the alarms with the troubles of this moment and returns which alarms were raised and cleared.
func (a *Set) Update(now time.Time, troubles []Trouble) (changes []Change) {
	if a.known == nil {
		a.known = map[alarmKey]*watched{}
	}
	counts := map[string]int{}
	for _, x := range a.known {
		counts[x.Kind]++
	}
	for _, t := range troubles {
		key := alarmKey{t.Kind, t.About}
		x := a.known[key]
		if x == nil {
			if counts[t.Kind]++; counts[t.Kind] > maxOfKind {
				continue
			}
			x = &watched{first: now, Alarm: api.Alarm{
				Kind: t.Kind, About: t.About, Host: hostOf(t.Kind, t.About), Since: now.UTC(),
			}}
			x.Unicode = human.Unicode(x.Host)
			a.known[key] = x
		}
		x.last, x.Text = now, t.Text
		if !x.raised && now.Sub(x.first) >= of(t.Kind).raise {
			x.raised = true
			changes = append(changes, Change{x.Alarm, true})
		}
	}
	for key, x := range a.known {
		if gone := now.Sub(x.last); gone > 0 && (!x.raised || gone >= of(x.Kind).clear) {
			delete(a.known, key)
			if x.raised {
				changes = append(changes, Change{x.Alarm, false})
			}
		}
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.About, b.About))
	})
	return changes
}

// Raised returns the raised alarms, newest first.
func (a *Set) Raised() []api.Alarm {
	out := []api.Alarm{}
	for _, x := range a.known {
		if x.raised {
			out = append(out, x.Alarm)
		}
	}
	slices.SortFunc(out, func(a, b api.Alarm) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.About, b.About))
	})
	return out
}

// Acknowledge records that somebody knows of raised alarms, or takes that back. An empty about selects all alarms of
// the kind. It returns the number of alarms that it changed.
func (a *Set) Acknowledge(o api.Acknowledge, who string, now time.Time) (changed int) {
	for key, x := range a.known {
		if !x.raised || key.kind != o.Kind || o.About != "" && key.about != o.About || (x.Acknowledged == nil) == o.Undo {
			continue
		}
		x.Acknowledged = nil
		if !o.Undo {
			x.Acknowledged = &api.Acknowledgement{Who: who, At: now.UTC(), Note: o.Note}
		}
		changed++
	}
	return changed
}

// Restore makes the alarms raised that an earlier run had raised, with their acknowledgements. They are cleared if
// their troubles do not show again.
func (a *Set) Restore(raised []api.Alarm, now time.Time) {
	a.known = map[alarmKey]*watched{}
	for _, x := range raised {
		a.known[alarmKey{x.Kind, x.About}] = &watched{Alarm: x, first: x.Since, last: now, raised: true}
	}
}

// Acknowledged counts the acknowledged alarms among raised ones.
func Acknowledged(raised []api.Alarm) (n int) {
	for _, x := range raised {
		if x.Acknowledged != nil {
			n++
		}
	}
	return n
}
