package warcout

import (
	"runtime"
	"sync"
)

// minEncoders is the minimum number of visits that can be compressed at the same time.
const minEncoders = 4

// encoders is a pool of encoders. Each has tables of a megabyte, so there are fewer than visits, but more than
// processor cores, so that a long visit does not delay all others. The encoder returned last is taken first: its
// tables are still in the processor's cache, which saves a third of the time of a page.
type encoders struct {
	level  int
	places chan struct{} // a token for each encoder in use
	mu     sync.Mutex    // guards free; nothing is called while it is held
	free   []*encoder
}

func newEncoders(level int) *encoders {
	return &encoders{level: level, places: make(chan struct{}, max(minEncoders, 2*runtime.GOMAXPROCS(0)))}
}

// take waits for an encoder. The caller must call release or drop afterwards.
func (p *encoders) take() (*encoder, error) {
	p.places <- struct{}{}
	p.mu.Lock()
	var e *encoder
	if n := len(p.free); n > 0 {
		e, p.free = p.free[n-1], p.free[:n-1]
	}
	p.mu.Unlock()
	if e != nil {
		return e, nil
	}
	e, err := newEncoder(p.level)
	if err != nil {
		p.drop()
	}
	return e, err
}

// release returns an encoder to the pool.
func (p *encoders) release(e *encoder) {
	p.mu.Lock()
	p.free = append(p.free, e)
	p.mu.Unlock()
	p.drop()
}

// drop frees the place of an encoder that must not be used again.
func (p *encoders) drop() { <-p.places }
