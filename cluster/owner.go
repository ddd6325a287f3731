package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
)

// owner owns the store of a shard.
type owner struct {
	*ownedShard
	ctx    context.Context // ends when the shard is to be released
	pushed *follower
	log    zerolog.Logger
}

var _ daemon.Owner = (*owner)(nil)

// Accept returns why a new configuration must not be put in force.
func (s *owner) Accept(next *config.Config) error {
	if err := s.ownedShard.Accept(next); err != nil {
		return err
	}
	return s.pushed.Accept(next)
}

// Opened follows the changes of the opened store.
func (s *owner) Opened(f *frontier.Frontier, background func(run func(context.Context))) error {
	return s.Start(s.ctx, f, background)
}

// Follow ships the changes of the store.
func (s *owner) Follow(ctx context.Context, sync func() error) { s.Ship(ctx, sync) }

// Closing ships the last changes. The shard is released when the store is closed.
func (s *owner) Closing(f *frontier.Frontier) (closed func(error) error) {
	return s.Finish(context.Background(), f)
}

// Started lets the daemon read the configuration that the cluster puts in force.
func (s *owner) Started(d *daemon.Daemon) (stopped func()) {
	return s.pushed.Crawl(s.ownedShard.Accept, d.Reload)
}

// Lose lets all nodes know what an operator says of WARC files.
func (s *owner) Lose(files []string, are string) error {
	return s.ownedShard.Lose(context.Background(), files, are)
}

// watchEvery is how often a shard reports its state to the database.
const watchEvery = 15 * time.Second

// Watch reports the state of the shard to the database, and takes over what operators say of WARC files on other nodes.
func (s *owner) Watch(ctx context.Context, d *daemon.Daemon) {
	var words losses
	for wait := time.Duration(0); cli.Wait(ctx, wait) == nil; wait = watchEvery {
		s.tell(ctx, d)
		words.take(ctx, s, d)
	}
}

// tell reports the state of the shard.
func (s *owner) tell(ctx context.Context, d *daemon.Daemon) {
	text, err := reportState(d.Window().Status())
	if err == nil {
		err = s.Tell(ctx, text)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Debug().Err(err).Msg("could not report the state of this node to the cluster; the next report follows in 15 s")
	}
}

// losses follows what operators say of WARC files on other nodes.
type losses struct {
	taken int64 // up to this number
	noted int64 // the cluster knows that up to this number
}

// take takes over what was said since the last time. The store is shipped before the next time, which then notes it.
func (l *losses) take(ctx context.Context, s *owner, d *daemon.Daemon) {
	var err error
	if l.taken > l.noted {
		if err = s.NoteLosses(ctx, l.taken); err == nil {
			l.noted = l.taken
		}
	}
	all, failed := s.Losses(ctx, l.taken)
	if err = errors.Join(err, failed); err != nil && ctx.Err() == nil {
		s.log.Debug().Err(err).Msg("could not ask the cluster for lost WARC files; asking again in 15 s")
	}
	changed := 0
	for _, loss := range all {
		n, refused := d.Declare([]string{loss.File}, loss.Is)
		if refused != nil {
			s.log.Error().Err(refused).Str("file", loss.File).
				Msg("could not note what another node knows of a WARC file: say it again on this node")
		}
		changed, l.taken = changed+n, loss.Order
	}
	if changed > 0 {
		s.log.Warn().Int("files", changed).Msg("WARC files are lost, moved or found, says an operator of another node")
	}
}
