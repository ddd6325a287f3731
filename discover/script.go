package discover

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// scriptKind is the kind of content of a script element.
type scriptKind int

const (
	scriptCode    scriptKind = iota // code, or data of the page's own
	scriptJSONLD                    // JSON-LD
	scriptSkipped                   // the rest of a JSON-LD block that is too long
)

// kindOfScript returns the kind of content of a script element with these attributes.
func kindOfScript(attrs []attribute) scriptKind {
	kind, _ := value(attrs, "type")
	media, _, _ := bytes.Cut(kind, []byte{';'})
	if bytes.EqualFold(bytes.TrimSpace(media), []byte("application/ld+json")) {
		return scriptJSONLD
	}
	return scriptCode
}

// script adds the references in a script element. It calls text only if it needs the text.
func (p *page) script(text func() []byte) {
	switch {
	case p.scriptKind == scriptJSONLD:
		p.jsonLD(text())
	case p.scriptKind == scriptCode && p.speculative:
		p.guesses(text())
	}
}

// longText handles a piece of raw text that is longer than [maxToken]. A script is still searched for references; a
// JSON-LD block of that length is not read.
func (p *page) longText(within string, piece []byte) {
	if within != "script" {
		return
	}
	if p.scriptKind != scriptCode {
		p.scriptKind = scriptSkipped
	} else if p.speculative {
		p.guesses(piece)
	}
}

// guesses collects strings of a script that look like references. It reads the text once, without knowing the
// language: a guess is a text between two equal quotes that only has the characters of references. So a quote in a
// comment or in a regular expression does no harm.
func (p *page) guesses(text []byte) {
	open := -1
	for i, c := range text {
		switch {
		case c == '"' || c == '\'' || c == '`':
			if open >= 0 && text[open] == c && p.guess(text[open+1:i]) {
				open = -1
			} else {
				open = i
			}
		case c <= ' ' || c >= 0x7F || c == '<' || c == '>' || c == '{' || c == '}' || c == '|' || c == '^':
			open = -1
		}
	}
}

// guess collects one string of a script. It returns false if the string does not look like a reference.
func (p *page) guess(s []byte) bool {
	s = bytes.TrimSuffix(s, []byte(`\`)) // of an escaped quote: JSON in a string
	if len(s) < 2 || len(s) > uri.MaxLength || !bytes.ContainsAny(s, `/.\`) {
		return false
	}
	ref, ok := unescapeScript(string(s))
	if !ok || !likely(ref) {
		return false
	}
	switch {
	case p.isGuessed[ref]:
	case len(p.guessed) >= p.maxLinks:
		p.result.Dropped++
	default:
		if p.isGuessed == nil {
			p.isGuessed = map[string]bool{}
		}
		p.isGuessed[ref] = true
		p.guessed = append(p.guessed, ref)
	}
	return true
}

// addGuesses adds the collected guesses.
func (p *page) addGuesses() {
	for _, ref := range p.guessed {
		p.add([]byte(ref), uri.Speculative)
	}
}

// unescapeScript undoes the escapes that serializers write into addresses: \/, \u0026 and \x26. It returns false if
// there is any other escape.
func unescapeScript(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		digits := 0
		switch {
		case strings.HasPrefix(after, "/"):
		case strings.HasPrefix(after, "u"):
			digits = 4
		case strings.HasPrefix(after, "x"):
			digits = 2
		default:
			return "", false
		}
		s = after[1:]
		if digits == 0 {
			b.WriteByte('/')
			continue
		}
		if len(s) < digits {
			return "", false
		}
		c, err := strconv.ParseUint(s[:digits], 16, 16)
		if err != nil || c <= ' ' || c >= 0x7F {
			return "", false
		}
		b.WriteByte(byte(c))
		s = s[digits:]
	}
}

// likely reports whether a string looks like an address, a path from the root, or a path to a file with a usual ending.
func likely(s string) bool {
	rest, absolute := strings.CutPrefix(s, "https://")
	if !absolute {
		rest, absolute = strings.CutPrefix(s, "http://")
	}
	if !absolute {
		rest, absolute = strings.CutPrefix(s, "//")
	}
	if absolute {
		host, _, _ := strings.Cut(rest, "/")
		return len(host) > 3 && isWord(host[0]) && isWord(host[len(host)-1]) && strings.IndexByte(host, '.') > 0
	}
	if path, ok := strings.CutPrefix(s, "/"); ok {
		return path != "" && isWord(path[0]) && strings.IndexByte(path, '\\') < 0
	}
	s = strings.TrimPrefix(s, "./")
	for strings.HasPrefix(s, "../") {
		s = s[len("../"):]
	}
	return s != "" && isWord(s[0]) && hasUsualEnding(s)
}

func isWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '~' }

// hasUsualEnding reports whether the path of a reference has the ending of a usual kind of file.
func hasUsualEnding(ref string) bool {
	if end := strings.IndexAny(ref, "?#"); end >= 0 {
		ref = ref[:end]
	}
	if strings.ContainsAny(ref, "()[]*+=;!$\\") {
		return false
	}
	dot := strings.LastIndexByte(ref, '.')
	return dot > 0 && usualEndings[strings.ToLower(ref[dot+1:])]
}

// usualEndings are the endings of files that scripts refer to by a relative path.
var usualEndings = map[string]bool{
	"asp": true, "aspx": true, "atom": true, "avif": true, "cfm": true, "css": true, "doc": true, "docx": true,
	"eot": true, "epub": true, "gif": true, "htm": true, "html": true, "ico": true, "jpeg": true, "jpg": true,
	"js": true, "json": true, "jsp": true, "m3u8": true, "m4a": true, "m4v": true, "mjs": true, "mov": true,
	"mp3": true, "mp4": true, "mpd": true, "oga": true, "ogg": true, "ogv": true, "otf": true, "pdf": true, "php": true,
	"png": true, "ppt": true, "pptx": true, "rss": true, "shtml": true, "svg": true, "swf": true, "ttf": true,
	"txt": true, "vtt": true, "webm": true, "webp": true, "woff": true, "woff2": true, "xhtml": true, "xls": true,
	"xlsx": true, "xml": true, "zip": true,
}
