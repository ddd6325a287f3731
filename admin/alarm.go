package admin

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Kinds of alarms. They stand in metrics, in webhooks and in what operators write about them, and never change.
const (
	alarmStandstill = "standstill" // the crawl stands still by a fault of its own: a full disk, an archive that cannot be written
	alarmUplink     = "uplink"     // no host can be reached: our own network is down
	alarmDisk       = "disk"       // space runs out
	alarmBacklog    = "backlog"    // more becomes due than is visited
	alarmConfig     = "config"     // the configuration on disk is faulty and not in force
	alarmHost       = "host"       // a host cannot be reached
	alarmSilence    = "silence"    // nothing new from a host for longer than its history allows
	alarmFrontPage  = "front-page" // a seed has not changed for longer than its history allows
	alarmFeedGap    = "feed-gap"   // a feed turned over faster than it was read
)

var allAlarms = []string{
	alarmStandstill, alarmUplink, alarmDisk, alarmBacklog, alarmConfig, alarmHost, alarmSilence, alarmFrontPage, alarmFeedGap,
}

func alarmKinds() string { return strings.Join(allAlarms, ", ") }

// countAlarms counts by kind.
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

// trouble is something that is wrong at one moment.
type trouble struct {
	kind, about, text string
}

// Notice tells that an alarm was raised or cleared.
type Notice struct {
	Alarm
	Raised bool      `json:"raised"` // false: it is over
	At     time.Time `json:"at"`
}

type alarmKey struct{ kind, about string }

// watched is a trouble that was seen, and whether it has lasted long enough to be an alarm.
type watched struct {
	Alarm
	first  time.Time // since when it is seen without a pause
	last   time.Time // when it was last seen
	raised bool
}

// alarms turns troubles into alarms with hysteresis: one is raised when its trouble has lasted for some time, and cleared
// when it has been gone for some time, so that what flickers is told once.
type alarms struct {
	known map[alarmKey]*watched
}

// alarmPatience says how long a kind of trouble lasts before it is raised, and is gone before it is cleared. What is measured
// over hours itself needs none.
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

// maxOfKind bounds the alarms of a kind: with more, they are not each worth a look.
const maxOfKind = 100

// change is an alarm that was raised or cleared.
type change struct {
	Alarm
	Raised bool
}

// see takes the troubles of this moment, and gives what is raised and cleared by them.
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

// raised lists what is raised, the newest first.
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
