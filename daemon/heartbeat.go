package daemon

import (
	"sync"
	"sync/atomic"
	"time"
)

// heartbeat records when a loop last showed that it is alive. The loop calls beat each time around. It may be used by
// many goroutines.
type heartbeat struct {
	began time.Time
	last  atomic.Int64 // the time of the last beat, in nanoseconds since began

	first chan struct{} // closed by the first beat
	once  sync.Once
}

func newHeartbeat(now time.Time) *heartbeat {
	return &heartbeat{began: now, first: make(chan struct{})}
}

// beat records that the loop is alive.
func (h *heartbeat) beat(now time.Time) {
	h.last.Store(int64(now.Sub(h.began)))
	h.once.Do(func() { close(h.first) })
}

// silence returns the time since the last beat.
func (h *heartbeat) silence(now time.Time) time.Duration {
	return now.Sub(h.began) - time.Duration(h.last.Load())
}
