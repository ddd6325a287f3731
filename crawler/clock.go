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

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/frontier"
)

// shortest is the shortest jump that counts. Clocks are corrected by less without jumping.
const shortest = 10 * time.Second

// clockStore holds the rests of hosts and the due times of URIs. A [frontier.Frontier] does.
type clockStore interface {
	ShiftRests(now time.Time, by time.Duration) error
	NeedsHealing() bool
	Heal(now time.Time, from frontier.Cursor) (frontier.Cursor, int, error)
}

// clockKeeper corrects wrong times in the background.
type clockKeeper struct {
	store clockStore
	wake  func()
	log   zerolog.Logger
	check chan struct{} // has a token if the clock has jumped backward

	mu      sync.Mutex    // guards the fields below
	seen    time.Time     // the time of day at the last call of Watch, without a monotonic reading
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
func (k *clockKeeper) Jumped(visit, now time.Time) time.Duration {
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
func (k *clockKeeper) remember(now time.Time, by time.Duration) {
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

// newClockKeeper returns a keeper. It calls wake after it has changed due times or rests.
func newClockKeeper(s clockStore, wake func(), log zerolog.Logger) *clockKeeper {
	return &clockKeeper{store: s, wake: wake, log: log, check: make(chan struct{}, 1)}
}

// Watch compares the time of day with the time that has passed since the start. If the clock has jumped, it moves the
// rests of all hosts. An error is of the store.
func (k *clockKeeper) Watch(now time.Time, running time.Duration) error {
	by := k.jump(now.Round(0), running)
	if by == 0 {
		return nil
	}
	k.log.Warn().Str("by", by.Round(time.Second).String()).
		Msg("the clock has jumped: moving the rests of all hosts, so that each lasts as long as it should")
	if err := k.store.ShiftRests(now, by); err != nil {
		return fmt.Errorf("move the rests of hosts after a jump of the clock: %w", err)
	}
	if by < 0 {
		select {
		case k.check <- struct{}{}:
		default:
		}
	}
	return nil
}

// jump returns how far the clock has jumped since the last call.
func (k *clockKeeper) jump(now time.Time, running time.Duration) time.Duration {
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

// Run corrects due times at the start if that is necessary, and after each jump backward, until stop is closed. An
// error is of the store.
func (k *clockKeeper) Run(stop <-chan struct{}, now func() time.Time) error {
	needed := k.store.NeedsHealing()
	for {
		if needed {
			if err := k.heal(stop, now); err != nil {
				return err
			}
		}
		select {
		case <-stop:
			return nil
		case <-k.check:
			needed = true
		}
	}
}

// heal goes through all due times once, until stop is closed.
func (k *clockKeeper) heal(stop <-chan struct{}, now func() time.Time) error {
	total := 0
	for from := frontier.Cursor(""); ; {
		next, n, err := k.store.Heal(now(), from)
		if err != nil {
			return err
		}
		if total += n; n > 0 {
			k.wake()
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
		k.log.Warn().Int("uris", total).
			Msg("corrected due times that made no sense: a wrong clock had put these URIs off for too long")
	}
	return nil
}
