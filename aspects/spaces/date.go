package spaces

import (
	"hash"
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
	pattern  string // a pattern for targets of this template
	day      int    // in days since 1970; for a month, its first day
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
		year, month, day := shortNumber(target[m[2]:m[3]]), shortNumber(target[m[6]:m[7]]), 1
		end := m[7]
		if m[8] >= 0 {
			day, end = shortNumber(target[m[8]:m[9]]), m[9]
		}
		return date{
			template: target[:m[2]] + "{date}" + target[end:],
			pattern:  quote(target[:m[2]]) + datePattern + quote(target[end:]) + "$",
			day:      dayOf(year, month, day),
		}, true
	}
	return datedQuery(target)
}

// datedQuery finds a date whose parts are separate parameters.
func datedQuery(target string) (date, bool) {
	path, query, _ := strings.Cut(target, "?")
	var year, month int
	day := 1
	template, pattern := []string{}, []string{}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		n, lower := shortNumber(value), strings.ToLower(name)
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
		template: path + "?" + strings.Join(template, "&"), day: dayOf(year, month, day),
		pattern: quote(path) + `\?` + strings.Join(pattern, "&") + "$",
	}, true
}

// hasYear reports whether s contains four digits that may be a year.
func hasYear(s string) bool {
	for i := 0; i+4 <= len(s); i++ {
		century := s[i] == '1' && s[i+1] == '9' || s[i] == '2' && (s[i+1] == '0' || s[i+1] == '1')
		if century && digit(s[i+2]) && digit(s[i+3]) {
			return true
		}
	}
	return false
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// shortNumber returns the value of a short decimal number, and -1 for anything else.
func shortNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || len(s) > 4 || n < 0 {
		return -1
	}
	return n
}

func dayOf(year, month, day int) int {
	return int(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// Bounds of an id: a run of letters and digits, with a minimum of each.
const (
	minSession, maxSession   = 16, 64
	minIDDigits, minIDLetter = 3, 2
)

// findID returns the bounds of the next id in s at or after from. It reports false if there is none.
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
		if n := j - i; n >= minSession && n <= maxSession && digits >= minIDDigits && letters >= minIDLetter {
			return i, j, true
		}
		i = j
	}
	return 0, 0, false
}

// HasID reports whether a request target contains a part that looks like an id.
func HasID(target string) bool {
	_, _, ok := findID([]byte(target), 0)
	return ok
}

// SumWithoutIDs returns the sum of a page without its ids. It is never zero.
func SumWithoutIDs(page []byte) uint64 {
	h := fnv.New64a()
	writeWithoutIDs(h, page)
	return h.Sum64() | 1
}

// writeWithoutIDs writes a text without its ids.
func writeWithoutIDs(to hash.Hash, text []byte) {
	at := 0
	for {
		start, end, ok := findID(text, at)
		if !ok {
			to.Write(text[at:])
			return
		}
		to.Write(text[at:start])
		at = end
	}
}

// undatedSum returns the sum of a link without ids and without dates in its query, so that links that differ only in
// these are the same. Dates in a path count: the same name may be in the folder of each day, for another story.
func undatedSum(host, target string) uint64 {
	if path, query, ok := strings.Cut(target, "?"); ok {
		if d, ok := dated("?" + query); ok {
			target = path + d.template
		}
	}
	h := fnv.New64a()
	h.Write([]byte(host))
	writeWithoutIDs(h, []byte(target))
	return h.Sum64()
}

// maxPeriod is the maximum length of a sequence of folders that is searched for repetitions.
const maxPeriod = 4

// repeated returns a sequence of folders that is in the path three times in a row. Sequences of short numbers, which
// are parts of dates and pages, must be there five times.
func repeated(path string) (sequence string, ok bool) { return repeatedTimes(path, 5) }

// repeatedTimes is [repeated], where numbers says how often sequences of short numbers must be there.
func repeatedTimes(path string, numbers int) (sequence string, ok bool) {
	var few [24]string
	parts := few[:0] // no allocation unless there are many parts
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
			if !slices.ContainsFunc(unit, func(p string) bool { return shortNumber(p) < 0 }) {
				times = numbers
			}
			if run >= period*(times-1) {
				return strings.Join(unit, "/"), true
			}
		}
	}
	return "", false
}

// segments returns the number of folders and files of a path.
func segments(path string) int {
	n := 0
	for i := range len(path) {
		if path[i] != '/' && (i == 0 || path[i-1] == '/') {
			n++
		}
	}
	return n
}

// folder returns a path as a folder, with a slash at the end.
func folder(path string) string { return strings.TrimSuffix(path, "/") + "/" }

// file reports whether a path ends in a name with an extension.
func file(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return strings.Contains(last, ".")
}

// first returns the first folder of a path, with its slashes.
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
