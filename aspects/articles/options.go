package articles

import (
	"time"
)

// Options say how young articles are followed up.
type Options struct {
	Ladder    []time.Duration // ages since discovery at which an article is visited at the latest; empty = never
	Young     time.Duration   // maximum age of an article at its discovery
	Recognise bool            // detect articles that no feed names by a date in their address or text
}

// DefaultOptions returns the options that apply where no file sets anything.
func DefaultOptions() Options {
	const day = 24 * time.Hour
	return Options{
		Ladder: []time.Duration{15 * time.Minute, time.Hour, 3 * time.Hour, 8 * time.Hour, day, 2 * day},
		Young:  2 * day, Recognise: true,
	}
}
