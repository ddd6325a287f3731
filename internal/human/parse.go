package human

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// digits are the characters of numbers.
const digits = "0123456789"

// SyntaxError reports a text that is not a duration or size.
type SyntaxError struct {
	Problem string // what is wrong: "has no unit"
	Remedy  string // what to write instead
}

// Error returns the problem and the remedy.
func (e *SyntaxError) Error() string { return e.Problem + "; " + e.Remedy }

// durationUnits are the units that [ParseDuration] reads, largest first.
var durationUnits = append([]durationUnit{{"y", 365 * day}, {"w", 7 * day}}, units[:]...)

// durationExample is the remedy for a text that cannot be guessed at.
const durationExample = `write a duration such as "90s", "12h" or "28d"`

// ParseDuration reads a duration: whole numbers, each with its unit, larger units first, as in "90s" or "1d12h". The
// units are y (365 days), w, d (24 hours), h, m, s and ms. The error is a [*SyntaxError].
func ParseDuration(s string) (time.Duration, error) {
	switch {
	case s == "":
		return 0, &SyntaxError{"is empty", durationExample}
	case strings.Trim(s, digits) == "":
		return 0, &SyntaxError{"has no unit", fmt.Sprintf(`write "%ss", "%sm" or "%sh"`, s, s, s)}
	case s[0] == '-':
		return 0, &SyntaxError{"is negative", durationExample}
	case strings.ContainsAny(s, " \t"):
		joined := strings.Join(strings.Fields(s), "")
		if _, err := ParseDuration(joined); err != nil {
			return 0, &SyntaxError{"is not a duration", durationExample}
		}
		return 0, &SyntaxError{"contains a space", "write " + strconv.Quote(joined)}
	case strings.ContainsAny(s, ".,"):
		return 0, &SyntaxError{"is not a whole number of units", `use the next smaller unit, as in "90m" or "1h30m"`}
	}
	var sum time.Duration
	for rest, left := s, durationUnits; rest != ""; {
		after := strings.TrimLeft(rest, digits)
		number := rest[:len(rest)-len(after)]
		rest = strings.TrimLeftFunc(after, func(r rune) bool { return !strings.ContainsRune(digits, r) })
		name := after[:len(after)-len(rest)]
		i := slices.IndexFunc(left, func(u durationUnit) bool { return u.name == name })
		if number == "" || i < 0 {
			return 0, &SyntaxError{
				"is not a duration", `the units are y, w, d, h, m, s and ms, larger units first, as in "1d12h" or "1h30m"`,
			}
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n > int64((math.MaxInt64-sum)/left[i].size) {
			return 0, &SyntaxError{"is too long", durationExample}
		}
		sum += time.Duration(n) * left[i].size
		left = left[i+1:]
	}
	return sum, nil
}

// sizeUnits are the units of sizes, largest first. [Size] uses the first one that divides the size.
var sizeUnits = []struct {
	name string
	size int64
}{
	{"TiB", 1 << 40},
	{"TB", 1e12},
	{"GiB", 1 << 30},
	{"GB", 1e9},
	{"MiB", 1 << 20},
	{"MB", 1e6},
	{"KiB", 1 << 10},
	{"kB", 1e3},
	{"KB", 1e3},
	{"B", 1},
}

// ParseSize reads a number of bytes: a whole number with a unit, as in "256KiB" or "500MB". B, kB (or KB), MB, GB and
// TB are powers of 1000; KiB, MiB, GiB and TiB are powers of 1024. The error is a [*SyntaxError].
func ParseSize(s string) (int64, error) {
	const example = `write a size such as "256KiB", "500MB" or "1GiB"`
	number := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	name := s[len(number):]
	switch {
	case s == "":
		return 0, &SyntaxError{"is empty", example}
	case strings.ContainsAny(s, " \t"):
		joined := strings.Join(strings.Fields(s), "")
		if _, err := ParseSize(joined); err != nil {
			return 0, &SyntaxError{"is not a size", example}
		}
		return 0, &SyntaxError{"contains a space", "write " + strconv.Quote(joined)}
	case number != "" && strings.Trim(number, digits) == "" && name == "":
		return 0, &SyntaxError{"has no unit", fmt.Sprintf(`write "%sB", "%sKiB" or "%sMiB"`, s, s, s)}
	case number == "" || strings.Trim(number, digits) != "":
		return 0, &SyntaxError{"is not a whole number with a unit", example}
	}
	for _, u := range sizeUnits {
		if u.name != name {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n > math.MaxInt64/u.size {
			return 0, &SyntaxError{"is too large", example}
		}
		return n * u.size, nil
	}
	return 0, &SyntaxError{"has an unknown unit", "the units are B, kB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024)"}
}

// Size writes a number of bytes exactly, in the largest unit that divides it, as [ParseSize] reads it: "1GiB", "50GB",
// "0B".
func Size(n int64) string {
	if n == 0 {
		return "0B"
	}
	for _, u := range sizeUnits {
		if n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
