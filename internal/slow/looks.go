package slow

import "context"

// EndAfter returns a context that ends when somebody has asked n times whether it has ended. With it a test shows that
// work on what strangers send asks often enough.
func EndAfter(ctx context.Context, n int) context.Context { return &looks{ctx, n} }

type looks struct {
	context.Context
	left int
}

func (l *looks) Err() error {
	if l.left--; l.left < 0 {
		return context.Canceled
	}
	return nil
}
