//go:build race

package slow

// raced reports whether the race detector is on.
const raced = true
