package admin

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Kinds of alarms. Metrics and webhooks contain them, so they never change.
const (
	alarmStandstill = "standstill" // a fault of its own stops the crawl: a full disk, an archive that is not writable
	alarmUplink     = "uplink"     // no host is reachable: our own network is down
	alarmDisk       = "disk"       // disk space runs out
	alarmBacklog    = "backlog"    // more URIs become due than are visited
	alarmConfig     = "config"     // the configuration on disk has faults and is not in force
	alarmHost       = "host"       // a host is unreachable
	alarmSilence    = "silence"    // nothing new from a host for improbably long, compared with its history
	alarmFrontPage  = "front-page" // a seed has not changed for improbably long, compared with its history
	alarmFeedGap    = "feed-gap"   // a feed lost entries between two visits
)

var allAlarms = []string{
	alarmStandstill, alarmUplink, alarmDisk, alarmBacklog, alarmConfig, alarmHost, alarmSilence, alarmFrontPage, alarmFeedGap,
}

func alarmKinds() string { return strings.Join(allAlarms, ", ") }

// countAlarms counts alarms by kind.
func countAlarms(raised []Alarm) []labelled {
	out := make([]labelled, len(allAlarms))
	for i, kind := range allAlarms {
		out[i].label = kind
		for _, a := range raised {
			if a.Kind == kind {
				out[i].value++
			}
		}
	}
	return out
}

// trouble is a problem at one moment.
type trouble struct {
	kind, about, text string
}

// Notice announces that an alarm was raised or cleared.
type Notice struct {
	Alarm
	Raised bool      `json:"raised"` // false: cleared
	At     time.Time `json:"at"`
}

type alarmKey struct{ kind, about string }

// watched is a trouble that was observed, and possibly raised as an alarm.
type watched struct {
	Alarm
	first  time.Time // start of the uninterrupted observation
	last   time.Time // last observation
	raised bool
}

// alarms turns troubles into alarms with hysteresis. An alarm is raised when its trouble has lasted for some time, and
// cleared when it has been gone for some time. So a trouble that comes and goes is reported once.
type alarms struct {
	known map[alarmKey]*watched
}

// alarmPatience says how long a kind of trouble must last before it is raised, and be gone before it is cleared. Troubles
// that are measured over hours need none.
type alarmPatience struct{ raise, clear time.Duration }

var patiences = map[string]alarmPatience{
	alarmStandstill: {time.Minute, time.Minute},
	alarmUplink:     {0, time.Minute},
	alarmDisk:       {time.Minute, 10 * time.Minute},
	alarmBacklog:    {30 * time.Minute, time.Hour},
	alarmConfig:     {time.Minute, 0},
	alarmHost:       {time.Hour, 10 * time.Minute},
	alarmSilence:    {0, time.Hour},
	alarmFrontPage:  {0, time.Hour},
	alarmFeedGap:    {0, 24 * time.Hour},
}

// maxOfKind is the maximum number of alarms of one kind.
const maxOfKind = 100

// change is an alarm that was raised or cleared.
type change struct {
	Alarm
	Raised bool
}

// see updates the alarms with the troubles of this moment and returns which alarms were raised and cleared.
func (a *alarms) see(now time.Time, troubles []trouble) (changes []change) {
	if a.known == nil {
		a.known = map[alarmKey]*watched{}
	}
	counts := map[string]int{}
	for _, x := range a.known {
		counts[x.Kind]++
	}
	for _, t := range troubles {
		key := alarmKey{t.kind, t.about}
		x := a.known[key]
		if x == nil {
			if counts[t.kind]++; counts[t.kind] > maxOfKind {
				continue
			}
			x = &watched{first: now, Alarm: Alarm{Kind: t.kind, About: t.about, Since: now.UTC()}}
			a.known[key] = x
		}
		x.last, x.Text = now, t.text
		if !x.raised && now.Sub(x.first) >= patiences[t.kind].raise {
			x.raised = true
			changes = append(changes, change{x.Alarm, true})
		}
	}
	for key, x := range a.known {
		if gone := now.Sub(x.last); gone > 0 && (!x.raised || gone >= patiences[x.Kind].clear) {
			delete(a.known, key)
			if x.raised {
				changes = append(changes, change{x.Alarm, false})
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.About, b.About))
	})
	return changes
}

// raised returns the raised alarms, newest first.
func (a *alarms) raised() []Alarm {
	out := []Alarm{}
	for _, x := range a.known {
		if x.raised {
			out = append(out, x.Alarm)
		}
	}
	slices.SortFunc(out, func(a, b Alarm) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.About, b.About))
	})
	return out
}
