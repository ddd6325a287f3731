package robots

import (
	"strings"
	"unicode"
)

// maxLine bounds the bytes of a line that count, spelled out: eight times what browsers accept as a URI, as for Google.
const maxLine = 8*2083 - 1

// field says what a line is about.
type field int

const (
	otherField field = iota
	agentField
	allowField
	disallowField
	sitemapField
	delayField
)

// line is a line of a file. value is spelled as patterns are compared, except the name in an agentField.
type line struct {
	field field
	value string
}

// eachLine calls use for each line of the form "key: value". The beginning of a byte order mark counts as a whole one.
func eachLine(text string, use func(line)) {
	const mark = "\xEF\xBB\xBF"
	for n := len(mark); n > 0; n-- {
		if rest, marked := strings.CutPrefix(text, mark[:n]); marked {
			text = rest
			break
		}
	}
	for text != "" {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			end = len(text)
		}
		if l, ok := parseLine(text[:end]); ok {
			use(l)
		}
		text = text[min(end+1, len(text)):]
	}
}

// parseLine reads a line. It reports false if the line has no key.
func parseLine(text string) (line, bool) {
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimFunc(text, blank)
	key, value, ok := strings.Cut(text, ":")
	if !ok {
		// Some forget the colon. Two words are a key and a value, more are prose.
		end := strings.IndexAny(text, " \t")
		if end < 0 {
			return line{}, false
		}
		key, value = text[:end], strings.TrimLeftFunc(text[end:], blank)
		if strings.ContainsAny(value, " \t") {
			return line{}, false
		}
	}
	key, value = strings.TrimFunc(key, blank), strings.TrimFunc(value, blank)
	if key == "" || len(key) >= maxLine {
		return line{}, false
	}
	about := fieldOf(key)
	if about != agentField { // its value is not part of a URI
		value = spell(value, true)
	}
	if room := maxLine - len(key) - len(":"); len(value) > room {
		value = strings.TrimSpace(value[:room])
	}
	return line{about, value}, true
}

// fieldOf returns what a key is about. Keys count by their beginning, and common typos are accepted, as by Google.
func fieldOf(key string) field {
	const longest = 16 // more than any word below
	short := strings.ToLower(key[:min(len(key), longest)])
	begins := func(words ...string) bool {
		for _, word := range words {
			if strings.HasPrefix(short, word) {
				return true
			}
		}
		return false
	}
	switch {
	case begins("user-agent", "useragent", "user agent"):
		return agentField
	case begins("allow"):
		return allowField
	case begins("disallow", "dissallow", "dissalow", "disalow", "diaslow", "diasllow", "disallaw"):
		return disallowField
	case begins("sitemap", "site-map"):
		return sitemapField
	case short == "crawl-delay":
		return delayField
	}
	return otherField
}

// blank reports whether c may surround keys and values. Byte order marks are found in the middle of files that were
// joined, no-break and zero-width spaces in rules that were copied from a web page.
func blank(c rune) bool { return unicode.IsSpace(c) || c == '\uFEFF' || c == '\u200B' }
