package slow

import (
	"strings"
	"testing"
	"time"
)

// A parser that reads the rest of its input again at each byte exceeds the bound. One that reads it once does not.
func TestBoundDistinguishesSquaresFromLines(t *testing.T) {
	t.Parallel()
	read := func(text string) (n int) {
		for i := range len(text) {
			n += int(text[i])
		}
		return n
	}
	const few = 4 << 10
	small := max(time.Microsecond, cost(strings.Repeat("a", few), func(s string) { square(s, read) }))
	large := cost(strings.Repeat("a", few<<steps), func(s string) { square(s, read) })
	if large <= bound(small, few<<steps, few) {
		t.Errorf("quadratic work took %s and %s, which is within the bound", small, large)
	}
	Linear(t, func(n int) string { return strings.Repeat("a", n) }, func(s string) { _ = read(s) })
}

func square(text string, read func(string) int) {
	for i := range text {
		_ = read(text[i:])
	}
}
