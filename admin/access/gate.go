package access

import "context"

// Gate bounds how much work of one kind is done at the same time, and how much of it may wait.
type Gate struct{ working, inside chan struct{} }

// NewGate returns a gate for n works at the same time, while up to queue others wait.
func NewGate(n, queue int) *Gate {
	return &Gate{make(chan struct{}, n), make(chan struct{}, n+queue)}
}

// Enter waits until the work may begin. The caller calls leave after it. Enter reports false if too much work waits
// already, or the context ended.
func (g *Gate) Enter(ctx context.Context) (leave func(), ok bool) {
	select {
	case g.inside <- struct{}{}:
	default:
		return nil, false
	}
	select {
	case g.working <- struct{}{}:
		return func() { <-g.working; <-g.inside }, true
	case <-ctx.Done():
		<-g.inside
		return nil, false
	}
}
