//go:build !race

package crawler_test

// raced reports that the race detector is on.
const raced = false
