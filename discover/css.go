package discover

import (
	"bytes"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"

	"github.com/arcrawl/arcrawl/uri"
)

// css adds the references of a style sheet or of a style attribute. All of them are embeds.
func (p *page) css(text []byte) {
	input := parse.NewInputBytes(text)
	defer input.Restore() // the lexer overwrites the byte after text with a zero
	lexer := css.NewLexer(input)
	var s sheet
	for {
		kind, data := lexer.Next()
		if kind == css.ErrorToken {
			return
		}
		if ref, ok := s.next(kind, data); ok {
			p.add(ref, uri.Embed)
		}
	}
}

// sheet is the position of the lexer in a style sheet. It decides whether a string or a url() is a reference.
type sheet struct {
	rule  string // the at-rule whose prelude this is; empty outside a prelude
	depth int    // number of open parentheses
	takes int    // depth inside a function whose strings are references; 0 outside of one
}

// next returns the reference in a token, if there is one.
func (s *sheet) next(kind css.TokenType, data []byte) ([]byte, bool) {
	switch kind {
	case css.AtKeywordToken:
		s.rule = string(bytes.ToLower(data[1:]))
	case css.SemicolonToken, css.LeftBraceToken, css.RightBraceToken:
		*s = sheet{}
	case css.LeftParenthesisToken:
		s.depth++
	case css.FunctionToken:
		s.depth++
		if s.takes == 0 && takesReferences(data) {
			s.takes = s.depth
		}
	case css.RightParenthesisToken:
		if s.depth == s.takes {
			s.takes = 0
		}
		s.depth = max(0, s.depth-1)
	case css.StringToken:
		if s.rule == "import" && s.depth == 0 || s.takes > 0 && s.depth == s.takes {
			return unquote(data), true
		}
	case css.URLToken:
		if s.isName() {
			return nil, false
		}
		return unquote(urlBody(data)), true
	}
	return nil, false
}

// isName reports whether URLs at this position are only names: of a namespace, or of the documents to which rules
// apply.
func (s *sheet) isName() bool {
	return s.rule == "namespace" || s.rule == "document" || s.rule == "-moz-document"
}

// takesReferences reports whether the strings in a function are references.
func takesReferences(function []byte) bool {
	for _, name := range []string{"image-set(", "-webkit-image-set(", "src(", "image("} {
		if bytes.EqualFold(function, []byte(name)) {
			return true
		}
	}
	return false
}

// urlBody returns the text between the parentheses of url(). The second may be missing at the end of a style sheet.
func urlBody(token []byte) []byte {
	token = token[bytes.IndexByte(token, '(')+1:]
	if n := len(token); n > 0 && token[n-1] == ')' && !bytes.HasSuffix(token, []byte(`\)`)) {
		token = token[:n-1]
	}
	return bytes.Trim(token, " \t\r\n\f")
}

// maxEscaped is the maximum length of a string, in bytes, whose escapes are undone. A longer one exceeds
// [uri.MaxLength] in any case, because an escape takes at most eight bytes for a character.
const maxEscaped = 8 * uri.MaxLength

// unquote removes quotes, of which the second may be missing, and undoes escapes.
func unquote(s []byte) []byte {
	if len(s) > 0 && (s[0] == '"' || s[0] == '\'') {
		quote := s[0]
		s = s[1:]
		if n := len(s); n > 0 && s[n-1] == quote {
			s = s[:n-1]
		}
	}
	if len(s) > maxEscaped || bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		if s[0] != '\\' {
			out, s = append(out, s[0]), s[1:]
			continue
		}
		out, s = appendUnescaped(out, s[1:])
	}
	return out
}

// appendUnescaped appends the character of an escape, of which s begins after the backslash, and returns the text
// after it (CSS Syntax, section 4.3.7). An escaped line end, which only strings can have, adds nothing.
func appendUnescaped(out, s []byte) (appended, rest []byte) {
	if len(s) == 0 {
		return out, s
	}
	digits, r := 0, rune(0)
	for digits < 6 && digits < len(s) {
		d := bytes.IndexByte([]byte("0123456789abcdef"), s[digits]|0x20)
		if s[digits] <= '9' {
			d = bytes.IndexByte([]byte("0123456789"), s[digits])
		}
		if d < 0 {
			break
		}
		r = r<<4 | rune(d)
		digits++
	}
	switch {
	case digits > 0:
		if r == 0 || !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		return utf8.AppendRune(out, r), trimOne(s[digits:])
	case s[0] == '\n' || s[0] == '\r' || s[0] == '\f':
		return out, trimOne(s)
	}
	return append(out, s[0]), s[1:]
}

// trimOne removes one white space; CR LF counts as one.
func trimOne(s []byte) []byte {
	if rest, ok := bytes.CutPrefix(s, []byte("\r\n")); ok {
		return rest
	}
	if len(s) > 0 && bytes.IndexByte([]byte(" \t\r\n\f"), s[0]) >= 0 {
		return s[1:]
	}
	return s
}
