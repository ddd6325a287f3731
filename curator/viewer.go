package curator

import (
	"errors"
	"fmt"
	"net"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
)

// viewer shows archived versions as pages, on an address of its own.
type viewer struct {
	catalog catalog
	browser OpenBrowser
}

// wing returns the wing of a daemon whose versions this viewer shows.
func (v *viewer) wing() daemon.Wing {
	return daemon.Wing{Name: "curator", Prepare: v.open, Extend: func(d *daemon.Daemon) admin.Extension {
		c := &curation{catalog: v.catalog, browser: v.browser}
		c.archive = func(series, uri, about string, content []byte) error {
			_, err := d.Parts().Archive.WriteNote(d.Now(), series, uri, about, "application/json", content)
			return err
		}
		return c.extension()
	}}
}

// open serves archived versions on their address, if one is configured.
func (v *viewer) open(d *daemon.Daemon) error {
	c := d.Live().Current().Admin
	v.catalog = catalog{
		Archive: captures.NewLiveReader(d.Archived()), Tickets: newTickets(),
		Site:   playerAddress{URL: c.ReplayURL, TLS: c.Remote == config.RemoteTLS, Engine: c.ReplayAssets},
		Config: d.Live().Current,
	}
	if v.catalog.Archive == nil || c.ReplayListen == "" {
		return nil
	}
	l, err := d.Listen("admin.replay_listen", c.ReplayListen)
	if err != nil {
		return err
	}
	v.catalog.Site.Listen = l.Addr().String()
	return v.serve(d, l)
}

// serve serves archived versions on l.
func (v *viewer) serve(d *daemon.Daemon, l net.Listener) error {
	c, log := d.Live().Current().Admin, d.Log()
	o, err := access.Open(c, d.Now, log)
	if err != nil {
		return daemon.FolderError{Err: errors.Join(fmt.Errorf("admin.replay_listen: %w", err), l.Close())}
	}
	if !HasEngine(c.ReplayAssets) {
		log.Warn().Str("folder", c.ReplayAssets).
			Msg("archived versions are not shown as pages: the folder has no engine; install the package arcrawl-replay")
	}
	d.Serve(l, newPlayer(playerOptions{
		Archive: v.catalog.Archive, Engine: c.ReplayAssets, Tickets: v.catalog.Tickets, Now: d.Now, Log: log,
		Names: func() []string { return holders(o) }, Config: d.Live().Current,
		Remote: &remote{
			archive: &v.catalog, tokens: o.Tokens, origin: c.ReplayURL, now: d.Now, log: log,
			reading: make(chan struct{}, maxRemote),
		},
	}))
	log.Info().Str("at", v.catalog.Site.Listen).Msg("serving archived versions to the dashboard")
	return nil
}
