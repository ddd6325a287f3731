package traps

import (
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// date is a date in a URI.
type date struct {
	template string // the request target with the date as {date}
	pattern  string // an expression for targets of this template
	day      int    // since 1970; of a month, its first
}

const datePattern = `[0-9]{4}[-/_.]?[0-9]{1,2}(?:[-/_.]?[0-9]{1,2})?`

var (
	writtenDate = regexp.MustCompile(`(?:^|[/=_.-])((?:19|20|21)[0-9]{2})([-/_.]?)(0[1-9]|1[0-2]|[1-9])(?:[-/_.]?(0[1-9]|[12][0-9]|3[01]|[1-9]))?(?:$|[/?&_.#-])`)
	yearNames   = []string{"year", "yr", "y"}
	monthNames  = []string{"month", "mon", "m"}
	dayNames    = []string{"day", "d"}
)

// dated finds a year with its month, and perhaps a day, in a request target.
func dated(target string) (date, bool) {
	if !hasYear(target) {
		return date{}, false
	}
	if m := writtenDate.FindStringSubmatchIndex(target); m != nil {
		year, month, day := number(target[m[2]:m[3]]), number(target[m[6]:m[7]]), 1
		end := m[7]
		if m[8] >= 0 {
			day, end = number(target[m[8]:m[9]]), m[9]
		}
		return date{
			template: target[:m[2]] + "{date}" + target[end:],
			pattern:  quote(target[:m[2]]) + datePattern + quote(target[end:]) + "$",
			day:      dayOf(year, month, day),
		}, true
	}
	return datedQuery(target)
}

// datedQuery finds a date whose parts are parameters of their own.
func datedQuery(target string) (date, bool) {
	path, query, _ := strings.Cut(target, "?")
	var year, month int
	day := 1
	template, pattern := []string{}, []string{}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		n, lower := number(value), strings.ToLower(name)
		switch {
		case slices.Contains(yearNames, lower) && n >= 1900 && n < 2200:
			year = n
		case slices.Contains(monthNames, lower) && n >= 1 && n <= 12:
			month = n
		case slices.Contains(dayNames, lower) && n >= 1 && n <= 31:
			day = n
		default:
			template, pattern = append(template, part), append(pattern, quote(part))
			continue
		}
		template, pattern = append(template, name+"={date}"), append(pattern, quote(name)+"=[0-9]+")
	}
	if year == 0 || month == 0 {
		return date{}, false
	}
	return date{
		template: path + "?" + strings.Join(template, "&"), pattern: quote(path) + `\?` + strings.Join(pattern, "&") + "$", day: dayOf(year, month, day),
	}, true
}

// hasYear reports whether four digits stand together that may be a year.
func hasYear(s string) bool {
	for i := 0; i+4 <= len(s); i++ {
		if (s[i] == '1' && s[i+1] == '9' || s[i] == '2' && (s[i+1] == '0' || s[i+1] == '1')) && digit(s[i+2]) && digit(s[i+3]) {
			return true
		}
	}
	return false
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// number is a short decimal number, -1 for anything else.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || len(s) > 4 || n < 0 {
		return -1
	}
	return n
}

func dayOf(year, month, day int) int {
	return int(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// Bounds of what looks like an id: a run of letters and digits, enough of both.
const (
	minID, maxID             = 16, 64
	minIDDigits, minIDLetter = 3, 2
)

// findID is where the next thing that looks like an id begins and ends at or after from; ok is false when there is none.
func findID(s []byte, from int) (start, end int, ok bool) {
	for i := from; i < len(s); {
		if !digit(s[i]) && !letter(s[i]) {
			i++
			continue
		}
		j, digits, letters := i, 0, 0
		for ; j < len(s) && (digit(s[j]) || letter(s[j])); j++ {
			if digit(s[j]) {
				digits++
			} else {
				letters++
			}
		}
		if n := j - i; n >= minID && n <= maxID && digits >= minIDDigits && letters >= minIDLetter {
			return i, j, true
		}
		i = j
	}
	return 0, 0, false
}

// HasID reports whether a request target has what looks like an id in it.
func HasID(target string) bool {
	_, _, ok := findID([]byte(target), 0)
	return ok
}

// WithoutIDs is the sum of a page without all that looks like an id. It is never zero.
func WithoutIDs(page []byte) uint64 {
	h := fnv.New64a()
	at := 0
	for {
		start, end, ok := findID(page, at)
		if !ok {
			h.Write(page[at:])
			return h.Sum64() | 1
		}
		h.Write(page[at:start])
		at = end
	}
}

// plain is the sum of a target without ids, and without dates in its query, so that a link that only passes them on is none
// of its own. Dates in a path stay: the same name may stand in the folder of each day and be another story.
func plain(host, target string) uint64 {
	if path, query, ok := strings.Cut(target, "?"); ok {
		if d, ok := dated("?" + query); ok {
			target = path + d.template
		}
	}
	h := fnv.New64a()
	h.Write([]byte(host))
	b := []byte(target)
	at := 0
	for {
		start, end, ok := findID(b, at)
		if !ok {
			h.Write(b[at:])
			return h.Sum64()
		}
		h.Write(b[at:start])
		at = end
	}
}

// maxPeriod is the longest sequence of folders that is looked for again and again.
const maxPeriod = 4

// repeated finds a sequence of folders that stands three times in a row, and gives it. Short numbers are parts of dates and
// pages: of them it has to be five.
func repeated(path string) (sequence string, ok bool) {
	var few [24]string
	parts := few[:0] // without their own memory unless there are very many
	for rest := strings.Trim(path, "/"); ; {
		part, after, more := strings.Cut(rest, "/")
		parts = append(parts, part)
		if rest = after; !more {
			break
		}
	}
	if len(parts) < 3 {
		return "", false
	}
	for period := 1; period <= maxPeriod; period++ {
		run := 0
		for i := period; i < len(parts); i++ {
			if parts[i] == "" || parts[i] != parts[i-period] {
				run = 0
				continue
			}
			run++
			unit := parts[i-period+1 : i+1]
			times := 3
			if !slices.ContainsFunc(unit, func(p string) bool { return number(p) < 0 }) {
				times = 5
			}
			if run >= period*(times-1) {
				return strings.Join(unit, "/"), true
			}
		}
	}
	return "", false
}

// segments counts the folders and the file of a path.
func segments(path string) int {
	n := 0
	for i := range len(path) {
		if path[i] != '/' && (i == 0 || path[i-1] == '/') {
			n++
		}
	}
	return n
}

// folder is a path as a folder.
func folder(path string) string { return strings.TrimSuffix(path, "/") + "/" }

// file reports whether a path ends in a name with an extension.
func file(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return strings.Contains(last, ".")
}

// first is the first folder of a path, with its slashes.
func first(path string) string {
	begin := 0
	if strings.HasPrefix(path, "/") {
		begin = 1
	}
	n := strings.IndexByte(path[begin:], '/')
	switch {
	case n < 0:
		return "/"
	case begin == 0:
		return "/" + path[:n+1]
	}
	return path[:begin+n+1]
}
