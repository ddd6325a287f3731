//go:build !race

package crawler_test

// raced tells that the race detector is on.
const raced = false
