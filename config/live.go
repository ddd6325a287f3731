package config

import "sync/atomic"

// Live is the one place that says which configuration is in force. It may be shared between goroutines. Whoever does a
// piece of work takes the configuration once and stays with it to the end (laws 6 and 7).
type Live struct {
	current atomic.Pointer[Config]
}

// NewLive puts c in force.
func NewLive(c *Config) *Live {
	l := new(Live)
	l.current.Store(c)
	return l
}

// Current is the configuration in force.
func (l *Live) Current() *Config { return l.current.Load() }

// Replace puts c in force in the place of the one before. Visits in progress end under the one that they began with.
func (l *Live) Replace(c *Config) { l.current.Store(c) }
