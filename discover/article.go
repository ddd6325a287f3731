package discover

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// published takes the time of publication from a meta element, by the property names of Open Graph articles and of
// schema.org. The first one that can be read counts.
func (p *page) published(name, content []byte) {
	if !p.found.Published.IsZero() {
		return
	}
	switch string(bytes.ToLower(bytes.TrimSpace(name))) {
	case "article:published_time", "og:article:published_time", "datepublished":
	default:
		return
	}
	said := string(bytes.TrimSpace(content))
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, said); err == nil && t.Year() > 1990 {
			p.found.Published = t.UTC()
			return
		}
	}
}

// DateIn is the day that stands in the address of a page, as /2026/11/21/ or 2026-11-21 or 20261121, as many news sites have
// it; zero if none does.
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
			if t := day(f, fields[i+1], fields[i+2]); !t.IsZero() && together(u.Path(), parts) {
				return t
			}
		}
	}
	return time.Time{}
}

// together reports whether the three numbers stand beside each other, with one sign between them.
func together(path, parts string) bool {
	for _, sign := range []string{"/", "-", "_", "."} {
		if strings.Contains(path, strings.ReplaceAll(parts, "x", sign)) {
			return true
		}
	}
	return false
}

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
