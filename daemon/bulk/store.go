// Package bulk reads and changes many URIs of a frontier, in small steps.
//
// [Open] reaches the frontier of a running daemon through its socket, or opens the store of a stopped one. The
// functions of this package work on both. They need little memory, however large the store is, and a daemon continues
// to crawl.
package bulk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
)

// Store is the frontier of a running daemon or of a stopped one. List, Count and Steer make one step of bounded work.
// They return the cursor of the next step, or "" after the last one.
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

// Open returns the frontier of the daemon with this main configuration file. If no daemon answers, it opens the
// store. now is the clock.
func Open(ctx context.Context, path string, now func() time.Time) (Store, error) {
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
	c, err := daemon.ReadConfig(path)
	if err != nil {
		return nil, err
	}
	store, err := daemon.OpenStopped(c, now())
	if errors.Is(err, frontier.ErrLocked) && at.Socket == "" {
		return nil, fmt.Errorf("%w, or set admin.socket, which is \"off\", to have the daemon do the work", err)
	}
	if err != nil {
		return nil, err
	}
	return stopped{store, now}, nil
}

// running is the frontier of a running daemon.
type running struct{ *api.Client }

// Close does nothing. A client needs no closing.
func (running) Close() error { return nil }

// stopped is the frontier of a stopped daemon.
type stopped struct {
	f   *frontier.Frontier
	now func() time.Time
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
	return s.f.Steer(s.now(), sel, a, from)
}

func (s stopped) Import(_ context.Context, replace bool, entries ...frontier.Entry) (frontier.Imported, error) {
	return s.f.Import(s.now(), replace, entries...)
}

func (s stopped) SteerHosts(
	_ context.Context, pattern string, a frontier.HostAction,
) (matched, changed int64, err error) {
	return s.f.SteerHosts(s.now(), pattern, a)
}

func (s stopped) Close() error { return s.f.Close() }
