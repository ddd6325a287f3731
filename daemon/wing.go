package daemon

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
)

// Wing is a part of the program that plugs into a daemon from outside. The daemon runs without it. Functions that a
// wing does not need are nil. They are called once, in the order of the fields. Each daemon has wings of its own:
// [Options] holds the functions that make them.
type Wing struct {
	// Name is the name of its folder.
	Name string
	// Prepare is called when the store and the archive are open, before the crawler is made of the parts.
	Prepare func(d *Daemon) error
	// Open is called when the crawler is made. Nothing is visited and nothing is served yet.
	Open func(d *Daemon) error
	// Extend returns what the wing adds to the API of the daemon. It is called after Open. A test calls it with nil to
	// read the table of its requests.
	Extend func(d *Daemon) admin.Extension
}

// Live returns the configuration in force, which changes when the daemon reads its files again.
func (d *Daemon) Live() *config.Live { return d.live }

// Parts returns the parts of the crawl. Wings may change them in Prepare; later they are only read.
func (d *Daemon) Parts() *crawler.Parts { return &d.parts }

// Crawler returns the crawler. It is nil before Open of the wings.
func (d *Daemon) Crawler() *crawler.Crawler { return d.crawler }

// Now returns the time of day by the daemon's clock.
func (d *Daemon) Now() time.Time { return d.o.Now() }

// Log returns the log of what an operator should know.
func (d *Daemon) Log() zerolog.Logger { return d.log }

// Version returns the version of the program.
func (d *Daemon) Version() string { return d.o.Version }

// OnVisit lets observe be called with each settled visit, by many goroutines. It must not block.
func (d *Daemon) OnVisit(observe func(crawler.Report)) { d.observers = append(d.observers, observe) }

// OnClose lets closing be called when the daemon closes: what was opened last is closed first.
func (d *Daemon) OnClose(closing func() error) { d.closers.add(closing) }

// Background runs f in a goroutine until the daemon closes, which waits for f.
func (d *Daemon) Background(f func(ctx context.Context)) {
	stop := background(f)
	d.closers.add(func() error { stop(); return nil })
}

// prepareWings lets the wings change the parts of the crawl.
func (d *Daemon) prepareWings(time.Time) error {
	return d.eachWing(func(w Wing) func(*Daemon) error { return w.Prepare })
}

// openWings opens the parts of the wings.
func (d *Daemon) openWings(time.Time) error {
	return d.eachWing(func(w Wing) func(*Daemon) error { return w.Open })
}

// eachWing calls one function of each wing that has it, and stops at the first error.
func (d *Daemon) eachWing(function func(Wing) func(*Daemon) error) error {
	for _, w := range d.wings {
		if call := function(w); call != nil {
			if err := call(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// extensions returns what the wings add to the API.
func (d *Daemon) extensions() []admin.Extension {
	var added []admin.Extension
	for _, w := range d.wings {
		if w.Extend != nil {
			added = append(added, w.Extend(d))
		}
	}
	return added
}
