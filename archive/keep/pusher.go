package keep

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
)

const (
	// pushEvery is how often an empty queue is checked.
	pushEvery = 2 * time.Second
	// pushPause is the pause after a failure. It doubles up to maxPushPause.
	pushPause    = time.Second
	maxPushPause = 5 * time.Minute
	// lastPush is how long a stop waits for the last lines to be sent.
	lastPush = 5 * time.Second
)

// pusher sends the lines of the index to an OutbackCDX server. The crawl only adds to its queue, and never waits for
// it.
type pusher struct {
	queue *Queue
	log   zerolog.Logger
	post  func(ctx context.Context, lines []byte) (status int, answer string, err error)
	every time.Duration // see pushEvery
	pause time.Duration // see pushPause

	failing bool // the last attempt failed
}

// openPusher opens the queue of lines for the server that the configuration names. It returns nil if it names none.
func openPusher(c *config.Config, version string, log zerolog.Logger) (*pusher, error) {
	to := c.Index.OutbackCDX
	switch {
	case to == "":
		return nil, nil
	case !c.Index.Live:
		log.Warn().Msg("sending nothing to the OutbackCDX server: index.outbackcdx needs index.live = true")
		return nil, nil
	}
	queue, err := OpenQueue(filepath.Join(c.Storage.State, "outbackcdx"))
	if err != nil {
		return nil, err
	}
	agent, shown := c.UserAgent(version), ""
	if u, err := url.Parse(to); err == nil {
		shown = u.Redacted() // without the password
	}
	return &pusher{
		queue: queue, log: log.With().Str("server", shown).Logger(), every: pushEvery, pause: pushPause,
		post: func(ctx context.Context, lines []byte) (int, string, error) {
			return fetch.PostLines(ctx, to, agent, lines)
		},
	}, nil
}

// run pushes until ctx ends.
func (p *pusher) run(ctx context.Context) {
	afterFailure := p.pause
	for {
		pause := time.Duration(0)
		more, err := p.step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			p.reportFailure(err)
			pause, afterFailure = afterFailure, min(2*afterFailure, maxPushPause)
		default:
			afterFailure = p.pause
			if !more {
				pause = p.every
			}
		}
		if wait(ctx, pause) != nil {
			return
		}
	}
}

// reportFailure logs the first failure of several in a row.
func (p *pusher) reportFailure(err error) {
	if !p.failing {
		p.failing = true
		p.log.Warn().Err(err).Msg("could not send index lines to the OutbackCDX server; they are kept and sent again")
	}
}

// step sends the next lines. It reports whether there may be more.
func (p *pusher) step(ctx context.Context) (more bool, err error) {
	entries, next, err := p.queue.Next(MaxLines, MaxBytes)
	if err != nil {
		return false, err
	}
	if len(entries) > 0 {
		if err := p.deliver(ctx, entries); err != nil {
			return false, err
		}
		if p.failing {
			p.failing = false
			p.log.Info().Msg("the OutbackCDX server accepts index lines again")
		}
	} else if p.queue.Waiting() == 0 {
		return false, nil
	}
	return true, p.queue.Done(next)
}

// deliver sends all entries. It skips and logs those that the server refuses.
func (p *pusher) deliver(ctx context.Context, all []index.Entry) error {
	to := &Collection{Post: p.post, Refused: func(e index.Entry, why error) {
		p.log.Error().Str("uri", e.URL).Str("file", e.Filename).Int64("offset", e.Offset).Err(why).
			Msg("skipping an index line: the OutbackCDX server refuses it; the archive's own index has it")
	}}
	return to.Send(ctx, all)
}

// close closes the queue, when run has ended. If the server works, it first sends the lines that are left, for at most
// lastPush. What is not sent by then is sent after the next start.
func (p *pusher) close() error {
	if !p.failing {
		ctx, cancel := context.WithTimeout(context.Background(), lastPush)
		defer cancel()
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = p.step(ctx); err != nil {
				p.reportFailure(err)
			}
		}
	}
	if n := p.queue.Waiting(); n > 0 {
		p.log.Info().Int64("bytes", n).Msg("index lines are left for the OutbackCDX server; they are sent after the next start")
	}
	return p.queue.Close()
}
