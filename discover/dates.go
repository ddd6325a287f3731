package discover

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/uri"
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
		if t, err := time.Parse(layout, s); err == nil {
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

// DateIn returns the day in the path of a URI: /2026/11/21/, 2026-11-21 or 20261121, as many news sites write it. It is
// zero if there is none.
func DateIn(u uri.URI) time.Time {
	fields := strings.FieldsFunc(u.Path(), func(r rune) bool { return r < '0' || r > '9' })
	for i, f := range fields {
		switch {
		case len(f) == 8:
			if t := day(f[:4], f[4:6], f[6:]); !t.IsZero() {
				return t
			}
		case len(f) == 4 && i+2 < len(fields):
			parts := f + "x" + fields[i+1] + "x" + fields[i+2]
			if t := day(f, fields[i+1], fields[i+2]); !t.IsZero() && adjacent(u.Path(), parts) {
				return t
			}
		}
	}
	return time.Time{}
}

// adjacent reports whether the three numbers of parts, written 2026x11x21, follow each other in path with one sign
// between them.
func adjacent(path, parts string) bool {
	for _, sign := range []string{"/", "-", "_", "."} {
		if strings.Contains(path, strings.ReplaceAll(parts, "x", sign)) {
			return true
		}
	}
	return false
}

// day returns a day of the years 1990 to 2200, zero if there is no such day.
func day(year, month, day string) time.Time {
	y, err1 := strconv.Atoi(year)
	m, err2 := strconv.Atoi(month)
	d, err3 := strconv.Atoi(day)
	if err1 != nil || err2 != nil || err3 != nil || y < 1990 || y > 2200 || len(month) > 2 || len(day) > 2 {
		return time.Time{}
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if t.Month() != time.Month(m) || t.Day() != d {
		return time.Time{}
	}
	return t
}
