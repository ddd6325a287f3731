package curator

import (
	"context"
	"sync"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/uri"
)

// painter makes pictures of versions, one at a time, in the background. Its methods are safe for concurrent use.
type painter struct {
	paint func(context.Context, whatif.Browser, lateOrder) error
	open  func() (whatif.Browser, func(), error)

	running sync.WaitGroup
	mu      sync.Mutex // guards the fields below
	queue   []lateOrder
	states  map[string]PictureState // by name
	working bool
	stop    context.CancelFunc // nil unless something runs
	closed  bool
}

// lateOrder names a version of which a picture is made.
type lateOrder struct {
	page uri.URI
	at   string
}

func (o lateOrder) name() string { return lateName(o.page, o.at) }

// Order queues a picture. One that was ordered already is not made twice, unless it failed.
func (p *painter) Order(o lateOrder) (PictureState, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.states[o.name()]
	switch {
	case state.State == waiting:
		return state, nil
	case p.closed || len(p.queue) >= maxOrdered:
		return state, admin.Fault("%d pictures wait already; try again when one is done", len(p.queue))
	}
	if len(p.states) >= maxStates {
		clear(p.states) // what waits is in the queue
	}
	if p.states == nil {
		p.states = map[string]PictureState{}
	}
	state = PictureState{State: waiting}
	p.queue, p.states[o.name()] = append(p.queue, o), state
	if !p.working {
		ctx, stop := context.WithCancel(context.Background())
		p.working, p.stop = true, stop
		p.running.Go(func() { defer stop(); p.work(ctx) })
	}
	return state, nil
}

// State returns how far a picture is; the zero value if it was not ordered.
func (p *painter) State(name string) PictureState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.states[name]
}

// work makes the pictures that wait, with one browser.
func (p *painter) work(ctx context.Context) {
	var b whatif.Browser
	end := func() {}
	defer func() { end() }()
	for o, ok := p.next(); ok; o, ok = p.next() {
		var err error
		if b == nil {
			var close func()
			if b, close, err = p.open(); err == nil {
				end = close
			}
		}
		if err == nil {
			err = p.paint(ctx, b, o)
		}
		state := PictureState{State: done}
		if err != nil {
			state = PictureState{State: failed, Problem: err.Error()}
		}
		p.mu.Lock()
		p.states[o.name()] = state
		p.mu.Unlock()
	}
}

// next takes an order from the queue.
func (p *painter) next() (o lateOrder, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.queue) == 0 {
		p.working = false
		return o, false
	}
	o, p.queue = p.queue[0], p.queue[1:]
	return o, true
}

// Close ends the making of pictures and waits for it.
func (p *painter) Close() {
	p.mu.Lock()
	p.closed = true
	if p.stop != nil {
		p.stop()
	}
	p.mu.Unlock()
	p.running.Wait()
}
