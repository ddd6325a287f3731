//go:build !race

package crawler_test

// raced reports whether the race detector is on.
const raced = false
