package daemon

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// Process holds what several daemons of one process have in common: the archive with its index, crawl.log, and the
// addresses of the API. Each daemon has its store. Make one with [OpenProcess].
type Process struct {
	d           Daemon
	subscribers feeds.PushSwitch
	saving      sync.Mutex // of configurations: daemons read the same files at the same time
}

// Several says what a wing does for the daemons of a process together.
type Several struct {
	// Most is the maximum number of daemons.
	Most int
	// Open is called before the API is served.
	Open func(p *Process) error
	// Handler answers requests to the API of the process. The options decide who is served.
	Handler func(access.Options) http.Handler
	// Join makes one state from the states of the daemons with some numbers.
	Join func(numbers []int, states []api.Status) api.Status
}

// Member says that a daemon shares its process with others.
type Member struct {
	*Process
	// Number names the daemon in the process.
	Number int
	// Labels are added to the metrics of the daemon.
	Labels map[string]string
	// Machine names this machine to readers of packages.
	Machine string
	// Publish has the requests to the daemon answered, until withdraw is called.
	Publish func(w *admin.Window) (withdraw func())
}

// OpenProcess opens what the daemons of a process have in common. The caller closes it.
func OpenProcess(c *config.Config, o Options, s Several) (*Process, error) {
	p := &Process{d: Daemon{o: o.withDefaults(), live: config.NewLive(c), log: o.Log}}
	d := &p.d
	d.makeWings()
	d.parts = crawler.Parts{Config: d.live, Version: o.Version, Log: o.Log, FreeSpace: freeSpace(c), Now: d.o.Now}
	d.several = s
	return p, d.openAll(d.o.Now(),
		p.lock, d.checkLimits, d.openProcess, d.openFolders, d.openLog, d.openWriter, d.openRecorder,
		d.openProcessOfWings,
		func(time.Time) error { return s.Open(p) },
		func(time.Time) error { return d.serve(c.Admin, s.Handler) },
		p.openSubscribers)
}

// Close closes what the daemons had in common. They are closed before.
func (p *Process) Close() error { return p.d.close() }

// Config returns the configuration in force.
func (p *Process) Config() *config.Config { return p.d.live.Current() }

// Serve serves the API on a listener until the process is closed.
func (p *Process) Serve(l net.Listener, h http.Handler) { p.d.Serve(l, h) }

// MemberConfig returns the configuration of one of n daemons of a process. Its store and a socket are in a folder of
// its own, and the process serves the API for all.
func MemberConfig(c *config.Config, folder string, n int) *config.Config {
	own := *c
	own.Storage.State = folder
	own.Admin.Listen, own.Admin.ReplayListen = "", ""
	if own.Admin.Socket != "" {
		own.Admin.Socket = filepath.Join(folder, "admin.sock")
	}
	own.Crawl.Workers = max(workersOfMember, min(own.Crawl.Workers, 2*own.Crawl.Workers/n))
	return &own
}

// workersOfMember is the minimum number of workers of a daemon that is not the only one.
const workersOfMember = 4

// ownSettings returns the settings that a daemon of a process has for itself.
func ownSettings(c *config.Config) []*string {
	return []*string{&c.Storage.State, &c.Admin.Socket, &c.Admin.Listen, &c.Admin.ReplayListen}
}

// keep sets what only the process uses as in the configuration that is in force for a daemon, unless the operator has
// changed it.
func (p *Process) keep(own, next *config.Config) {
	was := p.Config()
	for i, setting := range ownSettings(next) {
		if *setting == *ownSettings(was)[i] {
			*setting = *ownSettings(own)[i]
		}
	}
	if next.Crawl.Workers == was.Crawl.Workers {
		next.Crawl.Workers = own.Crawl.Workers
	}
}

// saveConfig records a configuration that a daemon has put in force.
func (p *Process) saveConfig(c *config.Config) error {
	p.saving.Lock()
	defer p.saving.Unlock()
	was, next := p.Config(), *c
	for i, setting := range ownSettings(&next) {
		*setting = *ownSettings(was)[i]
	}
	next.Crawl.Workers = was.Crawl.Workers
	p.d.live.Replace(&next)
	return p.d.parts.SaveConfig(&next)
}

// openSubscribers listens for WebSub hubs, if the configuration asks for that.
func (p *Process) openSubscribers(time.Time) error {
	if !p.Config().WebSub.On() {
		return nil
	}
	return p.d.listenForHubs(p.subscribers.Serve)
}

// lock makes sure that no other process uses the archive.
func (p *Process) lock(time.Time) error {
	path := filepath.Join(p.Config().Storage.State, "node.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return FolderError{Err: err}
	}
	if err := fileio.TryLock(f); err != nil {
		return errors.Join(fmt.Errorf("%w: lock %s: %w", frontier.ErrLocked, path, err), f.Close())
	}
	p.d.closers.add(f.Close)
	return nil
}
