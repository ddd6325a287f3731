//go:build race

package crawler_test

// raced reports whether the race detector is on. With it the program allocates more, and pools lose entries.
const raced = true
