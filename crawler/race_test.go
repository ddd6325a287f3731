//go:build race

package crawler_test

// raced tells that the race detector is on. It makes the program allocate more, and its pools forget.
const raced = true
