package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
)

// Store is the frontier of a running daemon or of a stopped one. List, Count and Steer make one step of bounded work.
// They return the cursor of the next step, or "" after the last one.
//
// [OpenStore] reaches the frontier of a running daemon through its socket, or opens the store of a stopped one. The
// functions that take a Store work on both. They need little memory, however large the store is, and a daemon continues
// to crawl.
type Store interface {
	List(ctx context.Context, s frontier.Selection, from frontier.Cursor, n int) ([]frontier.Entry, frontier.Cursor, error)
	Count(ctx context.Context, s frontier.Selection, from frontier.Cursor) (int64, frontier.Cursor, error)
	Steer(
		ctx context.Context, s frontier.Selection, a frontier.Action, from frontier.Cursor,
	) (frontier.Steered, frontier.Cursor, error)
	Import(ctx context.Context, replace bool, entries ...frontier.Entry) (frontier.Imported, error)
	SteerHosts(ctx context.Context, pattern string, a frontier.HostAction) (matched, changed int64, err error)
	Close() error
}

// OpenStore returns the frontier of the daemon with this main configuration file. If no daemon answers, it opens the
// store. now is the clock.
func OpenStore(ctx context.Context, path string, now func() time.Time) (Store, error) {
	return open(ctx, path, now, daemon.OpenStopped)
}

// MakeStore is like [OpenStore], and makes the store if there is none.
func MakeStore(ctx context.Context, path string, now func() time.Time) (Store, error) {
	return open(ctx, path, now, func(ctx context.Context, c *config.Config, now time.Time) (*frontier.Frontier, error) {
		return daemon.MakeStore(ctx, c, now, false)
	})
}

// opener opens the store of a daemon that does not run.
type opener func(ctx context.Context, c *config.Config, now time.Time) (*frontier.Frontier, error)

func open(ctx context.Context, path string, now func() time.Time, stoppedStore opener) (Store, error) {
	at, err := config.Where(path)
	if err == nil && at.Socket != "" {
		client := api.NewClient(at.Socket)
		if _, _, err = client.List(ctx, frontier.Selection{}, "", 1); err == nil {
			return running{client}, nil
		}
		if !errors.Is(err, api.ErrNoDaemon) {
			return nil, err
		}
	}
	s, _, err := openStopped(ctx, at, path, now, stoppedStore)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// openStopped returns the store of a daemon that does not answer, and its configuration. at says how to reach the
// daemon.
func openStopped(
	ctx context.Context, at config.Admin, path string, now func() time.Time, open opener,
) (s stopped, c *config.Config, err error) {
	if c, err = daemon.ReadConfig(path); err != nil {
		return stopped{}, nil, err
	}
	f, err := open(ctx, c, now())
	if errors.Is(err, frontier.ErrLocked) && at.Socket == "" {
		err = fmt.Errorf("%w, or set admin.socket, which is \"off\", to have the daemon do the work", err)
	}
	if err != nil {
		return stopped{}, nil, err
	}
	return stopped{f, now, access.NewAuditLog(c.Storage.State)}, c, nil
}

// Stopped is the store of a daemon that does not run, for an order of a wing.
type Stopped struct {
	*frontier.Frontier
	// Record writes an order and its result to the audit log. A failure does not prevent the order.
	Record func(what string, order, answer any, failed error)
}

// OpenStopped opens the store of a daemon that does not answer. at says how to reach the daemon. The caller closes the
// store.
func OpenStopped(
	ctx context.Context, at config.Admin, path string, now func() time.Time,
) (Stopped, *config.Config, error) {
	s, c, err := openStopped(ctx, at, path, now, daemon.OpenStopped)
	return Stopped{s.f, s.record}, c, err
}

// running is the frontier of a running daemon.
type running struct{ *api.Client }

// Close does nothing. A client needs no closing.
func (running) Close() error { return nil }

// stopped is the frontier of a stopped daemon.
type stopped struct {
	f   *frontier.Frontier
	now func() time.Time
	log *access.AuditLog
}

// record writes an order and its result to the audit log. A failure does not prevent the order.
func (s stopped) record(what string, order, answer any, failed error) {
	e := api.AuditEntry{Time: s.now(), Who: access.CurrentUser(), Way: "store", What: what, Result: access.OrderDone}
	if failed != nil {
		e.Result = failed.Error()
	}
	e.Order, _ = json.Marshal(order)
	e.Answer, _ = json.Marshal(answer)
	_ = s.log.Add(e)
}

func (s stopped) List(
	_ context.Context, sel frontier.Selection, from frontier.Cursor, n int,
) ([]frontier.Entry, frontier.Cursor, error) {
	return s.f.List(s.now(), sel, from, n)
}

func (s stopped) Count(
	_ context.Context, sel frontier.Selection, from frontier.Cursor,
) (int64, frontier.Cursor, error) {
	return s.f.Count(s.now(), sel, from)
}

func (s stopped) Steer(
	_ context.Context, sel frontier.Selection, a frontier.Action, from frontier.Cursor,
) (frontier.Steered, frontier.Cursor, error) {
	done, next, err := s.f.Steer(s.now(), sel, a, from)
	order := map[string]any{"verb": a.Verb, "host": sel.Host, "prefix": sel.Prefix, "uris": sel.URIs}
	s.record("frontier/steer", order, done, err)
	return done, next, err
}

func (s stopped) Import(_ context.Context, replace bool, entries ...frontier.Entry) (frontier.Imported, error) {
	done, err := s.f.Import(s.now(), replace, entries...)
	s.record("frontier/import", map[string]any{"entries": len(entries), "replace": replace}, done, err)
	return done, err
}

func (s stopped) SteerHosts(
	_ context.Context, pattern string, a frontier.HostAction,
) (matched, changed int64, err error) {
	matched, changed, err = s.f.SteerHosts(s.now(), pattern, a)
	order := map[string]any{"verb": a.Verb, "pattern": pattern}
	s.record("frontier/hosts", order, map[string]int64{"changed": changed}, err)
	return matched, changed, err
}

func (s stopped) Close() error { return s.f.Close() }
