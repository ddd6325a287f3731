package config

import "sync/atomic"

// Live holds the configuration in force. It may be shared between goroutines. Take the configuration once for each
// piece of work and use it to the end.
type Live struct {
	current atomic.Pointer[Config]
}

// NewLive returns a Live with c in force.
func NewLive(c *Config) *Live {
	l := new(Live)
	l.current.Store(c)
	return l
}

// Current returns the configuration in force.
func (l *Live) Current() *Config { return l.current.Load() }

// Replace puts c in force. Visits in progress end under the configuration that they began with.
func (l *Live) Replace(c *Config) { l.current.Store(c) }
