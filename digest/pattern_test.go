package digest

import (
	"errors"
	"strings"
	"testing"
)

func TestLargeProgramsAreRefused(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("advertise|", 400) + "end"
	for _, row := range []struct {
		name, expr string
		ok, large  bool
	}{
		{"an ordinary expression", `<span class="clock">.*?</span>`, true, false},
		{"a list of words", words, true, false},
		{"a long repetition", `[a-z]{1000}`, true, false},
		{"many long repetitions", strings.Repeat(`[a-z]{1000}`, 20), false, true},
		{"no expression", `(`, false, false},
	} {
		_, err := CompilePattern(row.expr)
		large := PatternTooLargeError{}
		if (err == nil) != row.ok || errors.As(err, &large) != row.large {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestTypePatternRefuses(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{"text/(", "a)|(?:b", strings.Repeat("(", 1000) + strings.Repeat(")", 1000)} {
		if re, err := TypePattern(expr); err == nil {
			t.Errorf("TypePattern(%.20q) = %.40s, want an error", expr, re)
		}
	}
}
