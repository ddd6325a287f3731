package discover

import (
	"bytes"
	"time"
	"unicode/utf8"
)

// ValidUTF8 reports whether b is UTF-8. Its last character may be cut.
func ValidUTF8(b []byte) bool {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				b = b[:i]
			}
			break
		}
	}
	return utf8.Valid(b)
}

// dateLayouts are the forms of W3C's date and time profile, and others that publishers write instead. Fractions of a
// second are optional in all of them.
var dateLayouts = []string{
	time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05", time.RFC1123Z, time.RFC1123,
}

// ParseDate returns the time that a text says, in UTC, and whether it is a day without a time of day. A time without a
// zone is taken to be in UTC. The zero time means that the text is not a date.
func ParseDate(s string) (t time.Time, day bool) {
	for _, layout := range dateLayouts {
		t, err := time.Parse(layout, s)
		if y := t.UTC().Year(); err == nil && y >= 0 && y <= 9999 { // a zone can lead out of what JSON can write
			return t.UTC(), false
		}
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, true
	}
	return time.Time{}, false
}

// published notes the time of publication from a meta element, if its name is one of Open Graph or schema.org for that
// time. The first readable one counts.
func (p *page) published(name, content []byte) {
	if !p.result.Published.IsZero() {
		return
	}
	switch string(bytes.ToLower(bytes.TrimSpace(name))) {
	case "article:published_time", "og:article:published_time", "datepublished":
	default:
		return
	}
	if t, _ := ParseDate(string(bytes.TrimSpace(content))); t.Year() > 1990 {
		p.result.Published = t
	}
}
