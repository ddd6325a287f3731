package main

import (
	"context"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
)

// The times of pushing.
const (
	// pushEvery is how often the queue is looked at while nothing is in it.
	pushEvery = 2 * time.Second
	// pushRest is the pause after trouble; it doubles up to maxPushRest.
	pushRest    = time.Second
	maxPushRest = 5 * time.Minute
	// pushLast is how long a stop waits for the last lines.
	pushLast = 5 * time.Second
)

// pusher hands the lines of the index on to an OutbackCDX server. The crawl knows only its queue, and never waits.
type pusher struct {
	queue *archive.Queue
	log   zerolog.Logger
	post  func(ctx context.Context, lines []byte) (status int, says string, err error)
	every time.Duration // see pushEvery
	rest  time.Duration // see pushRest

	ill     bool // trouble was told of
	stop    context.CancelFunc
	running sync.WaitGroup
}

// openPusher opens the queue of lines for the server that the configuration names; nil when it names none.
func openPusher(c *config.Config, log zerolog.Logger) (*pusher, error) {
	to := c.Index.OutbackCDX
	if to == "" || !c.Index.Live {
		return nil, nil
	}
	queue, err := archive.OpenQueue(filepath.Join(c.Storage.State, "outbackcdx"))
	if err != nil {
		return nil, err
	}
	agent, shown := c.UserAgent(programVersion()), ""
	if u, err := url.Parse(to); err == nil {
		shown = u.Redacted() // it may have a password
	}
	return &pusher{
		queue: queue, log: log.With().Str("server", shown).Logger(), every: pushEvery, rest: pushRest,
		post: func(ctx context.Context, lines []byte) (int, string, error) {
			return fetch.PostLines(ctx, to, agent, lines)
		},
	}, nil
}

// start begins to push.
func (p *pusher) start() {
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.running.Go(func() { p.run(ctx) })
}

// run pushes until ctx ends.
func (p *pusher) run(ctx context.Context) {
	next := p.rest
	for {
		pause := time.Duration(0)
		more, err := p.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			p.tell(err)
			pause, next = next, min(2*next, maxPushRest)
		default:
			next = p.rest
			if !more {
				pause = p.every
			}
		}
		if rest(ctx, pause) != nil {
			return
		}
	}
}

// rest waits, unless ctx ends before.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// tell logs the beginning of trouble; how it goes on is not told.
func (p *pusher) tell(err error) {
	if !p.ill {
		p.ill = true
		p.log.Warn().Err(err).Msg("the OutbackCDX server does not take the index; the lines wait and are sent again")
	}
}

// step sends the next lines, and says whether there were any.
func (p *pusher) step(ctx context.Context) (more bool, err error) {
	entries, next, err := p.queue.Next(pushLines, pushBytes)
	if err != nil {
		return false, err
	}
	if len(entries) > 0 {
		if err := p.deliver(ctx, entries); err != nil {
			return false, err
		}
		if p.ill {
			p.ill = false
			p.log.Info().Msg("the OutbackCDX server takes the index again")
		}
	} else if p.queue.Waiting() == 0 {
		return false, nil
	}
	return true, p.queue.Done(next)
}

// deliver sends all entries; those that the server does not take are left out, with a line in the log.
func (p *pusher) deliver(ctx context.Context, all []archive.Entry) error {
	to := &outback{post: p.post, leaveOut: func(e archive.Entry, why error) {
		p.log.Error().Str("uri", e.URL).Str("file", e.Filename).Int64("offset", e.Offset).Err(why).
			Msg("the OutbackCDX server does not take this line; it is left out there")
	}}
	return to.deliver(ctx, all)
}

// close sends what waits, if that is soon done, and ends. The rest is sent after the next start.
func (p *pusher) close() error {
	p.stop()
	p.running.Wait()
	if !p.ill {
		ctx, cancel := context.WithTimeout(context.Background(), pushLast)
		defer cancel()
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = p.step(ctx); err != nil {
				p.tell(err)
			}
		}
	}
	if n := p.queue.Waiting(); n > 0 {
		p.log.Info().Int64("bytes", n).Msg("lines of the index wait for the OutbackCDX server until the next start")
	}
	return p.queue.Close()
}
