package articles

import (
	"strconv"
	"strings"
	"time"
)

// dateIn returns the day in the path of a URI: /2026/11/21/, 2026-11-21 or 20261121, as many news sites write it. It is
// zero if there is none.
func dateIn(path string) time.Time {
	fields := strings.FieldsFunc(path, func(r rune) bool { return r < '0' || r > '9' })
	for i, f := range fields {
		switch {
		case len(f) == 8:
			if t := day(f[:4], f[4:6], f[6:]); !t.IsZero() {
				return t
			}
		case len(f) == 4 && i+2 < len(fields):
			parts := f + "x" + fields[i+1] + "x" + fields[i+2]
			if t := day(f, fields[i+1], fields[i+2]); !t.IsZero() && adjacent(path, parts) {
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
