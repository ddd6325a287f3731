package daemon

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/warcout"
)

// Wing is a part of the program that plugs into a daemon from outside. The daemon runs without it. Functions that a
// wing does not need are nil. They are called once, in the order of the fields. Each daemon has wings of its own:
// [Options] holds the functions that make them.
type Wing struct {
	// Name is the name of its folder.
	Name string
	// Keep is called when the store is open and the archive is about to be opened.
	Keep func(d *Daemon) (Keeper, error)
	// Prepare is called when the store and the archive are open, before the crawler is made of the parts.
	Prepare func(d *Daemon) error
	// Open is called when the crawler is made. Nothing is visited and nothing is served yet.
	Open func(d *Daemon) error
	// Extend returns what the wing adds to the API of the daemon. It is called after Open. A test calls it with nil to
	// read the table of its requests.
	Extend func(d *Daemon) admin.Extension
	// Window is called when [Daemon.Window] is made. It counts nothing and is not served yet.
	Window func(d *Daemon) error
	// Serve returns what answers requests to the API: plain does for this daemon alone. It is called before anything is
	// served, and may open further addresses with [Daemon.Serve].
	Serve func(d *Daemon, plain func(access.Options) http.Handler) (func(access.Options) http.Handler, error)
	// Lost is called when somebody says that WARC files are lost or found. It must not block.
	Lost func()

	// The functions below are called without a daemon. The wing may be made for one call only.

	// Run, when set, may run the process until ctx ends, with a daemon that it opens itself. taken is false if the
	// configuration does not ask for that.
	Run func(ctx context.Context, c *config.Config, o Options) (taken bool, err error)
	// Stopped is asked before a command opens the store of a daemon that does not run. It returns an error if the command
	// must not.
	Stopped func(ctx context.Context, c *config.Config) error
	// Alone is called when a daemon opens a store that it owns itself, and which it is going to change.
	Alone func(c *config.Config) error
}

type wingsKey struct{}

// WithWings returns a context for commands of a program with some wings, which may own stores.
func WithWings(ctx context.Context, wings []func() Wing) context.Context {
	return context.WithValue(ctx, wingsKey{}, wings)
}

// wingsOf returns the wings of a program.
func wingsOf(ctx context.Context) []func() Wing {
	wings, _ := ctx.Value(wingsKey{}).([]func() Wing)
	return wings
}

// linked returns an error if a file sets keys of a wing that is not among some. Without the wing they would have no
// effect; and the store of a crawl that others follow would be changed, and the changes would be lost.
func linked(c *config.Config, wings []func() Wing) error {
	lacks := c.Lacks(func(name string) bool {
		return slices.ContainsFunc(wings, func(wing func() Wing) bool { return wing().Name == name })
	})
	if lacks == "" {
		return nil
	}
	return fmt.Errorf("%s has %s, and this program was built without it: use another build of arcrawl, or remove it",
		c.Path, lacks)
}

// Live returns the configuration in force, which changes when the daemon reads its files again.
func (d *Daemon) Live() *config.Live { return d.live }

// Parts returns the parts of the crawl. Wings may change them in Prepare; later they are only read.
func (d *Daemon) Parts() *crawler.Parts { return &d.parts }

// Crawler returns the crawler. It is nil before Open of the wings.
func (d *Daemon) Crawler() *crawler.Crawler { return d.crawler }

// Window returns what shows and steers the crawl. It is nil before the API is open.
func (d *Daemon) Window() *admin.Window { return d.window }

// Owner returns who owns the store; nil if nobody but the daemon does.
func (d *Daemon) Owner() Owner { return d.o.Owner }

// Archived is the live index of the archive, with which captures are found. It is nil if the archive has none.
func (d *Daemon) Archived() *index.Live { return d.index.live }

// Now returns the time of day by the daemon's clock.
func (d *Daemon) Now() time.Time { return d.o.Now() }

// Version returns the version of the program.
func (d *Daemon) Version() string { return d.o.Version }

// Log returns the log of what an operator should know.
func (d *Daemon) Log() zerolog.Logger { return d.log }

// OnVisit lets observe be called with each settled visit, by many goroutines. It must not block.
func (d *Daemon) OnVisit(observe func(crawler.Report)) { d.observers = append(d.observers, observe) }

// OnClose lets closing be called when the daemon closes: what was opened last is closed first.
//
// closing must end within what crawl.grace has left. If it does not, the daemon names the wing in its log and closes
// the archive and the store; their methods then return errors.
func (d *Daemon) OnClose(closing func() error) { d.closers.part(d.opening, closing) }

// Background runs f in a goroutine until the daemon closes, which waits for f as [Daemon.OnClose] says. What was opened
// before is still open then.
func (d *Daemon) Background(f func(ctx context.Context)) {
	d.background(d.opening, f)
}

// background runs f in a goroutine, as a part with a name, until the daemon closes.
func (d *Daemon) background(part string, f func(ctx context.Context)) {
	stop := background(f)
	d.closers.part(part, func() error { stop(); return nil })
}

// eachWing returns a function that calls one function of each wing that has it, and stops at the first error.
func (d *Daemon) eachWing(function func(Wing) func(*Daemon) error) func(time.Time) error {
	return func(time.Time) error {
		for _, w := range d.wings {
			if call := function(w); call != nil {
				d.opening = w.Name
				if err := call(d); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// extensions returns what the wings add to the API.
func (d *Daemon) extensions() []admin.Extension {
	var added []admin.Extension
	for _, w := range d.wings {
		if w.Extend != nil {
			d.opening = w.Name
			added = append(added, w.Extend(d))
		}
	}
	return added
}

// Keeper looks after the archive of a daemon for a wing. The archive is whole and has its index without it. What the
// keeper starts in the background, it starts with [Daemon.Background].
type Keeper interface {
	// Captured is called with the record of each capture, before the live index has its line. original is the record that
	// holds the payload of a revisit. Many goroutines call it.
	Captured(record, original digest.Origin, line index.Entry) error
	// Again is called at the start, with each line that a crash may have kept away.
	Again(line []byte) error
	// Sync is called before lines are merged into the index. What the keeper needs of them must then be on disk.
	Sync() error

	// Elsewhere returns which WARC files are not in their folder on purpose. It is called before Open.
	Elsewhere() (func(file string) bool, error)
	// Open is called when the writer of the archive and the live index are open, and nothing is written yet.
	Open(w *warcout.Writer) error
	// Finish is called when the last WARC files are finished, before the live index is closed. What Open started in the
	// background has ended.
	Finish()
	// Archived adds to what the status of the crawl says of the archive.
	Archived(a *api.Archive)
}

// keeperOf is the keeper of a wing.
type keeperOf struct {
	Keeper
	wing string
}

// openKeepers calls the wings that look after the archive.
func (d *Daemon) openKeepers() error {
	for _, w := range d.wings {
		if w.Keep == nil {
			continue
		}
		d.opening = w.Name
		k, err := w.Keep(d)
		if err != nil {
			return err
		}
		d.keepers = append(d.keepers, keeperOf{k, w.Name})
	}
	return nil
}
