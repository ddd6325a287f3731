package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
)

// screen is a terminal. URIs, titles and errors come from strangers, so control characters and those that reverse the
// direction of text are written as escapes, such as \x1b and \u202e. It is safe for concurrent use.
type screen struct {
	file *os.File

	mu   sync.Mutex // guards rest
	rest []byte     // the beginning of a character whose end was not written yet
}

// Terminal returns f, with escapes if it is a terminal. What is written to a file or pipe stays unchanged.
func Terminal(f *os.File) io.Writer {
	if !isatty.IsTerminal(f.Fd()) {
		return f
	}
	return &screen{file: f}
}

// Write writes text with escapes.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.rest, p...)
	text, s.rest = splitRune(text)
	if _, err := s.file.Write(Escaped(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Control writes a control sequence to w, if that is a terminal.
func Control(w io.Writer, sequence string) {
	if s, ok := w.(*screen); ok {
		_, _ = s.file.WriteString(sequence) // the next output returns the error
	}
}

// IsTerminal reports whether a reader or writer is a terminal.
func IsTerminal(stream any) bool {
	if _, ok := stream.(*screen); ok {
		return true
	}
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Unescaped returns the file of a terminal, for a writer that escapes by itself, and all other writers as they are.
func Unescaped(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.file
	}
	return w
}

// Escaped returns text in which nothing but tabs and ends of lines controls a terminal.
func Escaped(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		c, n := utf8.DecodeRune(text)
		switch {
		case c == utf8.RuneError && n == 1, c < utf8.RuneSelf && isUnsafe(c) && !endsLine(text):
			out = fmt.Appendf(out, `\x%02x`, text[0])
		case isUnsafe(c) && c >= utf8.RuneSelf:
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}

// isUnsafe reports whether a character may control a terminal or the direction of text.
func isUnsafe(c rune) bool {
	return c != '\n' && c != '\t' && unicode.In(c, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// endsLine reports whether text begins with the end of a line of HTTP.
func endsLine(text []byte) bool { return len(text) > 1 && text[0] == '\r' && text[1] == '\n' }

// splitRune splits text before a last character that is not whole yet.
func splitRune(text []byte) (whole, rest []byte) {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		at := len(text) - n
		if utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return text[:at], append([]byte{}, text[at:]...)
			}
			break
		}
	}
	return text, nil
}
