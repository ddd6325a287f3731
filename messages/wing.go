package messages

import (
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/daemon"
)

// Wing returns what sends alarms and digests.
func Wing() daemon.Wing { return new(office).wing() }

// wing returns what opens the office in a process, and connects its daemons with it.
func (o *office) wing() daemon.Wing {
	w := o.member()
	w.Member = o.member
	w.Process = func(d *daemon.Daemon) error {
		o.open(d.Live().Current, d.Join, d.Background, d.Now, d.Log())
		return nil
	}
	return w
}

// member returns what connects a daemon with the office.
func (o *office) member() daemon.Wing {
	return daemon.Wing{
		Name: "messages",
		Extend: func(d *daemon.Daemon) admin.Extension {
			return admin.Extension{Troubles: o.troubles, Alarms: func(changes []alarm.Change, now time.Time) {
				o.Notify(d.Number(), notices(d.Live().Current(), changes, now))
			}}
		},
		Window: func(d *daemon.Daemon) error {
			leave := o.Join(d.Number(), sourceOf(d))
			d.OnClose(func() error { leave(); return nil })
			return nil
		},
	}
}
