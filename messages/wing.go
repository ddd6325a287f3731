package messages

import (
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/daemon"
)

// Wing returns what sends alarms and digests.
func Wing() daemon.Wing {
	o := new(office)
	return daemon.Wing{
		Name: "messages",
		Prepare: func(d *daemon.Daemon) error {
			o.open(d.Live().Current, d.Background, d.Now, d.Log())
			return nil
		},
		Extend: func(d *daemon.Daemon) admin.Extension {
			return admin.Extension{Troubles: o.troubles, Alarms: func(changes []alarm.Change, now time.Time) {
				o.Notify(notices(d.Live().Current(), changes, now))
			}}
		},
		Window: func(d *daemon.Daemon) error {
			o.Join(sourceOf(d))
			d.OnClose(func() error { o.Leave(); return nil })
			return nil
		},
	}
}
