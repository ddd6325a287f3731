package alarm

import (
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
)

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
