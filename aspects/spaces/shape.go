package spaces

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// arg is one parameter of a URI. The name of a parameter of the path, as in ;jsessionid=, begins with a semicolon.
type arg struct{ name, value string }

// Bounds of a URI whose parameters are judged.
const (
	maxArgs = 12
	maxKey  = 240
)

// args splits a request target into its path and its parameters. It reports false if there are none, or too many.
func args(target string) (path string, list []arg, ok bool) {
	if !hasArgs(target) {
		return "", nil, false
	}
	path, query, _ := strings.Cut(target, "?")
	if at := strings.LastIndexByte(path, ';'); at >= 0 && !strings.Contains(path[at:], "/") {
		if name, value, is := strings.Cut(path[at:], "="); is && len(name) > 1 {
			path, list = path[:at], append(list, arg{name, value})
		}
	}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name == "" {
			continue
		}
		if len(list) == maxArgs {
			return "", nil, false
		}
		list = append(list, arg{name, value})
	}
	return path, list, len(list) > 0
}

// hasArgs reports whether a request target may have parameters.
func hasArgs(target string) bool { return strings.ContainsAny(target, "?;") }

// keyOf returns the pattern of a URI: its path with a star for each number and id, a question mark, and the names of
// its parameters. It reports false for a URI without parameters, or with too many.
func keyOf(target string) (key string, ok bool) {
	path, list, ok := args(target)
	if !ok {
		return "", false
	}
	names := make([]string, 0, len(list))
	for _, a := range list {
		names = append(names, a.name)
	}
	slices.Sort(names)
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part != "" && (isDigits(part) || look(part, time.Time{}) != plain) {
			parts[i] = "*"
		}
	}
	key = strings.Join(parts, "/") + "?" + strings.Join(slices.Compact(names), "&")
	return key, len(key) <= maxKey
}

// isInside reports whether a URI was found on a page with the same path that has parameters, and one of the two has all
// the parameters of the other.
func isInside(u, via uri.URI) bool {
	if u.Host() != via.Host() || !hasArgs(u.RequestTarget()) || !hasArgs(via.RequestTarget()) {
		return false
	}
	own, ok := keyOf(u.RequestTarget())
	above, has := keyOf(via.RequestTarget())
	return ok && has && areOneScript(own, above)
}

// PatternOf returns the pattern of a URI with parameters, and otherwise its first folder.
func PatternOf(u uri.URI) string {
	if key, ok := keyOf(u.RequestTarget()); ok {
		return key
	}
	path := strings.TrimPrefix(u.Path(), "/")
	if folder, _, ok := strings.Cut(path, "/"); ok {
		return "/" + folder + "/"
	}
	return "/"
}

// areOneScript reports whether two patterns have the same path, and one of them has all the parameters of the other.
func areOneScript(own, above string) bool {
	if own == above {
		return true
	}
	path, names, _ := strings.Cut(own, "?")
	abovePath, aboveNames, _ := strings.Cut(above, "?")
	if path != abovePath {
		return false
	}
	fewer, more := strings.Split(names, "&"), strings.Split(aboveNames, "&")
	if len(fewer) > len(more) {
		fewer, more = more, fewer
	}
	return !slices.ContainsFunc(fewer, func(n string) bool { return !slices.Contains(more, n) })
}

// wordsOf returns the sums of the parameters that are no plain numbers.
func wordsOf(list []arg) (sums []uint32) {
	for _, a := range list {
		if a.value != "" && !isDigits(a.value) {
			sums = append(sums, uint32(sumOf(a.name+"="+a.value)))
		}
	}
	return sums
}

// value says what a value looks like.
type value uint8

const (
	plain  value = iota
	id           // letters and digits that a program made
	clock        // a time within the last years
	number       // a long number or a fraction
)

// Bounds of generated values.
const (
	minID, maxID   = 8, 64
	minLong        = 9 // digits of a long number
	minFraction    = 6 // digits of a fraction
	maxClockYears  = 3
	maxClockFuture = 24 * time.Hour
)

// look returns what a value looks like at a time.
func look(s string, now time.Time) value {
	if s == "" || len(s) > maxID {
		return plain
	}
	if isDigits(s) {
		switch {
		case isClock(s, now):
			return clock
		case len(s) >= minLong:
			return number
		}
		return plain
	}
	if rest, ok := strings.CutPrefix(s, "0."); ok && isDigits(rest) && len(rest) >= minFraction {
		return number
	}
	digits, letters := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case digit(c):
			digits++
		case letter(c):
			letters++
		case c != '-' && c != '_':
			return plain
		}
	}
	if digits+letters >= minID && digits >= 2 && letters >= 1 && !strings.Contains(s, "-") || isUUID(s) {
		return id
	}
	return plain
}

// isUUID reports whether s has the form of a UUID.
func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isClock reports whether digits are the seconds, milliseconds or microseconds since 1970 of a time that is not long
// ago.
func isClock(digits string, now time.Time) bool {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || now.IsZero() {
		return false
	}
	var at time.Time
	switch len(digits) {
	case 9, 10:
		at = time.Unix(n, 0)
	case 12, 13:
		at = time.UnixMilli(n)
	case 15, 16:
		at = time.UnixMicro(n)
	default:
		return false
	}
	return at.After(now.AddDate(-maxClockYears, 0, 0)) && at.Before(now.Add(maxClockFuture))
}

// restOf returns the sum of a target without one of its parameters.
func restOf(path string, list []arg, without string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(path))
	for _, a := range list {
		if a.name != without {
			h.Write([]byte("&" + a.name + "=" + a.value))
		}
	}
	return h.Sum64()
}

// linkSum returns the sum of a link without values that look generated, so that links that differ only in these are the
// same.
func linkSum(u uri.URI, now time.Time) uint64 {
	h := fnv.New64a()
	h.Write([]byte(u.Authority()))
	target := u.RequestTarget()
	path, list, ok := args(target)
	if !ok {
		h.Write([]byte(target))
		return h.Sum64()
	}
	h.Write([]byte(path))
	for _, a := range list {
		h.Write([]byte("&" + a.name))
		if look(a.value, now) == plain {
			h.Write([]byte("=" + a.value))
		}
	}
	return h.Sum64()
}

func sumOf(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
