// This file watches for jumps of the machine's clock, and corrects what wrong times left in the store.
//
// A jump is a difference between the time of day and the time that has passed. The rests of hosts are moved by it, so
// that each lasts as long as it should. After a jump backward, and at a start after the clock was ahead,
// all due times are gone through in the background.

package crawler

import (
	"fmt"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// shortest is the shortest jump that counts. Clocks are corrected by less without jumping.
const shortest = 10 * time.Second

// clockWatch finds the jumps of the clock.
type clockWatch struct {
	// turn is held while the rests of hosts are moved. Other workers wait: by the new time, rests that were not moved yet
	// seem to be over.
	turn sync.Mutex

	mu      sync.Mutex    // guards the fields below
	seen    time.Time     // the time of day at the last call of jump, without a monotonic reading
	running time.Duration // the time that had passed by then
	spans   []span        // between jumps, oldest first; the last one has no end yet
}

// span is a time between two jumps of the clock, in times of day.
type span struct {
	from, to time.Time
	off      time.Duration // sum of all jumps so far
}

// maxSpans is the maximum number of spans that are remembered. Older visits count as made in the first one.
const maxSpans = 64

// Jumped returns how far the clock has jumped between a visit and now, both in times of day: below zero if backward.
// Jumps before the daemon was started are not known.
func (k *clockWatch) Jumped(visit, now time.Time) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.spans) < 2 || visit.IsZero() {
		return 0
	}
	last := k.spans[len(k.spans)-1]
	if !visit.Before(last.from) && !visit.After(now) {
		return 0
	}
	for i := len(k.spans) - 2; i > 0; i-- {
		if s := k.spans[i]; !visit.Before(s.from) && !visit.After(s.to) {
			return last.off - s.off
		}
	}
	return last.off - k.spans[0].off
}

// remember begins a new span after a jump. The lock is held.
func (k *clockWatch) remember(now time.Time, by time.Duration) {
	if len(k.spans) == 0 {
		k.spans = append(k.spans, span{})
	}
	last := &k.spans[len(k.spans)-1]
	last.to = now.Add(-by)
	k.spans = append(k.spans, span{from: now, off: last.off + by})
	if len(k.spans) > maxSpans {
		k.spans = k.spans[1:]
	}
}

// jump returns how far the clock has jumped since the last call.
func (k *clockWatch) jump(now time.Time, running time.Duration) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	by := now.Sub(k.seen) - (running - k.running)
	if first := k.seen.IsZero(); running < k.running && !first {
		return 0 // another worker has looked later
	} else if first || by.Abs() < shortest {
		by = 0
	}
	if by != 0 {
		k.remember(now, by)
	}
	k.seen, k.running = now, running
	return by
}

// watchClock compares the time of day with the time that has passed since the start. If the clock has jumped, it moves
// the rests of all hosts. An error is of the store.
func (c *Crawler) watchClock(now time.Time) error {
	c.clock.turn.Lock()
	defer c.clock.turn.Unlock()
	by := c.clock.jump(now.Round(0), time.Since(c.started))
	if by == 0 {
		return nil
	}
	c.parts.Log.Warn().Str("by", by.Round(time.Second).String()).
		Msg("the clock has jumped: moving the rests of all hosts, so that each lasts as long as it should")
	if err := c.parts.Frontier.ShiftRests(now, by); err != nil {
		return fmt.Errorf("move the rests of hosts after a jump of the clock: %w", err)
	}
	if by < 0 {
		signal(c.clockBack)
	}
	return nil
}

// keepDueTimes corrects due times at the start if that is necessary, and after each jump backward, until stop is
// closed. An error is of the store.
func (c *Crawler) keepDueTimes(stop <-chan struct{}) error {
	needed := c.parts.Frontier.NeedsHealing()
	for {
		if needed {
			if err := c.whenThereIsSpace(stop, func() error { return c.healDueTimes(stop) }); err != nil {
				return err
			}
		}
		select {
		case <-stop:
			return nil
		case <-c.clockBack:
			needed = true
		}
	}
}

// healDueTimes goes through all due times once, until stop is closed.
func (c *Crawler) healDueTimes(stop <-chan struct{}) error {
	total := 0
	for from := frontier.Cursor(""); ; {
		next, n, err := c.parts.Frontier.Heal(c.parts.Now(), from)
		if err != nil {
			return err
		}
		if total += n; n > 0 {
			c.Wake()
		}
		select {
		case <-stop:
			return nil
		default:
		}
		if from = next; next == "" {
			break
		}
	}
	if total > 0 {
		c.parts.Log.Warn().Int("uris", total).
			Msg("corrected due times that made no sense: a wrong clock had put these URIs off for too long")
	}
	return nil
}
