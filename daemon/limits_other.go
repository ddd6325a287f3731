//go:build !linux

package daemon

// raiseLimits does nothing on this system.
func raiseLimits() limits { return limits{} }
