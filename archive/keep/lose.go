package keep

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/dedup"
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
	s, c, err := cli.OpenStopped(ctx, at, path, now)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	index, err := dedup.Open(s.DB(), dedup.Options{Name: uri.ReplayKey})
	if err != nil {
		return l, err
	}
	if l.Changed, err = index.Declare(c.Storage.WARC, o.Files, o.Are); err == nil && l.Changed > 0 {
		l.Due, err = MakeDue(ctx, s, index, c, now, ctx.Err)
	}
	l.Losses = api.LossesOf(index.Losses())
	if len(o.Files) > 0 {
		order, _ := json.Marshal(o)
		s.Record("archive/lost", json.RawMessage(order), map[string]int64{"changed": int64(l.Changed), "due": l.Due}, err)
	}
	return l, err
}
