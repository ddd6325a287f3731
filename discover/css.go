package discover

import (
	"bytes"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"

	"github.com/arcrawl/arcrawl/uri"
)

// css adds what a style sheet, or the value of a style attribute, names. All of it is embedded.
func (p *page) css(text []byte) {
	input := parse.NewInputBytes(text)
	defer input.Restore() // the lexer writes a zero behind text, which may be another's byte
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

// sheet is where in a style sheet the lexer is, as far as that says whether a string or url() names a resource.
type sheet struct {
	rule  string // the at-rule whose prelude this is, "import" or one whose URLs only name or match, else ""
	depth int    // of open parentheses
	takes int    // depth inside a function whose strings are references, zero outside
}

// next gives the reference that a token is.
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
		if s.names() {
			return nil, false
		}
		return unquote(urlBody(data)), true
	}
	return nil, false
}

// names reports whether URLs here are but names: of a namespace, or of the documents that rules are for.
func (s *sheet) names() bool {
	return s.rule == "namespace" || s.rule == "document" || s.rule == "-moz-document"
}

func takesReferences(function []byte) bool {
	for _, name := range []string{"image-set(", "-webkit-image-set(", "src(", "image("} {
		if bytes.EqualFold(function, []byte(name)) {
			return true
		}
	}
	return false
}

// urlBody is what stands between the parentheses of url(); at the end of a style sheet the second may be missing.
func urlBody(token []byte) []byte {
	token = token[bytes.IndexByte(token, '(')+1:]
	if n := len(token); n > 0 && token[n-1] == ')' && !bytes.HasSuffix(token, []byte(`\)`)) {
		token = token[:n-1]
	}
	return bytes.Trim(token, " \t\r\n\f")
}

// maxEscaped is the longest string, in bytes, whose escapes are undone. No longer one can come within [uri.MaxLength],
// as an escape takes at most eight bytes for a character.
const maxEscaped = 8 * uri.MaxLength

// unquote strips quotes, of which the second may be missing, and escapes.
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

// appendUnescaped appends what the escape stands for whose backslash came before s, and gives what follows it
// (CSS Syntax, section 4.3.7). An escaped line end, which only strings may have, stands for nothing.
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

// trimOne strips one white space, as which CR LF counts.
func trimOne(s []byte) []byte {
	if rest, ok := bytes.CutPrefix(s, []byte("\r\n")); ok {
		return rest
	}
	if len(s) > 0 && bytes.IndexByte([]byte(" \t\r\n\f"), s[0]) >= 0 {
		return s[1:]
	}
	return s
}
