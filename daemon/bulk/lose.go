package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/admin/audit"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/heal"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Lost is the result of Lose.
type Lost struct {
	api.LostAnswer
	Running bool  // a running daemon makes the URIs due
	Due     int64 // URIs that are due now, in the store of a stopped daemon
}

// Lose records that WARC files are lost, moved or found. A running daemon then makes the URIs of lost files due in the
// background; for a stopped one Lose does so itself. Without files it only returns all losses.
func Lose(ctx context.Context, path string, o api.LostFiles, now func() time.Time) (l Lost, err error) {
	at, err := config.Where(path)
	if err == nil && at.Socket != "" {
		l.LostAnswer, err = api.NewClient(at.Socket).Lose(ctx, o)
		if !errors.Is(err, api.ErrNoDaemon) {
			l.Running = true
			return l, err
		}
	}
	c, err := daemon.ReadConfig(path)
	if err != nil {
		return l, err
	}
	f, err := daemon.OpenStopped(c, now())
	if errors.Is(err, frontier.ErrLocked) && at.Socket == "" {
		return l, fmt.Errorf("%w, or set admin.socket, which is \"off\", to have the daemon do the work", err)
	}
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	index, err := dedup.Open(f.DB(), dedup.Options{Name: uri.ReplayKey})
	if err != nil {
		return l, err
	}
	if l.Changed, err = heal.Declare(index, c.Storage.WARC, o.Files, o.Are); err == nil && l.Changed > 0 {
		l.Due, err = heal.URIs(ctx, f, index, c, now, ctx.Err)
	}
	l.Losses = api.LossesOf(index.Losses())
	if len(o.Files) > 0 {
		s := stopped{f, now, audit.New(c.Storage.State)}
		order, _ := json.Marshal(o)
		s.record("archive/lost", json.RawMessage(order), map[string]int64{"changed": int64(l.Changed), "due": l.Due}, err)
	}
	return l, err
}
