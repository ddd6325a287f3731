package daemon

import (
	"context"
	"crypto/tls"
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
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
)

const (
	// tickEvery is how often the crawl is measured for metrics and alarms.
	tickEvery = 15 * time.Second
	// requestGrace is how long a request in progress may take when the daemon stops.
	requestGrace = 2 * time.Second
)

// openAdmin opens the admin API and the dashboard: on the socket, and on a network address if one is configured.
func (d *Daemon) openAdmin(now time.Time) (err error) {
	c := d.live.Current()
	r := d.parts
	d.window, err = admin.New(admin.Options{
		Crawler: d.crawler, Frontier: r.Frontier, Trust: r.Reputation, Traps: r.Traps, Accounts: r.Daily,
		FreeSpace: r.FreeSpace, Config: d.loaded(now), Now: d.o.Now,
		Dir: c.Storage.State, Version: d.o.Version, Workers: c.Crawl.Workers, Log: d.log, Node: c.Cluster.Node,
		Extensions: d.extensions(), Missing: d.missing.Visits, Lose: d.lose, Stored: d.stored,
		Refused: d.refused.Counts,
	})
	if err != nil {
		return fmt.Errorf("open the admin API: %w", err)
	}
	d.closers.stop(func() {
		if err := d.window.Close(d.o.Now()); err != nil {
			d.log.Warn().Err(err).Msg("could not store the counts of the last minute; they are lost")
		}
	})
	if err := d.eachWing(func(w Wing) func(*Daemon) error { return w.Window })(now); err != nil {
		return err
	}
	d.background("counts of the crawl", d.tick)
	handler := d.window.Handler
	if owner := d.o.Owner; owner != nil {
		d.background(ownerPart, func(ctx context.Context) { owner.Watch(ctx, d) })
	}
	for _, w := range d.wings {
		if w.Serve == nil {
			continue
		}
		d.opening = w.Name
		if handler, err = w.Serve(d, handler); err != nil {
			return err
		}
	}
	return errors.Join(d.serveSocket(c.Admin, handler), d.serveAddress(c.Admin, handler))
}

// loaded returns a function that describes the configuration in force, for a daemon that started at a given time.
func (d *Daemon) loaded(started time.Time) func() admin.Loaded {
	var doubts doubts
	return func() admin.Loaded {
		l := d.crawler.ConfigStatus()
		if l.At.IsZero() {
			l.At = started
		}
		c := d.live.Current()
		return admin.Loaded{
			Config: c, At: l.At, Tried: l.Tried, Faults: l.Faults, Warnings: doubts.about(c, d.parts.Frontier, d.o.Now()),
		}
	}
}

// doubtsAge is how long the warnings about a configuration are reused, because they read the names of all hosts.
const doubtsAge = time.Minute

// doubts holds the warnings about the configuration in force.
type doubts struct {
	mu     sync.Mutex // guards the fields below
	config *config.Config
	at     time.Time
	list   []config.Fault
}

// about returns the warnings about a configuration.
func (d *doubts) about(c *config.Config, f *frontier.Frontier, now time.Time) []config.Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.config != c || now.Sub(d.at) > doubtsAge {
		d.config, d.at, d.list = c, now, c.Doubts(now, f.KnowsHost)
	}
	return d.list
}

// tick measures the crawl from time to time, until ctx ends.
func (d *Daemon) tick(ctx context.Context) {
	for wait(ctx, tickEvery) == nil {
		if err := d.window.Tick(time.Now()); err != nil {
			d.log.Warn().Err(err).Msg("could not store the counts of a minute; they are lost")
		}
	}
}

// serveSocket serves the API on the unix socket, unless it is switched off.
func (d *Daemon) serveSocket(c config.Admin, handler func(access.Options) http.Handler) error {
	if c.Socket == "" {
		return nil
	}
	l, err := listenSocket(c.Socket)
	if err != nil {
		return FolderError{Err: fmt.Errorf("admin.socket: open %s: %w; name another path, or set admin.socket = \"off\"", c.Socket, err)}
	}
	// A socket that is left is replaced at the next start.
	d.closers.stop(func() { _ = removeSocket(c.Socket) })
	d.Serve(l, handler(access.Options{}))
	return nil
}

// serveAddress serves the API on the network address, if one is configured, to clients that have the token.
func (d *Daemon) serveAddress(c config.Admin, handler func(access.Options) http.Handler) error {
	if c.Listen == "" {
		return nil
	}
	o, err := access.Open(c, d.o.Now, d.log)
	if err != nil {
		return FolderError{Err: fmt.Errorf("admin.listen: %w", err)}
	}
	l, err := d.Listen("admin.listen", c.Listen)
	if err != nil {
		return err
	}
	o.SignIns.Keep(filepath.Join(d.live.Current().Storage.State, "sessions.json"), d.log)
	scheme := "http"
	if o.TLS {
		scheme = "https"
	}
	d.Serve(l, handler(o))
	d.log.Info().Str("at", scheme+"://"+l.Addr().String()+"/").Str("tokens", c.TokenFile).
		Msg("serving the admin API; clients need a token of this file, or a user and a password")
	return nil
}

// Listen opens an address for clients of the dashboard. It serves over TLS if the configuration says so. key is the key
// of the configuration, for errors.
func (d *Daemon) Listen(key, address string) (net.Listener, error) {
	c := d.live.Current().Admin
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, FolderError{Err: fmt.Errorf("%s: %w", key, err)}
	}
	if c.Remote != config.RemoteTLS {
		return l, nil
	}
	pair, err := newKeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, FolderError{Err: errors.Join(fmt.Errorf("admin.tls_cert: %w", err), l.Close())}
	}
	return tls.NewListener(l, pair.ServerConfig()), nil
}

// Serve serves h on l until the daemon is closed.
func (d *Daemon) Serve(l net.Listener, h http.Handler) {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 5 * time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ConnContext: access.WithPeer,
	}
	wait := d.serveBounded(server, l, func(err error) {
		d.log.Error().Err(err).Str("at", l.Addr().String()).Msg("the admin API stopped serving; the crawl continues, restart the daemon to restore it")
	})
	d.closers.part("API at "+l.Addr().String(), func() error {
		ctx, cancel := context.WithTimeout(context.Background(), requestGrace)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		wait()
		return nil
	})
}

// stored adds which WARC files grow, where finished ones are, which are lost, and why a failure of its copy would lose
// visits.
func (d *Daemon) stored(a *api.Archive) {
	if d.o.Owner != nil {
		a.Database = d.o.Owner.StandBy()
	}
	for _, f := range d.parts.Archive.Growing() {
		a.Files = append(a.Files, api.WARCFile{Name: f.Name, Opened: f.Opened.UTC(), Size: f.Size})
	}
	a.Lost = api.CountLosses(d.parts.Dedup.Losses())
	for _, k := range d.keepers {
		k.Archived(a)
	}
}

// keyPair is a certificate and its key, in files that are renewed while the daemon runs.
type keyPair struct {
	cert, key string // paths

	mu       sync.Mutex // guards the fields below
	modified time.Time  // of the certificate
	pair     *tls.Certificate
}

// newKeyPair reads a certificate and its key.
func newKeyPair(cert, key string) (*keyPair, error) {
	p := &keyPair{cert: cert, key: key}
	return p, p.read()
}

// read reads the files if the certificate has changed. If they cannot be used, the last good pair stays.
func (p *keyPair) read() error {
	info, err := os.Stat(p.cert)
	if err != nil || info.ModTime().Equal(p.modified) {
		return err
	}
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return err
	}
	p.pair, p.modified = &pair, info.ModTime()
	return nil
}

// ServerConfig returns the settings of a server with the certificate that is in the files when a client connects.
func (p *keyPair) ServerConfig() *tls.Config {
	current := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = p.read() // files that are being written are read with the next connection
		return p.pair, nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: current, NextProtos: []string{"http/1.1"}}
}
