package cli

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

func TestTextOfStrangersCannotControlATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"plain text", "a\tb\n", "a\tb\n"},
		{"text of the world", "Žluťoučký 日本語 עברית 👩‍🚀\n", "Žluťoučký 日本語 עברית 👩‍🚀\n"},
		{"a color", "\x1b[31mred", `\x1b[31mred`},
		{"a title of the window", "\x1b]0;owned\a", `\x1b]0;owned\x07`},
		{"return to the beginning of the line", "bad\rgood", `bad\x0dgood`},
		{"the end of a line of HTTP", "Host: a\r\n", "Host: a\r\n"},
		{"backspace and delete", "a\b\x7f", `a\x08\x7f`},
		{"a control sequence in one character", "\u009b31m", `\u009b31m`},
		{"the same as one byte", "\x9b31m", `\x9b31m`},
		{"reversed text", "exe.\u202egnp", `exe.\u202egnp`},
		{"isolated text", "\u2066a\u2069", `\u2066a\u2069`},
		{"marks of direction", "\u200e\u200f\u061c", `\u200e\u200f\u061c`},
		{"separators of lines", "a\u2028b\u2029", `a\u2028b\u2029`},
		{"a byte that is no text", "a\xffb", `a\xffb`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := string(Escaped([]byte(c.text))); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzEscaped checks that no text controls a terminal, and that whole characters come out, however the text is split.
func FuzzEscaped(f *testing.F) {
	f.Add([]byte("a\x1b[2J\u202e日"), 3)
	f.Fuzz(func(t *testing.T, text []byte, split int) {
		got := Escaped(text)
		for _, c := range string(got) {
			if isUnsafe(c) && c != '\r' || c == utf8.RuneError && !bytes.Contains(text, []byte("\ufffd")) {
				t.Fatalf("%q contains %q", got, c)
			}
		}
		split = min(max(split, 0), len(text))
		first, rest := splitRune(text[:split])
		if len(first)+len(rest) != split || len(rest) >= utf8.UTFMax {
			t.Fatalf("%q was split into %q and %q", text[:split], first, rest)
		}
	})
}
