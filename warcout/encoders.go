package warcout

import (
	"runtime"
	"sync"
)

// minEncoders is how many visits can be compressed at the same time, at least.
const minEncoders = 4

// encoders lends encoders. Each has tables of a megabyte, so there are not as many as visits, but only somewhat more than
// the processor has cores, so that a long visit does not hold up all others. The one that was given back last is taken
// first: its tables are still in the cache of the processor, which makes a page cost a third less.
type encoders struct {
	level  int
	places chan struct{} // a token for each that is lent
	mu     sync.Mutex    // guards free; nothing is called while it is held
	free   []*encoder
}

func newEncoders(level int) *encoders {
	return &encoders{level: level, places: make(chan struct{}, max(minEncoders, 2*runtime.GOMAXPROCS(0)))}
}

// take waits for an encoder. It must come back by give or lose.
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
		p.lose()
	}
	return e, err
}

func (p *encoders) give(e *encoder) {
	p.mu.Lock()
	p.free = append(p.free, e)
	p.mu.Unlock()
	p.lose()
}

// lose gives back the place of an encoder that is not used again.
func (p *encoders) lose() { <-p.places }
